// A regular expression over UTF-8 text (PCRE2), searched within bounds on steps and memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fullband {

// Offsets are bytes of the text.
struct RegexMatch {
  size_t begin = 0, end = 0;
  // What the first group captured; the whole match where the expression has no group, or it took no part.
  size_t group_begin = 0, group_end = 0;
};

class Regex {
 public:
  // Throws Error about `place` where the expression is malformed.
  Regex(const std::string& pattern, std::string place);
  ~Regex();

  // All matches that do not overlap, in order; an empty one right behind another is none. `text` is valid
  // UTF-8. Throws Error where the search takes too many steps. Safe to call from several threads.
  std::vector<RegexMatch> FindAll(std::string_view text) const;

  // Up to here, the end of a match, `text` is searched alike whatever follows it, and a search from here on
  // goes on as one of the whole text does. 0 where there is no such place, or the expression looks back.
  size_t Settled(std::string_view text) const;

 private:
  struct Code;
  // pcre2_match from an offset on. Throws Error where it takes too many steps.
  int Match(std::string_view text, size_t from, uint32_t options) const;

  std::unique_ptr<Code> code_;
  std::string place_;
  bool looks_back_ = false;
};

}  // namespace fullband
