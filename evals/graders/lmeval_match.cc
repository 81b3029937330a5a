#include "evals/graders/lmeval_match.h"

#include <algorithm>

namespace fullband {

namespace {

std::string Normalized(std::string text) {
  std::erase(text, ',');
  std::erase(text, '$');
  if (size_t marker = text.rfind("#### "); marker != std::string::npos) text.erase(0, marker + 5);
  if (text.ends_with('.')) {
    text.pop_back();
  } else if (text.ends_with(".\n")) {
    text.erase(text.size() - 2, 1);
  }
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

Verdict LmEvalExactMatch(std::string extracted, std::string_view gold) {
  const bool same = Normalized(extracted) == Normalized(std::string(gold));
  Verdict verdict;
  if (same) {
    verdict.outcome = Outcome::kCorrect;
  } else {
    verdict.outcome = extracted == kLmEvalInvalid ? Outcome::kNoAnswer : Outcome::kIncorrect;
  }
  verdict.score = same ? 1 : 0;
  verdict.extracted = std::move(extracted);
  return verdict;
}

}  // namespace fullband
