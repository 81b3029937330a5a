// Refuses steps that would read or write outside a backend's memory: shared by all backends.
#pragma once

#include "engine/checkpoint/config.h"
#include "engine/compute/step.h"

namespace fullband {

// What a backend has made room for.
struct Capacity {
  int pages = 0;
  int page_size = 0;
  int states = 0;
};

// Throws Error naming the row, span, copy or query that breaks the rules of step.h: indices out of range,
// spans that do not cover the rows in order, fused rows at position 0 or without feedback weights, queries
// out of order.
void CheckStep(const Step& step, const ModelConfig& config, const Capacity& capacity);

// The slot that a fused row's feedback comes from, at position `position`: under kStale the state before the
// last, or the last where that does not exist (at position 1).
int32_t FeedbackSlot(const Row& row, int position);

}  // namespace fullband
