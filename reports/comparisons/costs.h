// What two runs cost, and how much of it can be compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evals/store/store.h"
#include "reports/results.h"

namespace fullband {

// Of a whole run: of all its samples and sessions. Nothing where it is not known or does not apply.
struct RunCost {
  std::optional<double> seconds;                   // wall time of all sessions
  std::optional<double> generated_tokens;          // where text is generated
  std::optional<double> tokens_per_second;         // of these, by wall time: all that was done at once
  std::optional<double> decode_seconds_per_token;  // of one sequence among those decoded at once
  std::optional<double> forwards;  // positions run through the model: of every prefill pass, and decoded
  std::optional<double> right_per_million_forwards;  // right samples by the headline grader
  std::optional<double> peak_memory_bytes;
  std::vector<std::string> ran_on;  // "host: processor, 2 threads, batch 8, chunk 64", each once, sorted
};
RunCost CostOf(const RunResults& results, const std::vector<SessionRecord>& sessions);

struct CostComparison {
  RunCost a, b;
  // B's seconds per decoded token over A's, less 1 (0.01: a hundredth more). Only where all sessions of both
  // ran alike: same host, processor, threads, batch and chunk.
  std::optional<double> overhead;
  std::string incomparable;  // why there is none
};
CostComparison CompareCosts(const RunCost& a, const RunCost& b);

}  // namespace fullband
