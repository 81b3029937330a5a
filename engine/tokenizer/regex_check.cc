// Which expressions mean the same to Oniguruma (Ruby syntax) and to PCRE2.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "common/error.h"
#include "engine/tokenizer/split_regex.h"

namespace fullband {
namespace {

class Checker {
 public:
  Checker(std::string_view pattern, const std::string& place) : pattern_(pattern), place_(place) {}

  void Run() {
    while (at_ < pattern_.size()) Element();
    if (in_class_) Refuse("a class that does not end");
  }

 private:
  [[noreturn]] void Refuse(const std::string& construct) const {
    throw Error(place_,
                fmt::format("has {} at byte {}, which this tokenizer does not support", construct, at_),
                "see engine/tokenizer/regex_check.cc for what it does");
  }
  bool Starts(std::string_view text) const { return pattern_.substr(at_, text.size()) == text; }

  void Element() {
    const char c = pattern_[at_];
    if (static_cast<unsigned char>(c) >= 0x80) Refuse("a character outside ASCII");
    if (c == '\\') return Escape();
    if (in_class_) return ClassElement();
    if (c == '[') return OpenClass();
    if (c == '(') return Group();
    if (c == '{') return Braces();
    // In Ruby's syntax these match at line ends within the text.
    if (c == '^' || c == '$') Refuse(fmt::format("the anchor {}", c));
    FoldedPair();
    ++at_;
  }

  void OpenClass() {
    in_class_ = true;
    ++at_;
    if (at_ < pattern_.size() && pattern_[at_] == '^') ++at_;
    if (at_ < pattern_.size() && pattern_[at_] == ']') Refuse("a class that begins with ]");
  }

  void ClassElement() {
    if (pattern_[at_] == '[') Refuse("[ within a class");
    if (Starts("&&")) Refuse("&& within a class");
    if (pattern_[at_] == ']') in_class_ = false;
    ++at_;
  }

  void Escape() {
    if (at_ + 1 == pattern_.size()) Refuse("a \\ at its end");
    const char c = pattern_[at_ + 1];
    if (c == 'p' || c == 'P') return Property();
    const bool shared = std::string_view("rntfsSdD").find(c) != std::string_view::npos;
    if (!shared && (std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80))
      Refuse(fmt::format("\\{}", c));
    at_ += 2;
  }

  // \p{..} of a general category.
  void Property() {
    static constexpr std::string_view kNames =
        " L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp ";
    const size_t end = pattern_.find('}', at_);
    const bool braces =
        at_ + 2 < pattern_.size() && pattern_[at_ + 2] == '{' && end != std::string_view::npos;
    if (!braces) Refuse("\\p without {}");
    const std::string name = fmt::format(" {} ", pattern_.substr(at_ + 3, end - at_ - 3));
    if (kNames.find(name) == std::string_view::npos)
      Refuse(fmt::format("the property {}", pattern_.substr(at_ + 3, end - at_ - 3)));
    at_ = end + 1;
  }

  void Group() {
    if (at_ + 1 < pattern_.size() && pattern_[at_ + 1] != '?') {
      if (pattern_[at_ + 1] == '*') Refuse("(*");
      ++at_;
      return;
    }
    for (const std::string_view start : {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!"}) {
      if (!Starts(start)) continue;
      at_ += start.size();
      return;
    }
    if (!Starts("(?i:")) Refuse("a group of another kind than (?: (?i: (?= (?! (?> (?<= (?<!");
    folds_ = true;
    at_ += 4;
  }

  // {2}, {2,} or {2,3}, and nothing after that would make it lazy or possessive in one of the two.
  void Braces() {
    const size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos) Refuse("{");
    const std::string_view inside = pattern_.substr(at_ + 1, end - at_ - 1);
    const bool digits = !inside.empty() && std::isdigit(static_cast<unsigned char>(inside[0])) &&
                        std::all_of(inside.begin(), inside.end(),
                                    [](unsigned char c) { return std::isdigit(c) || c == ','; }) &&
                        std::count(inside.begin(), inside.end(), ',') <= 1;
    if (!digits) Refuse("a { that does not count");
    if (end + 1 < pattern_.size() && (pattern_[end + 1] == '+' || pattern_[end + 1] == '?'))
      Refuse(fmt::format("}}{}", pattern_[end + 1]));
    at_ = end + 1;
  }

  // Pairs that Oniguruma also matches against one ligature when it ignores case.
  void FoldedPair() const {
    if (!folds_) return;
    std::string pair(pattern_.substr(at_, 2));
    for (char& c : pair) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const std::string_view ligature : {"ss", "ff", "fi", "fl", "st"})
      if (pair == ligature) Refuse(fmt::format("the pair {} without regard to case", pair));
  }

  std::string_view pattern_;
  const std::string& place_;
  size_t at_ = 0;
  bool in_class_ = false;
  bool folds_ = false;  // has a (?i: group
};

}  // namespace

void CheckPattern(std::string_view pattern, const std::string& place) { Checker(pattern, place).Run(); }

}  // namespace fullband
