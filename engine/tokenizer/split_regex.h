// A regular expression as Hugging Face's tokenizers search it (Oniguruma).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/regex.h"

namespace fullband {

// A stretch of text between two offsets, in bytes; `match` says whether the expression matched it.
struct Stretch {
  size_t begin = 0, end = 0;
  bool match = false;
};

class SplitRegex {
 public:
  // Throws Error about `place` where the expression is malformed, or has a construct that the two libraries
  // read differently (CheckPattern).
  SplitRegex(const std::string& pattern, const std::string& place);

  // Matches and what is between them, in order, the whole text covered. `text` is valid UTF-8 made
  // ForExpressions(). Throws Error where the search takes too many steps. Safe to call from several threads.
  std::vector<Stretch> Search(std::string_view text) const;

  // Regex::Settled.
  size_t Settled(std::string_view text) const { return regex_.Settled(text); }

 private:
  Regex regex_;
};

// Throws Error about `place` at the first construct outside the common ground of Oniguruma and PCRE2.
void CheckPattern(std::string_view pattern, const std::string& place);

}  // namespace fullband
