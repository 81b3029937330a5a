// The first match of `#### (\-?[0-9\.\,]+)`.
#include <string>
#include <string_view>

#include "evals/graders/lmeval_match.h"
#include "evals/graders/text_graders.h"

namespace fullband {

namespace {

std::string ExtractStrict(std::string_view text) {
  constexpr std::string_view kMarker = "#### ";
  constexpr std::string_view kNumber = "0123456789.,";
  for (size_t at = text.find(kMarker); at != std::string_view::npos; at = text.find(kMarker, at + 1)) {
    const size_t begin = at + kMarker.size();
    const size_t digits = begin < text.size() && text[begin] == '-' ? begin + 1 : begin;
    const size_t end = std::min(text.find_first_not_of(kNumber, digits), text.size());
    if (end > digits) return std::string(text.substr(begin, end - begin));
  }
  return std::string(kLmEvalInvalid);
}

}  // namespace

Verdict GradeLmEvalStrict(const TextSample& sample) {
  return LmEvalExactMatch(ExtractStrict(sample.completion), sample.gold);
}

}  // namespace fullband
