#include "engine/compute/cpu/step_attention.h"

#include "engine/compute/cpu/team.h"

namespace fullband {
namespace {

int64_t ScratchSize(const AttentionPlan& plan, const ModelConfig& config) {
  return AttentionScratchSize(plan.tile_rows() * config.heads / config.kv_heads, config.head_dim);
}

}  // namespace

StepAttention::StepAttention(const ModelConfig& config, const Kernels& kernels, int threads)
    : kernels_(kernels),
      layers_(config.layers),
      threads_(threads),
      heads_(config.heads / config.kv_heads),
      kv_heads_(config.kv_heads),
      head_dim_(config.head_dim),
      plan_(heads_, kv_heads_),
      taken_(std::make_unique<std::atomic<int64_t>[]>(config.layers)) {
  for (int i = 0; i < threads; ++i) scratch_.emplace_back(ScratchSize(plan_, config));
}

int64_t StepAttention::Bytes(const ModelConfig& config, int threads) {
  const AttentionPlan plan(config.heads / config.kv_heads, config.kv_heads);
  return threads * ScratchSize(plan, config) * static_cast<int64_t>(sizeof(float));
}

void StepAttention::Prepare(std::span<const Span> spans, const Pages& pages,
                            const std::function<const float*(int32_t)>& query,
                            const std::function<float*(int32_t)>& out) {
  plan_.Make(spans, pages, threads_);
  queries_.clear();
  outs_.clear();
  for (int32_t row : plan_.rows()) {
    queries_.push_back(query(row));
    outs_.push_back(out(row));
  }
  parts_.Grow(AttentionPartSize(plan_.parts() * kv_heads_, head_dim_));
  for (int layer = 0; layer < layers_; ++layer) taken_[layer] = 0;
  missing_ = std::vector<std::atomic<int32_t>>(plan_.split_tiles() * kv_heads_);
  for (const PlannedTile& tile : plan_.tiles()) {
    if (tile.split < 0) continue;
    for (int64_t head = 0; head < kv_heads_; ++head) {
      missing_[tile.split * kv_heads_ + head] = static_cast<int32_t>(AttentionBlocks(tile.pages));
    }
  }
}

// Items are taken as threads get to them, since they differ in cost.
void StepAttention::Run(int layer, const Pages& pages) {
  float* scratch = scratch_[Team::Here().thread].data();
  const int64_t count = plan_.items().size();
  for (int64_t i = taken_[layer]++; i < count; i = taken_[layer]++) {
    RunItem(plan_.items()[i], layer, pages, scratch);
  }
  Team::Meet();
}

void StepAttention::RunItem(const PlannedItem& item, int layer, const Pages& pages, float* scratch) {
  const PlannedTile& planned = plan_.tiles()[item.tile];
  const AttentionTile tile = {.rows = planned.rows,
                              .heads = heads_,
                              .head_dim = head_dim_,
                              .first_number = item.head * heads_ * head_dim_,
                              .queries = queries_.data() + planned.first_row,
                              .outs = outs_.data() + planned.first_row,
                              .positions = plan_.positions().data() + planned.first_row,
                              .pages = planned.pages,
                              .runs = plan_.runs().data(),
                              .run_begins = plan_.run_begins().data() + planned.first_begin,
                              .bf16 = pages.bf16(),
                              .key_offset = pages.KeyOffset(layer, item.head),
                              .value_offset = pages.ValueOffset(layer, item.head),
                              .scratch = scratch};
  if (item.block < 0) return kernels_.attend(tile);
  float* parts = parts_.data() + AttentionPartSize(item.head * plan_.parts() + planned.first_part, head_dim_);
  const int64_t size = AttentionPartSize(tile.rows * heads_, head_dim_);
  kernels_.attend_block(tile, item.block, parts + item.block * size);
  // Who does the last block joins them all, and makes the count what the next layer begins with.
  std::atomic<int32_t>& missing = missing_[planned.split * kv_heads_ + item.head];
  if (missing.fetch_sub(1) == 1) {
    missing = static_cast<int32_t>(AttentionBlocks(tile.pages));
    kernels_.join_blocks(tile, parts);
  }
}

}  // namespace fullband
