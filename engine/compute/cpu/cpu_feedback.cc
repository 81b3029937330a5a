// The CPU backend's inputs: embeddings, and equation 4 at little cost. The gate sigmoid(W^G e) depends on the
// token alone and is kept; W^U h is computed beside the head's product where a state is kept by a row that
// is asked about, and kept with the state. What is not there is computed, by the same chains of operations.
#include <algorithm>
#include <span>

#include "engine/compute/check_step.h"
#include "engine/compute/cpu/cpu_backend.h"
#include "engine/compute/cpu/team.h"

namespace fullband {
namespace {

// Spoilt states are no slot's: W^U h as kept does not serve them.
bool SpoilsState(Control control) { return control == Control::kZero || control == Control::kReversed; }

// The slot that keeps the state a query is about, where this step computed that state.
int32_t NewlyKept(const Step& step, const Query& query) {
  return query.state == kNoSlot ? step.rows[query.row].keep_state : kNoSlot;
}

int32_t GateToken(const Row& row) { return row.control == Control::kConstantGate ? 0 : row.token; }

}  // namespace

// Finds for every fused row where its W^U h and its gate are or will be.
void CpuBackend::PlanFeedback(const Step& step) {
  const int64_t rows = step.rows.size();
  work_.fused.assign(rows, {});
  work_.spoilt.clear();
  work_.new_gates.clear();
  work_.gate_places.clear();
  for (int64_t i = 0; i < rows; ++i) {
    const Row& row = step.rows[i];
    if (row.state == kNoSlot) continue;
    Fused& fused = work_.fused[i];
    const int32_t slot = FeedbackSlot(row, work_.places[i].position);
    if (!SpoilsState(row.control) && feedback_[slot].known) {
      fused.product = feedback_[slot].product;
    } else {
      fused.computed = work_.spoilt.size();
      work_.spoilt.push_back(i);
    }
    if (config_.fusion != Fusion::kGlu) continue;
    const int32_t token = GateToken(row);
    fused.gate = gates_.Find(token);
    if (fused.gate != nullptr) continue;
    const auto [place, is_new] = work_.gate_places.try_emplace(token, work_.new_gates.size());
    fused.computed_gate = place->second;
    if (is_new) work_.new_gates.push_back(token);
  }
  const int64_t spoilt = work_.spoilt.size(), gates = work_.new_gates.size();
  work_.states.Resize(spoilt, width_);
  work_.state_products.Resize(spoilt, width_);
  work_.tokens.Resize(gates, width_);
  work_.gates.Resize(gates, width_);
  for (Fused& fused : work_.fused) {
    if (fused.computed >= 0) fused.product = work_.state_products.row(fused.computed);
    if (fused.computed_gate >= 0) fused.gate = work_.gates.row(fused.computed_gate);
  }
}

void CpuBackend::MakeInputs(const Step& step) {
  Mark(CpuPart::kFusion);
  if (!work_.spoilt.empty()) {
    ShareItems(work_.spoilt.size(), [&](int64_t i) {
      const int32_t row = work_.spoilt[i];
      GatherState(step.rows[row], work_.places[row].position, work_.states.row(i));
    });
    Multiply(weights_.state_proj, work_.states, work_.spoilt.size(), work_.state_products);
  }
  if (!work_.new_gates.empty()) MakeGates();
  Mark(CpuPart::kInputs);
  ShareItems(step.rows.size(), [&](int64_t i) { MakeInput(step.rows[i], work_.fused[i], work_.x.row(i)); });
}

// x := e; (W^U h) * sigmoid(W^G e), or e + W^U h where the row is fused.
void CpuBackend::MakeInput(const Row& row, const Fused& fused, float* x) const {
  if (fused.gate != nullptr) {
    for (int64_t j = 0; j < width_; ++j) x[j] = fused.product[j] * fused.gate[j];
    return;
  }
  WidenRow(model_->weights.embedding, row.token, x);
  // A broken state of an earlier step may have left its NaN in the padding.
  std::fill(x + config_.hidden_size, x + width_, 0.0f);
  if (fused.product == nullptr) return;
  for (int64_t j = 0; j < width_; ++j) x[j] += fused.product[j];
}

// The state h [D] that a row is fused with, spoilt as its control says.
void CpuBackend::GatherState(const Row& row, int position, float* state) const {
  const float* h = states_[FeedbackSlot(row, position)];
  if (row.control == Control::kZero) {
    std::fill_n(state, config_.hidden_size, 0.0f);
  } else if (row.control == Control::kReversed) {
    std::reverse_copy(h, h + config_.hidden_size, state);
  } else {
    std::copy_n(h, config_.hidden_size, state);
  }
}

void CpuBackend::MakeGates() {
  const int64_t count = work_.new_gates.size();
  ShareItems(count, [&](int64_t i) {
    WidenRow(model_->weights.embedding, work_.new_gates[i], work_.tokens.row(i));
  });
  Multiply(weights_.token_gate, work_.tokens, count, work_.gates);
  ShareItems(count, [&](int64_t i) { kernels_.sigmoid(work_.gates.row(i), width_, work_.gates.row(i)); });
}

void CpuBackend::KeepGates() {
  for (size_t i = 0; i < work_.new_gates.size(); ++i) gates_.Add(work_.new_gates[i], work_.gates.row(i));
}

// Called by every thread of a team, while the head's product of `count` queries from `first` on is computed.
void CpuBackend::ProjectStates(const Step& step, int64_t first, int64_t count, const float* packed) {
  const auto keeps = [&](const Query& query) { return NewlyKept(step, query) != kNoSlot; };
  const auto queries = std::span(step.queries).subspan(first, count);
  if (weights_.state_proj.panels == 0 || std::ranges::none_of(queries, keeps)) return;
  MultiplyPacked(weights_.state_proj, packed, count, work_.query_products);
}

void CpuBackend::KeepProducts(const Step& step, int64_t first, int64_t count) {
  if (weights_.state_proj.panels == 0) return;
  for (int64_t i = 0; i < count; ++i) {
    const Query& query = step.queries[first + i];
    const int32_t slot = NewlyKept(step, query);
    if (slot == kNoSlot || feedback_[slot].keeper != query.row) continue;
    std::copy_n(work_.query_products.row(i), width_, feedback_[slot].product);
    feedback_[slot].known = true;
  }
}

}  // namespace fullband
