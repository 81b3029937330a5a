#include "bench/work.h"

#include <algorithm>
#include <map>

#include "engine/compute/cpu/cpu_weights.h"

namespace fullband {
StepWork::StepWork(const Backend& backend)
    : config_(backend.config()),
      page_size_(backend.info().page_size),
      position_bytes_(static_cast<double>(backend.page_bytes()) / page_size_) {}

StepWork::StepWork(const Model& model, const Backend& backend) : StepWork(backend) {
  const PackingBytes bytes = BytesOfPacking(model.weights, 1);
  layer_bytes_ = static_cast<double>(bytes.layers);
  head_bytes_ = static_cast<double>(bytes.head);
  feedback_bytes_ = static_cast<double>(bytes.state_proj);
  gate_bytes_ = static_cast<double>(bytes.token_gate);
}

Work StepWork::Of(const Step& step) const {
  const ModelConfig& c = config_;
  const double d = c.hidden_size, layers = c.layers, queries = double{1} * c.heads * c.head_dim;
  const double keys = double{1} * c.kv_heads * c.head_dim, f = c.intermediate_size;
  const double row_flops = 2 * layers * (d * (queries + 2 * keys) + queries * d + 3 * d * f);
  Work work;
  std::map<int32_t, int> seen;  // positions of each page
  for (const Span& span : step.spans) {
    const int end = span.position + span.row_count;
    for (int position = span.position; position < end; ++position)
      work.flops += row_flops + 4 * layers * queries * (position + 1);
    for (int at = 0; at < end; at += page_size_) {
      int& positions = seen[span.pages[at / page_size_]];
      positions = std::max(positions, std::min(page_size_, end - at));
    }
  }
  for (const auto& [page, positions] : seen) work.bytes += positions * position_bytes_;
  work.bytes += static_cast<double>(step.rows.size()) * position_bytes_;
  const auto fused = static_cast<double>(
      std::count_if(step.rows.begin(), step.rows.end(), [](const Row& row) { return row.state != kNoSlot; }));
  work.flops += fused * 2 * d * d;
  work.flops += static_cast<double>(step.queries.size()) * 2 * d * c.vocab_size;
  if (!step.rows.empty()) work.bytes += layer_bytes_;
  if (fused > 0) work.bytes += feedback_bytes_;
  if (!step.queries.empty()) work.bytes += head_bytes_;
  return work;
}

std::string StepWork::Formula() {
  return "operations: 2 L (D (H + 2 G) K + H K D + 3 D F) a row, 4 L H K a position that it sees, 2 D V a "
         "query, 2 D^2 a fused row; bytes: a step's matrices once, each page of keys and "
         "values once, rows' own written; roofline: min(FMA peak, read bandwidth x operations / bytes)";
}

double RooflineFlops(const Work& work, double peak_flops, double bandwidth) {
  if (work.flops == 0) return 0;
  if (work.bytes == 0) return peak_flops;
  return std::min(peak_flops, bandwidth * work.flops / work.bytes);
}

}  // namespace fullband
