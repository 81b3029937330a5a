// Where two runs' traces part: the first token in which they are not the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evals/store/store.h"
#include "reports/results.h"

namespace fullband {

// Of one sample: its tokens, and by how much each was preferred to the best other one.
struct Trace {
  int sample = 0;
  std::vector<int32_t> tokens, runner_ups;
  std::vector<float> margins;  // natural logarithm of the chances' ratio; may be empty
};

struct ItemTraces {
  std::string item;
  std::vector<Trace> traces;  // of the samples that are no faults
};

// All of a run's traces, in the order of its items. 12 bytes a token.
using RunTraces = std::vector<ItemTraces>;
RunTraces ReadTraces(Store& store, const RunRecord& run);

struct Parting {
  int64_t traces = 0;       // pairs of the same item and sample that were compared
  int64_t identical = 0;    // token by token
  int64_t first_alike = 0;  // with the same first token
  // Tokens in common before they part, over the pairs that do. One that ends where the other goes on parts
  // there.
  std::optional<double> percentile10, percentile25, median, percentile75, percentile90;
  // At the token where they part: how far each run preferred its own to the best other one, medians in nats.
  // Little says that the choice was near a tie.
  std::optional<double> margin_a, margin_b;
  std::optional<double> swapped;  // share in which each one's token is the other's runner-up
};

// Nothing where no pair of traces is there to compare. Tokens mean the same in both: see SameTokens.
std::optional<Parting> PartingOf(const RunTraces& a, const RunTraces& b);

// Whether the runs' tokens are known and of one tokenizer.
bool SameTokens(const RunResults& a, const RunResults& b);

}  // namespace fullband
