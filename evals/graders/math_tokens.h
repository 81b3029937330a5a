// LaTeX answers as tokens: what only changes how an answer looks is gone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fullband {

enum class MathTokenKind {
  kNumber,   // digits with at most one point, separators taken out: "1000", "3.5", ".5", "1e3"; "0.(3)"
             // repeats
  kLetter,   // one letter, or one character that is not ASCII
  kWord,     // at least four letters in a row that are no command, after a space: "Evelyn"
  kCommand,  // \name, without the backslash
  kText,     // what \text{...} and its kin hold
  kSign,     // any other character; "{" and "}" are groups, "\{" and "\}" are the commands lbrace and rbrace
};

struct MathToken {
  MathTokenKind kind;
  std::string text;
  bool after_space = false;
};

// Whether a comma with three digits behind it groups thousands ("1,000") or separates ("(12,102)").
enum class CommaReading { kOutsideBrackets, kNever, kAlways };

// Never fails, in time linear in the length. Dropped: spaces, \left and \right, sizes and styles, `$`,
// currency. Unicode's signs become their commands, \dfrac and \tfrac become \frac. `,\!`, `{,}` and thin
// spaces between groups of three digits are always thousands separators.
std::vector<MathToken> MathTokens(std::string_view latex, CommaReading reading);

// Whether the three readings can differ.
bool HasAmbiguousComma(std::string_view latex);

// The tokens in one spelling: equal texts are the same answer.
std::string PlainForm(const std::vector<MathToken>& tokens);

}  // namespace fullband
