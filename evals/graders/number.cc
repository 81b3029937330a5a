// Where the answer is looked for, after thoughts have been dropped:
//
// 1. At the last marker, whichever of these comes last in the text:
//      `####` with a number right behind it (a Markdown heading such as "#### 2. Add them up" is none);
//      `\boxed{...}` or `\fbox{...}` with a number inside;
//      "answer is", "answer:", "answer =" or a line "Final answer", with a number behind it.
//    The number right behind the marker counts. Where that number begins a calculation, its result does: the
//    number after the last `=` of the line or box. Where words come between, the last number of the box or of
//    the rest.
// 2. Without a marker: the last number of the text.
//
// "Right behind" passes over white space, emphasis, currency, brackets and the markers themselves, nothing
// else.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evals/graders/numbers.h"
#include "evals/graders/text_graders.h"
#include "evals/graders/thoughts.h"

namespace fullband {

namespace {

constexpr size_t kNone = std::string_view::npos;

// Of one kind, only so many are tried from the end: a text that repeats a marker without end stays linear.
constexpr int kMaxMarkers = 100;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// A part of the text, in bytes.
struct Span {
  size_t begin = 0, end = 0;
};

struct Answer {
  std::string text;
  bool value = true;
  bool marked = true;
};

class AnswerFinder {
 public:
  explicit AnswerFinder(std::string_view text) : text_(text), numbers_(ScanNumbers(text)) {}

  std::optional<Answer> Find() {
    if (numbers_.empty()) return std::nullopt;
    FindHashes();
    FindBoxes();
    FindWords();
    if (best_ != kNone) return best_answer_;
    return Answer{numbers_.back().text, numbers_.back().value, false};
  }

 private:
  // Index of the first number that begins at or after byte `at`.
  size_t NumberFrom(size_t at) const {
    return static_cast<size_t>(std::lower_bound(numbers_.begin(), numbers_.end(), at,
                                                [](const NumberToken& n, size_t x) { return n.begin < x; }) -
                               numbers_.begin());
  }
  size_t LineEnd(size_t at) const { return std::min(text_.find('\n', at), text_.size()); }

  void Offer(size_t at, Answer answer) {
    if (best_ != kNone && at < best_) return;
    best_ = at;
    best_answer_ = std::move(answer);
  }

  // Whether only decoration lies between two places. Stops at the first other character.
  bool OnlyDecoration(size_t begin, size_t end) const {
    constexpr std::string_view kDecoration = " \t\r\n*_`~$([{:=";
    constexpr std::array<std::string_view, 11> kLonger = {"\\(",      "\\[",      "\\$",         "\\ ",
                                                          "\\;",      "\\boxed",  "\\fbox",      "\\text",
                                                          "\\mathbf", "\\mathrm", "\xE2\x89\x88"};
    while (begin < end) {
      if (kDecoration.find(text_[begin]) != kNone) {
        ++begin;
        continue;
      }
      const auto longer = std::find_if(kLonger.begin(), kLonger.end(), [&](std::string_view what) {
        return text_.substr(begin).starts_with(what);
      });
      if (longer == kLonger.end()) return false;
      begin += longer->size();
    }
    return true;
  }

  // Where an operator with a number behind it follows byte `at`: the index of that number.
  size_t OperandAfter(size_t at, size_t end) const {
    constexpr std::array<std::string_view, 13> kOperators = {"+",
                                                             "*",
                                                             "/",
                                                             "-",
                                                             "x",
                                                             "\xC3\x97",
                                                             "\xC3\xB7",
                                                             "\xC2\xB7",
                                                             "\xE2\x88\x92",
                                                             "\xE2\x80\x93",
                                                             "\\times",
                                                             "\\cdot",
                                                             "\\div"};
    at = SkipOperandEnd(at, end);
    for (std::string_view op : kOperators) {
      if (!text_.substr(at).starts_with(op)) continue;
      const size_t next = NumberFrom(at + op.size());
      // The scanner may have taken the operator for a sign: "16 -3" it does not, "16* -3" it does.
      if (next < numbers_.size() && numbers_[next].begin < end &&
          OnlyDecoration(at + op.size(), numbers_[next].begin)) {
        return next;
      }
    }
    return kNone;
  }

  size_t SkipOperandEnd(size_t at, size_t end) const {
    constexpr std::string_view kClosing = " \t*$)]}%";
    // A closing `*` of emphasis and an operator `*` look alike; an operator has its operand behind it.
    while (at < end && kClosing.find(text_[at]) != kNone) {
      if (text_[at] == '*' && at + 1 < end &&
          (text_[at + 1] == ' ' || (text_[at + 1] >= '0' && text_[at + 1] <= '9'))) {
        break;
      }
      ++at;
    }
    if (text_.substr(at).starts_with("\\)")) at += 2;
    while (at < end && text_[at] == ' ') ++at;
    return at;
  }

  Answer Take(size_t number) const { return {numbers_[number].text, numbers_[number].value, true}; }

  // The number after the last `=` of a span, if there is one.
  std::optional<size_t> AfterLastEquals(Span span) const {
    const size_t equals = text_.substr(span.begin, span.end - span.begin).rfind('=');
    if (equals == kNone) return std::nullopt;
    const size_t number = NumberFrom(span.begin + equals + 1);
    if (number == numbers_.size() || numbers_[number].begin >= span.end) return std::nullopt;
    return number;
  }

  // A number that begins a calculation: its result, or the calculation itself where it states none.
  Answer Calculation(size_t number, size_t operand, Span span) const {
    if (const auto result = AfterLastEquals(span)) return Take(*result);
    size_t last = operand;
    for (size_t next = operand; next != kNone; next = OperandAfter(numbers_[next].end, span.end)) last = next;
    const size_t begin = numbers_[number].begin;
    return {std::string(text_.substr(begin, numbers_[last].end - begin)), false, true};
  }

  void FindHashes() {
    int left = kMaxMarkers;
    for (size_t at = text_.rfind("####"); at != kNone && left-- > 0;
         at = at > 0 ? text_.rfind("####", at - 1) : kNone) {
      const size_t number = NumberFrom(at + 4);
      if (number == numbers_.size() || !OnlyDecoration(at + 4, numbers_[number].begin)) continue;
      const size_t line_end = LineEnd(numbers_[number].begin);
      if (IsHeading(numbers_[number], line_end)) continue;
      const size_t operand = OperandAfter(numbers_[number].end, line_end);
      Offer(at, operand == kNone ? Take(number)
                                 : Calculation(number, operand, {numbers_[number].begin, line_end}));
      return;
    }
  }

  // "#### 2. Add them up" with more text below.
  bool IsHeading(const NumberToken& number, size_t line_end) const {
    if (number.text.size() > 2 || !text_.substr(number.end).starts_with(". ")) return false;
    const size_t word = text_.find_first_not_of(" *_", number.end + 1);
    if (word == kNone || word >= line_end || !IsLetter(text_[word])) return false;
    const size_t below = text_.find_first_not_of(" \t\r\n", line_end);
    return below != kNone;
  }

  void FindBoxes() {
    struct Open {
      size_t marker, content;
    };
    std::vector<Open> open;  // every brace that is open; marker is kNone where it opens no box
    for (size_t at = 0; at < text_.size(); ++at) {
      if (text_[at] == '\\') {
        size_t name = at + 1;
        while (name < text_.size() && IsLetter(text_[name])) ++name;
        const std::string_view command = text_.substr(at + 1, name - at - 1);
        size_t brace = name;
        if (command == "boxed" || command == "fbox") {
          while (brace < text_.size() && text_[brace] == ' ') ++brace;
          if (brace < text_.size() && text_[brace] == '{') {
            open.push_back({at, brace + 1});
            at = brace;
            continue;
          }
        }
        at = command.empty() ? at + 1 : name - 1;  // an escaped brace is no brace
      } else if (text_[at] == '{') {
        open.push_back({kNone, at + 1});
      } else if (text_[at] == '}' && !open.empty()) {
        if (open.back().marker != kNone) OfferBox(open.back().marker, {open.back().content, at});
        open.pop_back();
      }
    }
  }

  void OfferBox(size_t marker, Span content) {
    if (best_ != kNone && marker < best_)
      return;  // around a box that was offered: looking in would be quadratic
    const size_t first = NumberFrom(content.begin);
    const size_t past = NumberFrom(content.end);
    if (first >= past) return;
    if (!OnlyDecoration(content.begin, numbers_[first].begin)) {
      Offer(marker, Take(past - 1));
      return;
    }
    const size_t operand = OperandAfter(numbers_[first].end, content.end);
    Offer(marker, operand == kNone ? Take(first) : Calculation(first, operand, content));
  }

  void FindWords() {
    std::string lower(text_);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    int left = kMaxMarkers;
    for (size_t at = lower.rfind("answer"); at != kNone && left-- > 0;
         at = at > 0 ? lower.rfind("answer", at - 1) : kNone) {
      const size_t behind = WordMarkerEnd(lower, at);
      if (behind == kNone) continue;
      const size_t number = NumberFrom(behind);
      if (number == numbers_.size()) continue;
      const NumberToken& first = numbers_[number];
      const bool direct =
          OnlyDecoration(behind, first.begin) && OperandAfter(first.end, LineEnd(first.begin)) == kNone;
      Offer(at, Take(direct ? number : numbers_.size() - 1));
      return;
    }
  }

  // Where the marker that the word "answer" at `at` begins ends; kNone where it is just a word.
  static size_t WordMarkerEnd(const std::string& lower, size_t at) {
    if (at > 0 && IsLetter(lower[at - 1])) return kNone;
    size_t i = at + 6;
    size_t line = kNone;
    while (i < lower.size() && (IsSpace(lower[i]) || lower[i] == '*' || lower[i] == '_')) {
      if (lower[i] == '\n') line = i;
      ++i;
    }
    if (line != kNone) return at >= 6 && lower.compare(at - 6, 6, "final ") == 0 ? line + 1 : kNone;
    if (i < lower.size() && (lower[i] == ':' || lower[i] == '=')) return i + 1;
    const bool is =
        lower.compare(i, 2, "is") == 0 && i > at + 6 && (i + 2 >= lower.size() || !IsLetter(lower[i + 2]));
    return is ? i + 2 : kNone;
  }

  std::string_view text_;
  std::vector<NumberToken> numbers_;
  size_t best_ = kNone;
  Answer best_answer_;
};

// The gold answer: behind the last `####` of a reference solution, else the whole; its first number.
std::optional<std::string> GoldNumber(std::string_view gold) {
  if (const size_t marker = gold.rfind("####"); marker != kNone) gold.remove_prefix(marker + 4);
  const std::vector<NumberToken> numbers = ScanNumbers(gold);
  if (numbers.empty() || !numbers.front().value) return std::nullopt;
  return numbers.front().text;
}

}  // namespace

Verdict GradeNumber(const TextSample& sample) {
  const std::optional<std::string> gold = GoldNumber(sample.gold);
  if (!gold) return {Outcome::kFault, 0, "", "gold_not_a_number"};
  const VisibleText visible = sample.Visible();
  const std::optional<Answer> answer = AnswerFinder(visible.text).Find();
  // Without a marker, what stands before a thought that never ended is no answer.
  if (!answer || (visible.ends_in_thought && !answer->marked)) {
    const bool empty = std::all_of(visible.text.begin(), visible.text.end(), IsSpace);
    const char* detail = visible.ends_in_thought ? "truncated_in_thought" : empty ? "empty" : "no_number";
    return {Outcome::kNoAnswer, 0, "", detail};
  }
  if (!answer->value) return {Outcome::kIncorrect, 0, answer->text, "not_a_value"};
  const bool correct = SameNumber(answer->text, *gold);
  return {correct ? Outcome::kCorrect : Outcome::kIncorrect, correct ? 1.0 : 0.0, answer->text,
          answer->marked ? "" : "unmarked"};
}

}  // namespace fullband
