#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "common/error.h"
#include "evals/graders/text_graders.h"
#include "evals/graders/thoughts.h"

namespace fullband {

namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

// Without white space around it and without a sentence's end; an ellipsis stays.
std::string_view Bare(std::string_view text) {
  text = Trimmed(text);
  if (text.ends_with('.') && !text.ends_with("..")) text = Trimmed(text.substr(0, text.size() - 1));
  return text;
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameText(std::string_view a, std::string_view b, bool ignore_case) {
  if (!ignore_case) return a == b;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

std::optional<std::string_view> FindAnswer(std::string_view text, const AnswerRule& rule) {
  if (!rule.pattern) return text;
  const std::vector<RegexMatch> matches = rule.pattern->FindAll(text);
  if (matches.empty()) return std::nullopt;
  const RegexMatch& last = matches.back();
  return text.substr(last.group_begin, last.group_end - last.group_begin);
}

}  // namespace

Verdict GradeExact(const TextSample& sample) {
  static const AnswerRule whole_text;
  const AnswerRule& rule = sample.rule ? *sample.rule : whole_text;
  const std::string_view gold = Bare(sample.gold);
  if (gold.empty()) return {Outcome::kFault, 0, "", "gold_is_empty"};
  const VisibleText visible = sample.Visible();
  if (Trimmed(visible.text).empty()) {
    return {Outcome::kNoAnswer, 0, "", visible.ends_in_thought ? "truncated_in_thought" : "empty"};
  }
  std::optional<std::string_view> found;
  try {
    found = FindAnswer(visible.text, rule);
  } catch (const Error&) {  // the text's doing, not the harness's failure
    return {Outcome::kTimeout, 0, "", "pattern_limit"};
  }
  if (!found) {
    return {Outcome::kNoAnswer, 0, "", visible.ends_in_thought ? "truncated_in_thought" : "no_match"};
  }
  const std::string_view answer = Bare(*found);
  if (answer.empty()) return {Outcome::kNoAnswer, 0, "", "empty"};
  const bool correct = SameText(answer, gold, rule.ignore_case);
  return {correct ? Outcome::kCorrect : Outcome::kIncorrect, correct ? 1.0 : 0.0, std::string(answer), ""};
}

}  // namespace fullband
