#include "evals/graders/math_tokens.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace fullband {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Signs that people write for commands. Raised digits and the like are handled as groups.
constexpr std::array<std::pair<std::string_view, std::string_view>, 56> kUnicode = {{
    {"\xE2\x88\x92", "-"},
    {"\xE2\x80\x93", "-"},
    {"\xE2\x80\x94", "-"},
    {"\xC3\x97", "\\times "},
    {"\xC3\xB7", "\\div "},
    {"\xC2\xB7", "\\cdot "},
    {"\xE2\x8B\x85", "\\cdot "},
    {"\xE2\x88\x97", "*"},
    {"\xC2\xB1", "\\pm "},
    {"\xE2\x88\x93", "\\mp "},
    {"\xE2\x88\x9E", "\\infty "},
    {"\xCF\x80", "\\pi "},
    {"\xE2\x88\x9A", "\\sqrt "},
    {"\xC2\xB0", "^\\circ "},
    {"\xE2\x89\xA4", "\\le "},
    {"\xE2\x89\xA5", "\\ge "},
    {"\xE2\x89\xA0", "\\ne "},
    {"\xE2\x89\x88", "\\approx "},
    {"\xE2\x88\xAA", "\\cup "},
    {"\xE2\x88\xA9", "\\cap "},
    {"\xE2\x88\x88", "\\in "},
    {"\xE2\x88\x96", "\\setminus "},
    {"\xE2\x88\x85", "\\emptyset "},
    {"\xC2\xB2", "^2"},
    {"\xC2\xB3", "^3"},
    {"\xC2\xB9", "^1"},
    {"\xE2\x81\xB4", "^4"},
    {"\xE2\x81\xB5", "^5"},
    {"\xE2\x81\xB6", "^6"},
    {"\xE2\x81\xB7", "^7"},
    {"\xE2\x81\xB8", "^8"},
    {"\xE2\x81\xB9", "^9"},
    {"\xC2\xBD", "\\frac12 "},
    {"\xC2\xBC", "\\frac14 "},
    {"\xC2\xBE", "\\frac34 "},
    {"\xE2\x85\x93", "\\frac13 "},
    {"\xE2\x85\x94", "\\frac23 "},
    {"\xE2\x85\x9B", "\\frac18 "},
    {"\xCE\xB1", "\\alpha "},
    {"\xCE\xB2", "\\beta "},
    {"\xCE\xB3", "\\gamma "},
    {"\xCE\xB8", "\\theta "},
    {"\xCE\xBB", "\\lambda "},
    {"\xCE\xBC", "\\mu "},
    {"\xCF\x86", "\\phi "},
    {"\xCF\x89", "\\omega "},
    {"\xE2\x84\x9D", "\\mathbb{R}"},
    {"\xE2\x84\xA4", "\\mathbb{Z}"},
    {"\xC2\xA0", " "},
    {"\xE2\x80\x89", "\\,"},
    {"\xE2\x80\xAF", "\\,"},
    {"\xE2\x82\xAC", "\\$"},
    {"\xC2\xA3", "\\$"},
    {"\xC2\xA5", "\\$"},
    {"\xE2\x82\xB9", "\\$"},
    {"\xE2\x80\xB2", "'"},
}};

// No character of these changes its meaning by being written as a command.
std::string WithoutUnicode(std::string_view latex) {
  std::string text;
  text.reserve(latex.size());
  for (size_t at = 0; at < latex.size();) {
    if (static_cast<unsigned char>(latex[at]) < 0x80) {
      text += latex[at++];
      continue;
    }
    const auto found = std::find_if(kUnicode.begin(), kUnicode.end(),
                                    [&](const auto& row) { return latex.substr(at).starts_with(row.first); });
    if (found == kUnicode.end()) {
      text += latex[at++];
    } else {
      text += found->second;
      at += found->first.size();
    }
  }
  return text;
}

const std::set<std::string, std::less<>> kDropped = {
    "left",       "right",        "big",       "Big",         "bigg",     "Bigg",       "bigl",
    "bigr",       "Bigl",         "Bigr",      "biggl",       "biggr",    "Biggl",      "Biggr",
    "middle",     "displaystyle", "textstyle", "scriptstyle", "limits",   "nolimits",   "quad",
    "qquad",      "hspace*",      "hfill",     "mathstrut",   "strut",    "thinspace",  "enspace",
    "space",      "large",        "Large",     "normalsize",  "small",    "rm",         "bf",
    "it",         "mathrm",       "mathbf",    "mathit",      "mathsf",   "boldsymbol", "bm",
    "mathnormal", "pounds",       "euro",      "textdollar",  "nonumber", "mathopen",   "mathclose",
    "mathord",    "negthinspace", "unicode",   "boxed",       "fbox",     "ensuremath", "allowbreak"};
const std::set<std::string, std::less<>> kTextCommands = {
    "text", "textbf", "textit", "textrm", "texttt", "textsf", "textnormal", "mbox", "hbox", "textup", "emph"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kSame = {{
    {"dfrac", "frac"},
    {"tfrac", "frac"},
    {"cfrac", "frac"},
    {"leq", "le"},
    {"leqslant", "le"},
    {"geq", "ge"},
    {"geqslant", "ge"},
    {"neq", "ne"},
    {"varnothing", "emptyset"},
    {"dbinom", "binom"},
    {"tbinom", "binom"},
    {"degree", "circ"},
    {"lbrack", "["},
    {"rbrack", "]"},
    {"varphi", "phi"},
    {"varepsilon", "epsilon"},
    {"to", "rightarrow"},
}};

class Lexer {
 public:
  Lexer(std::string text, CommaReading reading) : text_(std::move(text)), reading_(reading) {}

  std::vector<MathToken> Read() {
    while (at_ < text_.size()) ReadOne();
    return std::move(tokens_);
  }

 private:
  char Char(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  bool At(size_t i, std::string_view what) const { return text_.compare(i, what.size(), what) == 0; }

  void Add(MathTokenKind kind, std::string text) {
    tokens_.push_back({kind, std::move(text), space_});
    space_ = false;
  }

  void ReadOne() {
    const char c = text_[at_];
    if (IsSpace(c) || c == '~') {
      space_ = true;
      ++at_;
    } else if (c == '$') {
      ++at_;
    } else if (IsDigit(c) || (c == '.' && IsDigit(Char(at_ + 1)))) {
      ReadNumber();
    } else if (IsLetter(c)) {
      ReadLetters();
    } else if (c == '\\') {
      ReadCommand();
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      size_t end = at_ + 1;
      while ((static_cast<unsigned char>(Char(end)) & 0xC0) == 0x80) ++end;
      Add(MathTokenKind::kLetter, text_.substr(at_, end - at_));
      at_ = end;
    } else {
      ReadSign(c);
    }
  }

  void ReadSign(char c) {
    if (c == '(' || c == '[') ++brackets_;
    if ((c == ')' || c == ']') && brackets_ > 0) --brackets_;
    Add(MathTokenKind::kSign, std::string(1, c));
    ++at_;
  }

  void ReadLetters() {
    size_t end = at_;
    while (IsLetter(Char(end))) ++end;
    const std::string run = text_.substr(at_, end - at_);
    static const std::set<std::string, std::less<>> names = {"sqrt", "sin", "cos", "tan", "cot", "sec",
                                                             "csc",  "log", "ln",  "exp", "pi",  "infty"};
    if (names.contains(run)) {
      Add(MathTokenKind::kCommand, run);
    } else if (run == "and" || run == "or" || (run.size() >= 2 && IsBareUnit(run))) {
      Add(MathTokenKind::kText, run);
    } else if (run.size() >= 4 && WordStandsHere()) {
      Add(MathTokenKind::kWord, run);
    } else {
      for (const char letter : run) Add(MathTokenKind::kLetter, std::string(1, letter));
    }
    at_ = end;
  }

  // Words begin or follow a space; "2abcd" and "\sqrt{abcd}" are products.
  bool WordStandsHere() const {
    if (tokens_.empty() || space_) return true;
    return std::string_view("(=,:").find(tokens_.back().text) != std::string_view::npos;
  }

  // Units written without \text, right behind a number.
  bool IsBareUnit(const std::string& run) const {
    static const std::set<std::string, std::less<>> units = {"cm", "mm",  "km", "kg",  "mg",  "ft",
                                                             "sq", "mi",  "hr", "min", "mph", "deg",
                                                             "lb", "lbs", "oz", "ml",  "mL"};
    return units.contains(run) && !tokens_.empty() &&
           (tokens_.back().kind == MathTokenKind::kNumber || tokens_.back().kind == MathTokenKind::kText ||
            tokens_.back().text == "}");
  }

  // Exactly three digits and no more.
  bool Group(size_t i) const {
    return IsDigit(Char(i)) && IsDigit(Char(i + 1)) && IsDigit(Char(i + 2)) && !IsDigit(Char(i + 3));
  }

  // The length of a thousands separator with a group behind it, or 0.
  size_t Separator(size_t i) const {
    for (const std::string_view sure : {",\\!", "{,}", "\\,", "\\;", "\\:", "\\ ", "~", "{\\,}", "'"}) {
      if (!At(i, sure)) continue;
      size_t end = i + sure.size();
      while (IsSpace(Char(end))) ++end;
      if (Group(end)) return end - i;
    }
    const bool grouping =
        reading_ == CommaReading::kAlways || (reading_ == CommaReading::kOutsideBrackets && brackets_ == 0);
    if (Char(i) == ',' && grouping && Group(i + 1)) return 1;
    if (Char(i) == ' ' && Group(i + 1)) return 1;
    return 0;
  }

  void ReadNumber() {
    std::string number;
    size_t i = at_;
    while (IsDigit(Char(i))) number += text_[i++];
    if (number.size() <= 3 && !number.empty() && number[0] != '0') {
      while (const size_t separator = Separator(i)) {
        number.append(text_, i + separator, 3);
        i += separator + 3;
      }
    }
    if (Char(i) == '.' && Char(i + 1) != '.') i = ReadDecimals(i + 1, &number);
    at_ = PowerOfTen(i, &number);
    Add(MathTokenKind::kNumber, number);
  }

  // "1.5e3", as programs print numbers. Three digits at most.
  size_t PowerOfTen(size_t i, std::string* number) const {
    if (Char(i) != 'e' && Char(i) != 'E') return i;
    size_t digits = i + 1;
    if (Char(digits) == '+' || Char(digits) == '-') ++digits;
    size_t end = digits;
    while (IsDigit(Char(end))) ++end;
    if (end == digits || end - digits > 3 || IsLetter(Char(end)) || number->ends_with(')')) return i;
    *number += 'e' + text_.substr(i + 1, end - i - 1);
    return end;
  }

  size_t ReadDecimals(size_t i, std::string* number) {
    *number += '.';
    while (IsDigit(Char(i))) *number += text_[i++];
    constexpr std::string_view kOverline = "\\overline{";
    if (At(i, kOverline)) {
      size_t end = i + kOverline.size();
      while (IsDigit(Char(end))) ++end;
      if (Char(end) == '}' && end > i + kOverline.size()) {
        *number += '(' + text_.substr(i + kOverline.size(), end - i - kOverline.size()) + ')';
        return end + 1;
      }
    }
    if (number->back() == '.') number->pop_back();  // "5." is 5
    return i;
  }

  void ReadCommand() {
    const char next = Char(at_ + 1);
    if (!IsLetter(next)) {
      at_ += 2;
      return ReadShortCommand(next);
    }
    size_t end = at_ + 1;
    while (IsLetter(Char(end))) ++end;
    std::string name = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end;
    if (kTextCommands.contains(name) || name == "operatorname") return ReadText(name == "operatorname");
    if ((name == "mathrm" || name == "mathbf" || name == "mathit") && ReadMathWord()) return;
    if (kDropped.contains(name)) {
      space_ = space_ || name.ends_with("quad");
      if ((name == "left" || name == "right") && Char(at_) == '.') ++at_;
      return;
    }
    for (const auto& [from, to] : kSame) {
      if (name == from) name = to;
    }
    if (name == "[" || name == "]") return Add(MathTokenKind::kSign, name);
    if (name == "lvert" || name == "rvert" || name == "vert") return Add(MathTokenKind::kSign, "|");
    Add(MathTokenKind::kCommand, name);
  }

  void ReadShortCommand(char c) {
    if (c == '{' || c == '}') {
      if (c == '{') ++brackets_;
      if (c == '}' && brackets_ > 0) --brackets_;
      Add(MathTokenKind::kCommand, c == '{' ? "lbrace" : "rbrace");
    } else if (c == '\\') {
      Add(MathTokenKind::kCommand, "\\");
    } else if (c == '%' || c == '|' || c == '&' || c == '_' || c == '#') {
      Add(MathTokenKind::kSign, std::string(1, c));
    } else if (c == '\0') {
      --at_;
    } else {  // spaces, \$, \( and its kin
      space_ = space_ || c == ' ' || c == ',' || c == ';' || c == ':';
    }
  }

  // {...} of letters only, as in \mathrm{cm}. A single letter is a symbol unless it stands where a unit does.
  bool ReadMathWord() {
    if (Char(at_) != '{') return false;
    size_t end = at_ + 1;
    while (IsLetter(Char(end)) || IsSpace(Char(end))) ++end;
    if (Char(end) != '}' || (end - at_ < 3 && !UnitStandsHere())) return false;
    ReadText(false);
    return true;
  }
  bool UnitStandsHere() const {
    if (tokens_.empty() || Char(at_ + 1) == 'e' || Char(at_ + 1) == 'i') return false;
    const MathToken& last = tokens_.back();
    const bool slash =
        last.text == "/" && tokens_.size() >= 2 && tokens_[tokens_.size() - 2].kind == MathTokenKind::kText;
    return last.kind == MathTokenKind::kNumber || last.kind == MathTokenKind::kText || slash;
  }

  // The group behind \text: braces inside it balance. Without a group, the command says nothing.
  void ReadText(bool is_name) {
    while (IsSpace(Char(at_))) ++at_;
    if (Char(at_) != '{') return;
    size_t end = at_ + 1;
    for (int depth = 1; end < text_.size(); ++end) {
      if (text_[end] == '\\') {
        ++end;
      } else if (text_[end] == '{') {
        ++depth;
      } else if (text_[end] == '}' && --depth == 0) {
        break;
      }
    }
    end = std::min(end, text_.size());
    std::string content = text_.substr(at_ + 1, end - at_ - 1);
    at_ = std::min(end + 1, text_.size());
    if (content.find_first_not_of(" \t\r\n~") == std::string::npos) {
      space_ = true;
      return;
    }
    Add(is_name ? MathTokenKind::kCommand : MathTokenKind::kText, std::move(content));
  }

  const std::string text_;
  const CommaReading reading_;
  std::vector<MathToken> tokens_;
  size_t at_ = 0;
  int brackets_ = 0;  // round, square and \{ \}
  bool space_ = false;
};

}  // namespace

std::vector<MathToken> MathTokens(std::string_view latex, CommaReading reading) {
  return Lexer(WithoutUnicode(latex), reading).Read();
}

bool HasAmbiguousComma(std::string_view latex) {
  for (size_t at = latex.find(','); at != std::string_view::npos; at = latex.find(',', at + 1)) {
    if (at == 0 || at + 3 >= latex.size() || !IsDigit(latex[at - 1])) continue;
    if (IsDigit(latex[at + 1]) && IsDigit(latex[at + 2]) && IsDigit(latex[at + 3])) return true;
  }
  return false;
}

std::string PlainForm(const std::vector<MathToken>& tokens) {
  std::string form;
  for (const MathToken& token : tokens) {
    switch (token.kind) {
      case MathTokenKind::kCommand:
        form += '\\' + token.text + ' ';
        break;
      case MathTokenKind::kText:
        form += "\\text{" + token.text + "}";
        break;
      default:
        // Two numbers in a row must not become one.
        if (token.kind == MathTokenKind::kNumber && !form.empty() && IsDigit(form.back())) form += ' ';
        form += token.text;
    }
  }
  return form;
}

}  // namespace fullband
