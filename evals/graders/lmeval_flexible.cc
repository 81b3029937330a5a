// The last match of `(-?[$0-9.,]{2,})|(-?[0-9]+)`.
#include <string>
#include <string_view>

#include "evals/graders/lmeval_match.h"
#include "evals/graders/text_graders.h"

namespace fullband {

namespace {

// Matches do not overlap, so the text is read from its start. A run of the pattern's class matches whole
// where it has two characters, or is one digit; a minus sign right before it joins in either case.
std::string ExtractFlexible(std::string_view text) {
  constexpr std::string_view kNumber = "$0123456789.,";
  std::string_view last = kLmEvalInvalid;
  size_t at = 0;
  while ((at = text.find_first_of(kNumber, at)) != std::string_view::npos) {
    const size_t end = std::min(text.find_first_not_of(kNumber, at), text.size());
    const bool digit = text[at] >= '0' && text[at] <= '9';
    if (end - at >= 2 || digit) {
      const size_t begin = at > 0 && text[at - 1] == '-' ? at - 1 : at;
      last = text.substr(begin, end - begin);
    }
    at = end;
  }
  return std::string(last);
}

}  // namespace

Verdict GradeLmEvalFlexible(const TextSample& sample) {
  return LmEvalExactMatch(ExtractFlexible(sample.completion), sample.gold);
}

}  // namespace fullband
