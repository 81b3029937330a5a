// The graders of the table in grader.cc. Each lives in a file of its name.
#pragma once

#include "evals/graders/grader.h"

namespace fullband {

// The headline grader of numeric suites: the answer's value, exactly, however it is written. See number.cc
// for where the answer is looked for. `extracted` is the number without separators, currency and units.
// Details: "empty" (nothing visible), "truncated_in_thought" (the text ends inside a thought), "no_number"
// (nothing that reads as a number), "unmarked" (no marker; the last number was taken), "not_a_value" (the
// answer is a range, a time, a power and the like, whose parts must not be taken for it), "gold_not_a_number"
// (a fault of the data).
Verdict GradeNumber(const TextSample& sample);

// lm-evaluation-harness 0.4's two filters and exact_match metric for its task gsm8k, faults included, so that
// its published figures can be compared. Where its pattern finds nothing, `extracted` is its own word,
// "[invalid]". The completion must be valid UTF-8, as kept texts are. The gold may be the whole reference
// solution.
Verdict GradeLmEvalStrict(const TextSample& sample);
Verdict GradeLmEvalFlexible(const TextSample& sample);

// The answer's text, character by character. It is looked for in the visible text: where the suite's rule
// says, else it is all of it. It and the gold lose white space at both ends and one full stop at the end
// first. `extracted` is what was then compared, as written. Details: "empty" (nothing visible, or nothing
// left to compare), "truncated_in_thought" (the text ends inside a thought), "no_match" (nothing that the
// rule's pattern matches), "pattern_limit" (a time-out: the pattern backtracked too much), "gold_is_empty" (a
// fault of the data).
Verdict GradeExact(const TextSample& sample);

// The headline grader of mathematics: where the answer is looked for is in math_extract.h, what counts as the
// same in math_answer.h. Decided natively but for expressions with variables that are more than quotients of
// polynomials: about those, Python (scripts/worker.py) is asked, for five seconds a pair at most. The gold
// may be the whole reference solution. `extracted` is the answer as written. Details: "empty",
// "truncated_in_thought", "no_answer" (nothing that could be one), "unmarked" (nothing said that it is the
// answer), "unfinished_box" (the last box was cut off; the one before it counted), "not_understood" and
// "too_large" (math_answer.h), "symbolic", "memory_limit" and "recursion_limit" (time-outs: what was asked of
// Python took too long or too much), "gold_is_empty" (a fault of the data).
Verdict GradeMath(const TextSample& sample);

// math-verify's verdict with its default settings, faults included. A bare gold is put in a box, as reference
// solutions have it. `extracted` is the text that the library read. Details: "no_answer" (it found none),
// "library" (a time-out that its own alarm did not reach), "memory_limit", "recursion_limit" (time-outs,
// too), "gold_not_understood" (a fault).
Verdict GradeMathVerify(const TextSample& sample);

}  // namespace fullband
