// Attention of the rows of one step, shared out between threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/checkpoint/config.h"
#include "engine/compute/cpu/aligned_buffer.h"
#include "engine/compute/cpu/attention_plan.h"
#include "engine/compute/cpu/kernels.h"
#include "engine/compute/cpu/pages.h"

namespace fullband {

class StepAttention {
 public:
  StepAttention(const ModelConfig& config, const Kernels& kernels, int threads);

  // Bytes that its threads need at least. Parts of split tiles take little beside these.
  static int64_t Bytes(const ModelConfig& config, int threads);

  // Before threads start. `query(row)` is where a row of the step has its queries [heads, head_dim],
  // `out(row)` where its mixed values go, in every layer.
  void Prepare(std::span<const Span> spans, const Pages& pages,
               const std::function<const float*(int32_t)>& query, const std::function<float*(int32_t)>& out);

  // Called by every thread of a team, once for each layer; ends when all have done their share.
  void Run(int layer, const Pages& pages);

 private:
  void RunItem(const PlannedItem& item, int layer, const Pages& pages, float* scratch);

  const Kernels& kernels_;
  int layers_, threads_;
  int64_t heads_, kv_heads_, head_dim_;  // heads: of one key/value head
  AttentionPlan plan_;
  std::vector<const float*> queries_;  // as the plan's rows
  std::vector<float*> outs_;
  std::vector<AlignedBuffer<float>> scratch_;      // of each thread
  AlignedBuffer<float> parts_;                     // [kv_heads, parts of the plan]
  std::unique_ptr<std::atomic<int64_t>[]> taken_;  // [layers] items
  std::vector<std::atomic<int32_t>> missing_;      // [split tiles, kv_heads] blocks
};

}  // namespace fullband
