#include "engine/compute/check_step.h"

#include <fmt/format.h>

#include "common/error.h"
#include "engine/compute/sampling.h"

namespace fullband {
namespace {

void Require(bool holds, const char* kind, size_t index, const char* rule) {
  if (!holds) throw Error(fmt::format("step, {} {}", kind, index), rule, "this is a fault of the program");
}

bool Within(int64_t index, int64_t count) { return index >= 0 && index < count; }
bool SlotOrNone(int32_t slot, int count) { return slot == kNoSlot || Within(slot, count); }

void CheckRow(const Row& row, int position, size_t index, const ModelConfig& config,
              const Capacity& capacity) {
  Require(Within(row.token, config.vocab_size), "row", index, "its token is not in the vocabulary");
  Require(SlotOrNone(row.state, capacity.states) && SlotOrNone(row.older_state, capacity.states) &&
              SlotOrNone(row.keep_state, capacity.states),
          "row", index, "a state slot is out of range");
  if (row.state == kNoSlot) return;
  Require(config.fusion != Fusion::kNone, "row", index, "it is fused, but the model has no feedback weights");
  Require(position > 0, "row", index, "it is fused, but position 0 has no predecessor");
  Require(row.control != Control::kStale || row.older_state != kNoSlot || position == 1, "row", index,
          "it is stale, but has no older state");
  Require(row.control != Control::kConstantGate || config.fusion == Fusion::kGlu, "row", index,
          "it wants a constant gate, but the model has no gate");
}

void CheckSpan(const Step& step, size_t index, const ModelConfig& config, const Capacity& capacity) {
  const Span& span = step.spans[index];
  const int64_t end = int64_t{span.position} + span.row_count;
  Require(span.row_count > 0 && span.position >= 0, "span", index, "it has no rows or a negative position");
  Require(span.first_row + int64_t{span.row_count} <= static_cast<int64_t>(step.rows.size()), "span", index,
          "it has more rows than the step");
  Require(static_cast<int64_t>(span.pages.size()) * capacity.page_size >= end, "span", index,
          "its pages do not hold its positions");
  for (int32_t page : span.pages)
    Require(Within(page, capacity.pages), "span", index, "a page is out of range");
  for (int i = 0; i < span.row_count; ++i) {
    CheckRow(step.rows[span.first_row + i], span.position + i, span.first_row + i, config, capacity);
  }
}

// `last_row` is the row of the query before it that has one.
void CheckQuery(const Step& step, size_t index, const ModelConfig& config, const Capacity& capacity,
                int64_t* last_row) {
  const Query& query = step.queries[index];
  Require(SlotOrNone(query.state, capacity.states), "query", index, "its state slot is out of range");
  if (query.state == kNoSlot) {
    Require(Within(query.row, step.rows.size()), "query", index, "its row is out of range");
    Require(*last_row < query.row, "query", index, "rows do not ascend");
    *last_row = query.row;
  }
  for (int32_t token : query.targets) {
    Require(Within(token, config.vocab_size), "query", index, "a target is not in the vocabulary");
  }
  if (query.sample) CheckSampleSpec(query.spec);
}

}  // namespace

void CheckStep(const Step& step, const ModelConfig& config, const Capacity& capacity) {
  for (size_t i = 0; i < step.copies.size(); ++i) {
    const PageCopy& copy = step.copies[i];
    Require(Within(copy.from, capacity.pages) && Within(copy.to, capacity.pages), "copy", i,
            "a page is out of range");
    Require(Within(copy.positions, capacity.page_size + 1), "copy", i, "it copies more than a page");
  }
  int64_t covered = 0;
  for (size_t i = 0; i < step.spans.size(); ++i) {
    Require(step.spans[i].first_row == covered, "span", i, "it does not begin where the one before ends");
    CheckSpan(step, i, config, capacity);
    covered += step.spans[i].row_count;
  }
  Require(covered == static_cast<int64_t>(step.rows.size()), "row", covered, "no span covers it");
  int64_t last_row = -1;
  for (size_t i = 0; i < step.queries.size(); ++i) CheckQuery(step, i, config, capacity, &last_row);
}

int32_t FeedbackSlot(const Row& row, int position) {
  if (row.control != Control::kStale) return row.state;
  return position == 1 ? row.state : row.older_state;
}

}  // namespace fullband
