// A regular expression over UTF-8 text (PCRE2), as Hugging Face's tokenizers search it (Oniguruma).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fullband {

// A stretch of text between two offsets, in bytes; `match` says whether the expression matched it.
struct Stretch {
  size_t begin = 0, end = 0;
  bool match = false;
};

class Regex {
 public:
  // Throws Error about `place` where the expression is malformed, or has a construct that the two libraries
  // read differently (CheckPattern).
  Regex(const std::string& pattern, std::string place);
  ~Regex();

  // Matches and what is between them, in order, the whole text covered. `text` is valid UTF-8 made
  // ForExpressions(). Throws Error where the search takes too many steps. Safe to call from several threads.
  std::vector<Stretch> Search(std::string_view text) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
  std::string place_;
};

// Throws Error about `place` at the first construct outside the common ground of Oniguruma and PCRE2.
void CheckPattern(std::string_view pattern, const std::string& place);

}  // namespace fullband
