// Which samples of an item give the same answer: what a majority vote counts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evals/store/store.h"

namespace fullband {

// Of verdicts by the run's headline grader on samples of one item: 0 for the right answer, 1, 2, ... for the
// wrong ones, equal numbers for equal answers, in the order in which they come; -1 for a sample that has no
// answer. Nothing where the grader compares no answers with each other (choices, programs).
//
// Equal is what the grader takes for equal, by value and not by spelling: what it judged correct is one
// answer, and wrong ones are compared as it would compare them with a gold answer. The grader `math` does so
// by its exact normal forms alone: two wrong answers that only a computer algebra system would equate stay
// apart.
std::optional<std::vector<int>> NumberAnswers(const RunRecord& run, const std::vector<GradeRecord>& grades);

}  // namespace fullband
