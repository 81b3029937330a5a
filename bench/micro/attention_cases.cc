// Attention of a tile of rows over their pages: of rows that are one sequence's next ones (prefill) and of
// sequences of their own (decode), whole or block by block as threads share it.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "bench/micro/kernel_cases.h"

namespace fullband {
namespace {

constexpr int64_t kHeads = 3, kHeadDim = 64;  // the query heads that share one key/value head

// Rows see positions 0 .. `positions` - 1, all of the same sequence's pages.
class AttendWork : public KernelWork {
 public:
  AttendWork(const Kernels& kernels, int64_t positions, int64_t rows, bool bf16, bool by_blocks)
      : kernels_(kernels),
        bf16_(bf16),
        by_blocks_(by_blocks),
        pages_((positions + kPageSize - 1) / kPageSize),
        numbers_(rows * kHeads * kHeadDim),
        results_(rows * kHeads * kHeadDim),
        seen_(rows, positions),
        scratch_(AttentionScratchSize(rows * kHeads, kHeadDim)),
        parts_(AttentionBlocks(pages_) * PartSize(rows)) {
    // Scores of a few units, so that the softmax picks.
    FillUneven(numbers_.data(), numbers_.size(), 1);
    for (int64_t row = 0; row < rows; ++row) {
      queries_.push_back(numbers_.data() + row * kHeads * kHeadDim);
      outs_.push_back(results_.data() + row * kHeads * kHeadDim);
    }
    for (int64_t page = 0; page < pages_; ++page) {
      AddPage(page);
      run_begins_.push_back(static_cast<int32_t>(runs_.size()));
      runs_.push_back({bf16 ? static_cast<const void*>(halves_.back().data()) : blocks_.back().data(), 0,
                       static_cast<int32_t>(rows)});
    }
    run_begins_.push_back(static_cast<int32_t>(runs_.size()));
    flops = 4.0 * static_cast<double>(rows * positions * kHeads * kHeadDim);
    bytes = 2 * (bf16 ? 2.0 : 4.0) * static_cast<double>(positions * kHeadDim);
  }

  void Run() override {
    const AttentionTile tile = {.rows = Rows(),
                                .heads = kHeads,
                                .head_dim = kHeadDim,
                                .first_number = 0,
                                .queries = queries_.data(),
                                .outs = outs_.data(),
                                .positions = seen_.data(),
                                .pages = pages_,
                                .runs = runs_.data(),
                                .run_begins = run_begins_.data(),
                                .bf16 = bf16_,
                                .key_offset = 0,
                                .value_offset = kPageSize * kHeadDim,
                                .scratch = scratch_.data()};
    if (!by_blocks_) return kernels_.attend(tile);
    for (int64_t block = 0; block < AttentionBlocks(pages_); ++block)
      kernels_.attend_block(tile, block, parts_.data() + block * PartSize(Rows()));
    kernels_.join_blocks(tile, parts_.data());
  }

  void Check() override {
    Run();
    for (int64_t i = 0; i < Rows() * kHeads; ++i) {
      const float* query = numbers_.data() + i * kHeadDim;
      double mixed[kHeadDim] = {}, sum = 0;
      for (int64_t p = 0; p < seen_.front(); ++p) {
        double score = 0;
        for (int64_t k = 0; k < kHeadDim; ++k) score += double{query[k]} * Key(p, k);
        sum += std::exp(score);
        for (int64_t k = 0; k < kHeadDim; ++k) mixed[k] += std::exp(score) * Value(p, k);
      }
      // Roundings of a score of 64 terms, which its weight is off by relatively; values are below 1.
      const double tolerance = 4 * kHeadDim * kRounding + 1e-6;
      for (int64_t k = 0; k < kHeadDim; ++k)
        CheckClose("attend", i * kHeadDim + k, results_[i * kHeadDim + k], mixed[k] / sum, tolerance);
    }
  }

 private:
  static int64_t PartSize(int64_t rows) { return AttentionPartSize(rows * kHeads, kHeadDim); }
  int64_t Rows() const { return static_cast<int64_t>(seen_.size()); }
  // Numbers that both kinds of pages can hold, the same in both.
  void AddPage(int64_t page) {
    blocks_.emplace_back(kPageSize * (kHeadDim + kStride));
    halves_.emplace_back(bf16_ ? blocks_.back().size() : 0);
    AlignedBuffer<float>& numbers = blocks_.back();
    FillUneven(numbers.data(), numbers.size(), 3 + static_cast<uint64_t>(page));
    for (int64_t i = 0; i < numbers.size(); ++i) {
      const uint32_t bits = std::bit_cast<uint32_t>(numbers[i]) & 0xffff0000u;
      numbers[i] = std::bit_cast<float>(bits);
      if (bf16_) halves_.back()[i] = static_cast<uint16_t>(bits >> 16);
    }
  }
  double Key(int64_t p, int64_t i) const { return blocks_[p / kPageSize][KeyIndex(bf16_, i, p % kPageSize)]; }
  double Value(int64_t p, int64_t i) const {
    return blocks_[p / kPageSize][kPageSize * kHeadDim + ValueIndex(bf16_, kStride, p % kPageSize, i)];
  }

  static constexpr int64_t kStride = ValueStride(kHeadDim);
  const Kernels& kernels_;
  bool bf16_, by_blocks_;
  int64_t pages_;
  AlignedBuffer<float> numbers_, results_;
  std::vector<int64_t> seen_;
  AlignedBuffer<float> scratch_, parts_;
  std::vector<const float*> queries_;
  std::vector<float*> outs_;
  std::vector<AlignedBuffer<float>> blocks_;
  std::vector<AlignedBuffer<uint16_t>> halves_;  // the pages that are read, where they are bfloat16
  std::vector<PageRun> runs_;
  std::vector<int32_t> run_begins_;
};

}  // namespace

std::vector<KernelCase> AttentionCases(const Kernels& kernels) {
  std::vector<KernelCase> cases;
  const auto add = [&](int64_t positions, int64_t rows, bool bf16, bool by_blocks) {
    cases.push_back(
        {fmt::format("attend/{}/{}/{}{}", bf16 ? "bf16" : "f32", positions, rows, by_blocks ? "/blocks" : ""),
         [&kernels, positions, rows, bf16, by_blocks] {
           return std::make_unique<AttendWork>(kernels, positions, rows, bf16, by_blocks);
         }});
  };
  for (const bool bf16 : {false, true}) {
    for (const int64_t positions : {128, 1024, 2048}) {
      for (const int64_t rows : {1, 4}) add(positions, rows, bf16, false);
    }
    add(2048, 1, bf16, true);
  }
  return cases;
}

}  // namespace fullband
