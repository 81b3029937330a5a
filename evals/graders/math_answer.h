// Whether two answers in LaTeX are the same.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "evals/graders/math_tree.h"

namespace fullband {

// Decides about two scalars with variables that no exact normal form tells apart. May throw.
using AskSymbolic = std::function<bool(const MathNode& a, const MathNode& b)>;

struct MathComparison {
  bool same = false;
  // Why they are not the same, where it is not their values: "not_understood" (one of them is no answer that
  // is known; they were compared as text), "too_large" (numbers beyond the bounds: equal only to themselves).
  std::string detail;
};

// What counts as the same:
// - the same tokens, whatever they mean; words without their case ("\text{Yes}" and "yes"; "aB" and "Ab" are
//   products, and differ);
// - the same value, exactly: 3\frac12 = 7/2, √12 = 2√3, 0.5 = 1/2, but 0.67 ≠ 2/3; a percentage equals its
// number
//   and its hundredth; units, degrees and currency say nothing, unless both are known units and differ;
// - lists and sets in any order, x ± y being two values; tuples, intervals, matrices and ratios element by
//   element, with the same brackets; an inequality of one variable and its interval;
// - equations up to a factor; "x = 5" and 5, where only one says "x =" or "x \in";
// - a numeral with its base and without, but not with another base.
MathComparison SameAnswer(std::string_view a, std::string_view b, const AskSymbolic& ask);

}  // namespace fullband
