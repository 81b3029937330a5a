#include "evals/choose.h"

#include <algorithm>

#include "common/error.h"
#include "common/names.h"

namespace fullband {
namespace {

const std::vector<ChoiceMetric>& Metrics() {
  static const std::vector<ChoiceMetric> metrics = {
      {"acc", 1, ChoiceNorm::kSum},
      {"acc_norm", 1, ChoiceNorm::kCharacters},
      {"acc_norm_bytes", 1, ChoiceNorm::kBytes},
      {"acc_norm_tokens", 1, ChoiceNorm::kTokens},
      {"greedy", 1, ChoiceNorm::kSum, true},
  };
  return metrics;
}

// A choice without characters (only possible in a broken file) counts as one character long.
double Score(const ChoiceRecord& choice, ChoiceNorm norm) {
  switch (norm) {
    case ChoiceNorm::kSum:
      return choice.logprob;
    case ChoiceNorm::kCharacters:
      return choice.logprob / std::max(choice.characters, 1);
    case ChoiceNorm::kBytes:
      return choice.logprob / std::max(choice.bytes, 1);
    case ChoiceNorm::kTokens:
      return choice.logprob / std::max(choice.tokens, 1);
  }
  return choice.logprob;
}

}  // namespace

const ChoiceMetric& FindChoiceMetric(std::string_view name) {
  for (const ChoiceMetric& metric : Metrics())
    if (metric.name == name) return metric;
  throw UsageError(std::string(name), "is not a metric of choices", DidYouMean(name, ChoiceMetricNames()));
}

std::vector<std::string> ChoiceMetricNames() {
  std::vector<std::string> names;
  for (const ChoiceMetric& metric : Metrics()) names.push_back(metric.name);
  return names;
}

int BestChoice(const std::vector<ChoiceRecord>& choices, ChoiceNorm norm) {
  int best = 0;
  for (int i = 1; i < static_cast<int>(choices.size()); ++i)
    if (Score(choices[i], norm) > Score(choices[best], norm)) best = i;
  return best;
}

Verdict JudgeChoices(const std::vector<ChoiceRecord>& choices, ChoiceNorm norm) {
  if (choices.empty()) return {Outcome::kFault, 0, "", "no_choices"};
  // An imported sample may lack them (tokens of our own are one at least).
  if (norm == ChoiceNorm::kTokens && choices.front().tokens == 0)
    return {Outcome::kFault, 0, "", "no_token_counts"};
  const ChoiceRecord& best = choices[BestChoice(choices, norm)];
  return {best.gold ? Outcome::kCorrect : Outcome::kIncorrect, best.gold ? 1.0 : 0.0, best.text, ""};
}

Verdict JudgeGreedy(const std::vector<ChoiceRecord>& choices) {
  if (choices.size() != 1)
    return {Outcome::kFault, 0, "", choices.empty() ? "no_choices" : "several_choices"};
  const bool greedy = choices[0].greedy;
  return {greedy ? Outcome::kCorrect : Outcome::kIncorrect, greedy ? 1.0 : 0.0, greedy ? choices[0].text : "",
          ""};
}

}  // namespace fullband
