// Metrics of suites that compare continuations: each is a view of the sums and counts that the store keeps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evals/graders/grader.h"
#include "evals/store/store.h"

namespace fullband {

struct ChoiceMetric {
  std::string name;  // "acc", "acc_norm", "acc_norm_bytes", "acc_norm_tokens"; "greedy"
  int version = 1;
  ChoiceNorm norm = ChoiceNorm::kSum;
  bool greedy = false;  // compares nothing: JudgeGreedy, for items with one continuation
};

// Throws a usage Error with near names for an unknown metric.
const ChoiceMetric& FindChoiceMetric(std::string_view name);
std::vector<std::string> ChoiceMetricNames();

// Index of the choice with the best log-probability after normalisation, ties to the first. `choices` is not
// empty.
int BestChoice(const std::vector<ChoiceRecord>& choices, ChoiceNorm norm);

// Correct where the best choice is the gold one; `extracted` is its text. Details: "no_choices",
// "no_token_counts" (faults).
Verdict JudgeChoices(const std::vector<ChoiceRecord>& choices, ChoiceNorm norm);

// Correct where each token of the one continuation is the model's first choice; `extracted` is then its text.
Verdict JudgeGreedy(const std::vector<ChoiceRecord>& choices);

}  // namespace fullband
