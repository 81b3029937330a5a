#include "engine/tokenizer/split_regex.h"

namespace fullband {
namespace {

const std::string& Checked(const std::string& pattern, const std::string& place) {
  CheckPattern(pattern, place);
  return pattern;
}

}  // namespace

SplitRegex::SplitRegex(const std::string& pattern, const std::string& place)
    : regex_(Checked(pattern, place), place) {}

std::vector<Stretch> SplitRegex::Search(std::string_view text) const {
  std::vector<Stretch> out;
  size_t covered = 0;  // up to here `out` has it all
  for (const RegexMatch& match : regex_.FindAll(text)) {
    if (covered != match.begin) out.push_back({covered, match.begin, false});
    out.push_back({match.begin, match.end, true});
    covered = match.end;
  }
  if (covered != text.size()) out.push_back({covered, text.size(), false});
  return out;
}

}  // namespace fullband
