// What lmeval_strict and lmeval_flexible share: lm-evaluation-harness 0.4's exact_match as its task gsm8k
// sets it up (lm_eval/tasks/gsm8k/gsm8k.yaml, lm_eval/api/metrics.py).
#pragma once

#include <string>
#include <string_view>

#include "evals/graders/grader.h"

namespace fullband {

// The filter's fallback where its pattern matches nothing. It is compared with the gold like any other
// answer.
inline constexpr std::string_view kLmEvalInvalid = "[invalid]";

// Both sides lose, in this order, every `,`, every `$`, all up to the last `#### `, and one `.` at the very
// end (or before a final line feed); then they are compared with ASCII letters in lower case. (Other letters
// cannot matter: an extracted answer has none.)
Verdict LmEvalExactMatch(std::string extracted, std::string_view gold);

}  // namespace fullband
