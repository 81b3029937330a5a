// A LaTeX answer as a tree.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "evals/graders/math_tokens.h"

namespace fullband {

enum class MathKind {
  kNumber,    // text: a decimal as MathTokens spells it
  kSymbol,    // text: a variable, or "pi", "e", "i", "infty"; "±1" and "∓1" are the two signs
  kText,      // text: words
  kAdd,       // parts
  kMultiply,  // parts
  kDivide,    // parts: numerator, denominator
  kPower,     // parts: base, exponent
  kFunction,  // text: its name; parts: arguments (log: argument, base)
  kPercent,   // parts: the number before the sign
  kUnit,      // text: the unit's words; parts: what it is a unit of
  kTuple,     // text: its brackets, e.g. "()", "[)"; parts
  kSet,       // parts, between braces
  kList,      // parts, separated by commas or words; text: the word, "and", "or" or none
  kMatrix,    // text: number of columns; parts: row by row
  kUnion,     // text: "cup", "cap" or "setminus"; parts
  kRatio,     // parts, separated by colons
  kRelation,  // operators: one fewer than parts
};

struct MathNode {
  MathKind kind = MathKind::kNumber;
  std::string text = {};
  std::vector<MathNode> parts = {};
  std::vector<std::string> operators = {};  // of a kRelation: "=", "<", "le", ">", "ge", "ne", "in", ...
  bool call = false;                        // a product that reads like f(x)
};

// The answer, or nothing where it is not understood, nested more than some hundred deep, or a chain of more
// than some hundred factors. Numbers are not yet evaluated: a tree is never much larger than its text.
std::optional<MathNode> ParseMath(const std::vector<MathToken>& tokens);

// Words as they are compared: lower case, without brackets, quotation marks, a full stop at the end.
std::string PlainWords(const std::string& text);

}  // namespace fullband
