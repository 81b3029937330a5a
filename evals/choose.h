// Metrics of suites that compare continuations: each is a view of the sums and counts that the store keeps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evals/graders/grader.h"
#include "evals/store/store.h"

namespace fullband {

struct ChoiceMetric {
  std::string name;  // "acc", "acc_norm", "acc_norm_bytes", "acc_norm_tokens"
  int version = 1;
  ChoiceNorm norm = ChoiceNorm::kSum;
};

// Throws a usage Error with near names for an unknown metric.
const ChoiceMetric& FindChoiceMetric(std::string_view name);
std::vector<std::string> ChoiceMetricNames();

// Index of the choice with the best log-probability after normalisation, ties to the first. `choices` is not
// empty.
int BestChoice(const std::vector<ChoiceRecord>& choices, ChoiceNorm norm);

// Correct where the best choice is the gold one; `extracted` is its text.
Verdict JudgeChoices(const std::vector<ChoiceRecord>& choices, ChoiceNorm norm);

}  // namespace fullband
