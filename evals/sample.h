// From the engine's answers to the store's samples.
#pragma once

#include <vector>

#include "engine/engine.h"
#include "evals/store/store.h"
#include "tasks/task.h"

namespace fullband {

SampleRecord GeneratedSample(const Answer& answer);

// `answers` belong to `question.choices` one by one. A fault of one choice is the sample's.
SampleRecord ChosenSample(const Question& question, const std::vector<Answer>& answers);

// What rates in tokens/s count: generated tokens, or the positions that scoring ran.
int64_t ProcessedTokens(const SampleRecord& sample, bool generates);

}  // namespace fullband
