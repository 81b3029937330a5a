#include "evals/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fullband {
namespace {

void AddCost(const Answer& answer, SampleRecord* sample) {
  sample->prompt_tokens += answer.cost.prompt_tokens;
  sample->prefill_forwards += answer.cost.prefill_forwards;
  sample->saved_forwards += answer.cost.saved_forwards;
  sample->decode_forwards += answer.cost.decode_forwards;
  sample->queue_seconds += answer.cost.queue_seconds;
  sample->prefill_seconds += answer.cost.prefill_seconds;
  sample->decode_seconds += answer.cost.decode_seconds;
}

ChoiceRecord RecordOf(const Choice& choice, const Answer& answer, bool gold) {
  ChoiceRecord record;
  record.text = choice.text;
  record.tokens = static_cast<int>(choice.continuation.size());
  record.characters = choice.characters;
  record.bytes = choice.bytes;
  for (const float logprob : answer.logprobs) record.logprob += logprob;
  record.logprobs = answer.logprobs;
  record.greedy = std::all_of(answer.greedy.begin(), answer.greedy.end(), [](bool greedy) { return greedy; });
  record.gold = gold;
  return record;
}

}  // namespace

SampleRecord GeneratedSample(const Answer& answer) {
  SampleRecord sample;
  AddCost(answer, &sample);
  sample.min_state_rms = answer.min_state_rms;
  sample.max_state_rms = answer.max_state_rms;
  sample.fault = answer.fault;
  if (!answer.fault.empty()) return sample;
  sample.text = answer.text;
  sample.stop_reason = StopReasonName(answer.stop_reason);
  for (const GeneratedToken& token : answer.tokens) {
    sample.tokens.push_back(token.id);
    sample.text_ends.push_back(token.text_end);
    sample.runner_ups.push_back(token.runner_up);
    sample.logprobs.push_back(token.logprob);
    sample.runner_up_logprobs.push_back(token.runner_up_logprob);
  }
  sample.generated_tokens = static_cast<int64_t>(answer.tokens.size());
  sample.trace_tokens = answer.trace_tokens;
  return sample;
}

SampleRecord ChosenSample(const Question& question, const std::vector<Answer>& answers) {
  SampleRecord sample;
  for (size_t i = 0; i < answers.size(); ++i) {
    const Answer& answer = answers[i];
    AddCost(answer, &sample);
    sample.min_state_rms =
        i == 0 ? answer.min_state_rms : std::min<double>(sample.min_state_rms, answer.min_state_rms);
    sample.max_state_rms =
        i == 0 ? answer.max_state_rms : std::max<double>(sample.max_state_rms, answer.max_state_rms);
    const bool gold = static_cast<int>(i) == question.gold_choice;
    sample.choices.push_back(RecordOf(question.choices[i], answer, gold));
    std::string fault = answer.fault;
    if (fault.empty() && !std::isfinite(sample.choices.back().logprob))
      fault = "the log-probability is not a finite number";
    if (!fault.empty() && sample.fault.empty()) sample.fault = fmt::format("choice {}: {}", i, fault);
  }
  if (!sample.fault.empty()) sample.choices.clear();
  return sample;
}

int64_t ProcessedTokens(const SampleRecord& sample, bool generates) {
  return generates ? sample.generated_tokens : sample.prefill_forwards + sample.decode_forwards;
}

}  // namespace fullband
