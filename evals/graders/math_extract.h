// Where a completion's answer is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fullband {

struct MathAnswer {
  std::string text;         // as written
  bool marked = true;       // a box or words said that it is the answer
  bool unfinished = false;  // the last box was never closed; the one before it counts
};

// In a text without thoughts, in linear time; the first of these that there is:
// 1. What the last \boxed or \fbox holds whose braces balance (`\{` is no brace; a box inside a box is part
// of it;
//    `\boxed 2` without braces holds what follows up to a space, a `$` or a full stop).
// 2. What follows the last "answer is", "answer:" or "answer =", or a last "####": the mathematics between
// `$` if it
//    begins there, else up to the end of the sentence.
// 3. The whole text, where it is one line without prose.
// 4. The last mathematics between `$`, `\(` or `\[`.
// 5. The last number.
std::optional<MathAnswer> FindMathAnswer(std::string_view text);

// A reference answer: what its last box holds, where it is a whole solution, else all of it.
std::string MathGold(std::string_view gold);

}  // namespace fullband
