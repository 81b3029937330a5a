// Attention of one row over its pages, and of rows that share them.
#include <fmt/format.h>

#include <cmath>

#include "bench/micro/kernel_cases.h"

namespace fullband {
namespace {

constexpr int64_t kHeads = 3, kHeadDim = 64;  // the query heads that share one key/value head

// `rows` rows that see the same `positions`.
class AttendWork : public KernelWork {
 public:
  AttendWork(const Kernels& kernels, int64_t positions, int64_t rows)
      : kernels_(kernels),
        positions_(positions),
        rows_(rows),
        seen_(rows, positions),
        query_(rows * kRowSize),
        out_(rows * kRowSize),
        scratch_(AttentionScratchSize(rows * kHeads, kHeadDim)) {
    // Scores of a few units, so that the softmax picks.
    FillUneven(query_.data(), query_.size(), 1, 1);
    for (int64_t begin = 0; begin < positions; begin += kPageSize) {
      blocks_.emplace_back(kPageSize * (kHeadDim + ValueStride(kHeadDim)));
      FillUneven(blocks_.back().data(), blocks_.back().size(), 2 + blocks_.size());
      run_begins_.push_back(static_cast<int32_t>(runs_.size()));
      runs_.push_back({blocks_.back().data(), 0, static_cast<int32_t>(rows)});
      pages_.push_back(blocks_.back().data());
    }
    run_begins_.push_back(static_cast<int32_t>(runs_.size()));
    for (int64_t row = 0; row < rows; ++row) {
      queries_.push_back(query_.data() + row * kRowSize);
      outs_.push_back(out_.data() + row * kRowSize);
    }
    flops = 4.0 * static_cast<double>(rows * positions * kHeads * kHeadDim);
    bytes = 2 * 4.0 * static_cast<double>(positions * kHeadDim);
  }

  void Run() override {
    kernels_.attend({.rows = rows_,
                     .heads = kHeads,
                     .head_dim = kHeadDim,
                     .queries = queries_.data(),
                     .outs = outs_.data(),
                     .positions = seen_.data(),
                     .pages = static_cast<int64_t>(pages_.size()),
                     .runs = runs_.data(),
                     .run_begins = run_begins_.data(),
                     .key_offset = 0,
                     .value_offset = kPageSize * kHeadDim,
                     .scratch = scratch_.data()});
  }

  void Check() override {
    Run();
    for (int64_t head = 0; head < rows_ * kHeads; ++head) {
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
  static constexpr int64_t kRowSize = kHeads * kHeadDim;

  double Key(int64_t p, int64_t i) const { return pages_[p / kPageSize][i * kPageSize + p % kPageSize]; }
  double Value(int64_t p, int64_t i) const {
    return pages_[p / kPageSize][kPageSize * kHeadDim + p % kPageSize * ValueStride(kHeadDim) + i];
  }

  const Kernels& kernels_;
  int64_t positions_, rows_;
  std::vector<int64_t> seen_;
  AlignedBuffer<float> query_, out_, scratch_;
  std::vector<AlignedBuffer<float>> blocks_;
  std::vector<const float*> pages_, queries_;
  std::vector<float*> outs_;
  std::vector<PageRun> runs_;
  std::vector<int32_t> run_begins_;
};

}  // namespace

std::vector<KernelCase> AttentionCases(const Kernels& kernels) {
  std::vector<KernelCase> cases;
  for (const int64_t rows : {1, 8, 32}) {
    for (const int64_t positions : {128, 1024, 2048})
      cases.push_back({fmt::format("attend/{}/{}", positions, rows), [&kernels, positions, rows] {
                         return std::make_unique<AttendWork>(kernels, positions, rows);
                       }});
  }
  return cases;
}

}  // namespace fullband
