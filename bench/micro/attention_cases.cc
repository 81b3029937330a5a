// Attention of one row over its pages.
#include <fmt/format.h>

#include <cmath>

#include "bench/micro/kernel_cases.h"

namespace fullband {
namespace {

constexpr int64_t kHeads = 3, kHeadDim = 64;  // the query heads that share one key/value head

class AttendWork : public KernelWork {
 public:
  AttendWork(const Kernels& kernels, int64_t positions)
      : kernels_(kernels),
        positions_(positions),
        query_(kHeads * kHeadDim),
        out_(kHeads * kHeadDim),
        scratch_(kHeads * ValueStride(kHeadDim)) {
    // Scores of a few units, so that the softmax picks.
    FillUneven(query_.data(), query_.size(), 1, 1);
    for (int64_t begin = 0; begin < positions; begin += kPageSize) {
      blocks_.emplace_back(kPageSize * (kHeadDim + ValueStride(kHeadDim)));
      FillUneven(blocks_.back().data(), blocks_.back().size(), 2 + blocks_.size());
      pages_.push_back(blocks_.back().data());
    }
    flops = 4.0 * static_cast<double>(positions * kHeads * kHeadDim);
    bytes = 2 * 4.0 * static_cast<double>(positions * kHeadDim);
  }

  void Run() override {
    kernels_.attend({.query = query_.data(),
                     .heads = kHeads,
                     .head_dim = kHeadDim,
                     .pages = pages_.data(),
                     .key_offset = 0,
                     .value_offset = kPageSize * kHeadDim,
                     .positions = positions_,
                     .out = out_.data(),
                     .scratch = scratch_.data()});
  }

  void Check() override {
    Run();
    for (int64_t head = 0; head < kHeads; ++head) {
      double mixed[kHeadDim] = {}, sum = 0;
      for (int64_t p = 0; p < positions_; ++p) {
        double score = 0;
        for (int64_t i = 0; i < kHeadDim; ++i) score += double{query_[head * kHeadDim + i]} * Key(p, i);
        sum += std::exp(score);
        for (int64_t i = 0; i < kHeadDim; ++i) mixed[i] += std::exp(score) * Value(p, i);
      }
      // Roundings of a score of 64 terms, which its weight is off by relatively; values are below 1.
      const double tolerance = 4 * kHeadDim * kRounding + 1e-6;
      for (int64_t i = 0; i < kHeadDim; ++i)
        CheckClose("attend", head * kHeadDim + i, out_[head * kHeadDim + i], mixed[i] / sum, tolerance);
    }
  }

 private:
  double Key(int64_t p, int64_t i) const { return pages_[p / kPageSize][i * kPageSize + p % kPageSize]; }
  double Value(int64_t p, int64_t i) const {
    return pages_[p / kPageSize][kPageSize * kHeadDim + p % kPageSize * ValueStride(kHeadDim) + i];
  }

  const Kernels& kernels_;
  int64_t positions_;
  AlignedBuffer<float> query_, out_, scratch_;
  std::vector<AlignedBuffer<float>> blocks_;
  std::vector<const float*> pages_;
};

}  // namespace

std::vector<KernelCase> AttentionCases(const Kernels& kernels) {
  std::vector<KernelCase> cases;
  for (const int64_t positions : {128, 1024, 2048})
    cases.push_back({fmt::format("attend/{}", positions),
                     [&kernels, positions] { return std::make_unique<AttendWork>(kernels, positions); }});
  return cases;
}

}  // namespace fullband
