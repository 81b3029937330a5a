// What is read off one row of logits, the same on every backend. Pure functions; V is the vocabulary's size.
//
// A logit that is NaN ranks as minus infinity, so that a broken state still gives well-formed results; that
// it is broken shows in the log-probabilities (NaN) and in StepResult::state_rms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/compute/step.h"

namespace fullband {

// Logits whose largest is known, so that they need not be looked at one by one.
inline constexpr int64_t kLogitBlock = 64;

// The `count` largest logits, best first, ties by lowest id; all V of them where count > V. `maxima`, where
// it is not empty, holds the largest logit of each block of kLogitBlock, NaN left out, minus infinity where
// there is none: the result is the same.
std::vector<int32_t> BestTokens(std::span<const float> logits, int count, std::span<const float> maxima = {});

// Draws a token as SampleSpec says. Tokens that survive the cuts are walked by ascending id, so a cut that
// removes nothing changes no draw. Weights are computed in double. Throws Error where the spec is out of
// range.
int32_t SampleToken(std::span<const float> logits, const SampleSpec& spec,
                    std::span<const float> maxima = {});

// Throws Error unless 0 <= temperature < infinity, top_k >= 0 and 0 < top_p <= 1.
void CheckSampleSpec(const SampleSpec& spec);

// Everything a query asks for. `log_sum` is log(sum(exp(logits))), natural; `maxima` as above.
QueryResult AnswerQuery(const Query& query, std::span<const float> logits, double log_sum,
                        std::span<const float> maxima = {});

}  // namespace fullband
