#include "evals/graders/numbers.h"

#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <optional>

namespace fullband {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The parts of a number's spelling that are more than one byte long.
constexpr std::array<std::string_view, 7> kMinusSigns = {
    "-", "\xE2\x88\x92", "\xE2\x80\x90", "\xE2\x80\x91", "\xE2\x80\x93", "\xEF\xB9\xA3", "\xEF\xBC\x8D"};
constexpr std::array<std::string_view, 9> kSeparators = {
    "{,}", ",\\!", "\\,", "\\!", "'", "\xE2\x80\x99", "\xC2\xA0", "\xE2\x80\xAF", "_"};
constexpr std::array<std::string_view, 4> kFractionCommands = {"\\frac", "\\dfrac", "\\tfrac", "\\cfrac"};
constexpr std::array<std::string_view, 5> kContinuations = {"^", "\\sqrt", "\xE2\x88\x9A", "\\pi",
                                                            "\xCF\x80"};

struct Vulgar {
  std::string_view sign, text;
};
constexpr std::array<Vulgar, 9> kVulgarFractions = {{{"\xC2\xBD", "1/2"},
                                                     {"\xC2\xBC", "1/4"},
                                                     {"\xC2\xBE", "3/4"},
                                                     {"\xE2\x85\x93", "1/3"},
                                                     {"\xE2\x85\x94", "2/3"},
                                                     {"\xE2\x85\x9B", "1/8"},
                                                     {"\xE2\x85\x9C", "3/8"},
                                                     {"\xE2\x85\x9D", "5/8"},
                                                     {"\xE2\x85\x9E", "7/8"}}};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<NumberToken> Scan() {
    std::vector<NumberToken> tokens;
    while (at_ < text_.size()) {
      const size_t body = at_;
      NumberToken token;
      if (!ReadBody(&token)) {
        ++at_;
        continue;
      }
      if (BelongsToName(body)) continue;
      token.end = at_;
      ReadPrefix(body, &token);
      tokens.push_back(std::move(token));
    }
    return tokens;
  }

 private:
  char Char(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  bool At(size_t i, std::string_view what) const {
    return text_.substr(std::min(i, text_.size()), what.size()) == what;
  }

  template <typename List>
  size_t Length(size_t i, const List& list) const {
    for (std::string_view what : list) {
      if (At(i, what)) return what.size();
    }
    return 0;
  }
  // The same for what ends before `i`.
  template <typename List>
  size_t LengthBefore(size_t i, const List& list) const {
    for (std::string_view what : list) {
      if (i >= what.size() && At(i - what.size(), what)) return what.size();
    }
    return 0;
  }

  size_t DigitsEnd(size_t i) const {
    while (IsDigit(Char(i))) ++i;
    return i;
  }
  // Exactly `count` digits and no more.
  bool Group(size_t i, size_t count) const {
    for (size_t k = 0; k < count; ++k) {
      if (!IsDigit(Char(i + k))) return false;
    }
    return !IsDigit(Char(i + count));
  }

  // Reads a number without its sign at at_ and moves past it. False where none begins there.
  bool ReadBody(NumberToken* token) {
    begin_ = at_;
    if (IsDigit(Char(at_)) || LeadingPoint(at_)) {
      const bool whole = ReadDecimal(token);
      ReadFractionPart(token, whole);
    } else if (!ReadFractionCommand(token) && !ReadVulgar(token)) {
      return false;
    }
    if (Length(at_, kContinuations) > 0 && token->value) token->value = false;
    if (!token->value) ReadRest(token);
    return true;
  }

  // ".5", but not the last dot of an ellipsis or of an abbreviation.
  bool LeadingPoint(size_t i) const {
    if (Char(i) != '.' || !IsDigit(Char(i + 1))) return false;
    return i == 0 || (text_[i - 1] != '.' && !IsLetter(text_[i - 1]) && !IsDigit(text_[i - 1]));
  }

  // Digits with separators, a decimal part, a power of ten. True where it is a plain whole number.
  bool ReadDecimal(NumberToken* token) {
    bool whole = ReadWhole(token);
    if (Char(at_) == '.' && IsDigit(Char(at_ + 1))) {
      const size_t end = DigitsEnd(at_ + 1);
      token->text.append(text_, at_, end - at_);
      at_ = end;
      whole = false;
      if ((Char(at_) == '.' || Char(at_) == ',') && IsDigit(Char(at_ + 1))) token->value = false;
    }
    if (Char(at_) == 'e' || Char(at_) == 'E') whole = !ReadPowerOfTen(token) && whole;
    if (Char(at_) == ':' && IsDigit(Char(at_ + 1))) token->value = false;
    return whole;
  }

  bool ReadWhole(NumberToken* token) {
    const size_t first = DigitsEnd(at_);
    const size_t length = first - at_;
    token->text.append(text_, at_, length);
    const bool groups = length >= 1 && length <= 3 && text_[at_] != '0';
    at_ = first;
    if (groups && !ReadIndianGroups(token, length)) ReadGroups(token);
    if (Char(at_) == ',' && IsDigit(Char(at_ + 1))) token->value = false;  // 12,5 is neither 12 nor 5
    return length > 0;
  }

  void ReadGroups(NumberToken* token) {
    while (true) {
      size_t separator = Length(at_, kSeparators);
      if (separator == 0 && Char(at_) == ',') separator = 1;
      if (separator == 0 || !Group(at_ + separator, 3)) return;
      token->text.append(text_, at_ + separator, 3);
      at_ += separator + 3;
    }
  }

  // 1,00,000: groups of two, the last of three.
  bool ReadIndianGroups(NumberToken* token, size_t first) {
    if (first > 2) return false;
    size_t i = at_;
    std::string digits;
    while (Char(i) == ',' && Group(i + 1, 2)) {
      digits.append(text_, i + 1, 2);
      i += 3;
    }
    if (digits.empty() || Char(i) != ',' || !Group(i + 1, 3)) return false;
    digits.append(text_, i + 1, 3);
    token->text += digits;
    at_ = i + 4;
    return true;
  }

  bool ReadPowerOfTen(NumberToken* token) {
    size_t i = at_ + 1;
    if (Char(i) == '+' || Char(i) == '-') ++i;
    const size_t end = DigitsEnd(i);
    if (end == i || end - i > 3 || IsLetter(Char(end))) return false;
    token->text.append(text_, at_, end - at_);
    at_ = end;
    return true;
  }

  // After a number: its denominator, or the fraction of a mixed number.
  void ReadFractionPart(NumberToken* token, bool whole) {
    if (!token->value) return;
    if (Char(at_) == '/' && (IsDigit(Char(at_ + 1)) || LeadingPoint(at_ + 1))) {
      token->text += '/';
      ++at_;
      ReadDecimal(token);
      if (Char(at_) == '/' && IsDigit(Char(at_ + 1))) token->value = false;
      return;
    }
    if (!whole) return;
    NumberToken fraction;
    const size_t start = at_;
    if (Char(at_) == ' ') ++at_;
    if (ReadFractionCommand(&fraction) || ReadVulgar(&fraction) ||
        (at_ > start && ReadSimpleFraction(&fraction))) {
      token->text += ' ' + fraction.text;
      token->value = fraction.value;
    } else {
      at_ = start;
    }
  }

  // d/d with the numerator smaller: the fraction of "2 1/2", but not of "5 12/3".
  bool ReadSimpleFraction(NumberToken* token) {
    const size_t slash = DigitsEnd(at_);
    if (slash == at_ || Char(slash) != '/') return false;
    const size_t end = DigitsEnd(slash + 1);
    if (end == slash + 1 || Char(end) == '/') return false;
    const std::string_view a = text_.substr(at_, slash - at_), b = text_.substr(slash + 1, end - slash - 1);
    if (a.size() > b.size() || (a.size() == b.size() && a >= b)) return false;
    token->text.assign(text_, at_, end - at_);
    at_ = end;
    return true;
  }

  // \frac{a}{b} and \frac ab with digits only; others are left to be read piece by piece.
  bool ReadFractionCommand(NumberToken* token) {
    const size_t command = Length(at_, kFractionCommands);
    if (command == 0) return false;
    size_t i = at_ + command;
    std::string parts[2];
    for (std::string& part : parts) {
      while (Char(i) == ' ') ++i;
      if (IsDigit(Char(i))) {
        part = text_[i++];
        continue;
      }
      if (Char(i) != '{') return false;
      const size_t begin = i + 1;
      const size_t digits = &part == parts && Char(begin) == '-' ? begin + 1 : begin;
      i = DigitsEnd(digits);
      if (i == digits || Char(i) != '}') return false;
      part.assign(text_, begin, i - begin);
      ++i;
    }
    token->text = parts[0] + '/' + parts[1];
    at_ = i;
    return true;
  }

  bool ReadVulgar(NumberToken* token) {
    for (const Vulgar& vulgar : kVulgarFractions) {
      if (!At(at_, vulgar.sign)) continue;
      token->text = vulgar.text;
      at_ += vulgar.sign.size();
      return true;
    }
    return false;
  }

  // What hangs together with something that is no value: 3:30:15, 12/25/2020, 1.2.3, 10^6.
  void ReadRest(NumberToken* token) {
    constexpr std::string_view kJoints = ".,:/^{}";
    while (IsDigit(Char(at_)) || (kJoints.find(Char(at_)) != std::string_view::npos && at_ < text_.size())) {
      if ((Char(at_) == '.' || Char(at_) == ',' || Char(at_) == ':') && !IsDigit(Char(at_ + 1))) break;
      if (Char(at_) == '}' && text_.substr(begin_, at_ - begin_).find('{') == std::string_view::npos) break;
      ++at_;
    }
    token->text.assign(text_, begin_, at_ - begin_);
  }

  // x1, a_2, 10^2: a single letter, an underscore or a caret right before the digits.
  bool BelongsToName(size_t body) const {
    if (body == 0) return false;
    const char before = text_[body - 1];
    if (before == '_' || before == '^') return true;
    return IsLetter(before) && (body == 1 || !IsLetter(text_[body - 2]));
  }

  size_t CurrencyBefore(size_t i) const {
    if (i >= 2 && text_[i - 1] == '$' && text_[i - 2] == '\\') return 2;
    if (i >= 1 && text_[i - 1] == '$') return 1;
    if (LengthBefore(i, std::array<std::string_view, 2>{"\xC2\xA3", "\xC2\xA5"}) > 0) return 2;
    // U+20A0 to U+20CF, the block of currency signs.
    if (i >= 3 && text_[i - 3] == '\xE2' && (text_[i - 2] == '\x82' || text_[i - 2] == '\x83')) {
      const unsigned char last = static_cast<unsigned char>(text_[i - 1]);
      if (text_[i - 2] == '\x82' ? last >= 0xA0 : last <= 0x8F) return 3;
    }
    return 0;
  }

  size_t SkipSpacesBack(size_t i) const {
    while (i > 0 && text_[i - 1] == ' ') --i;
    return i;
  }

  // Sign and currency before the digits at `body`, in either order.
  void ReadPrefix(size_t body, NumberToken* token) {
    size_t begin = body;
    if (size_t currency = CurrencyBefore(SkipSpacesBack(begin)); currency > 0) {
      begin = SkipSpacesBack(begin) - currency;
    }
    bool negative = false;
    const size_t sign_end = SkipSpacesBack(begin);
    if (const size_t minus = LengthBefore(sign_end, kMinusSigns); minus > 0) {
      if (IsSign(sign_end - minus, sign_end < begin)) {
        negative = true;
        begin = sign_end - minus;
      }
    }
    if (size_t currency = negative ? CurrencyBefore(begin) : 0; currency > 0) begin -= currency;
    token->begin = begin;
    if (negative && token->value) {
      // \frac{-3}{4} may bring a sign of its own.
      token->text = token->text.front() == '-' ? token->text.substr(1) : '-' + token->text;
    }
  }

  // Whether the minus sign that begins at `i` stands where a value begins. One with a space after it is an
  // operator or a list's dash unless an opening or relational character comes before.
  bool IsSign(size_t i, bool space_after) const {
    const size_t before = SkipSpacesBack(i);
    if (before == 0) return !space_after;
    const char c = text_[before - 1];
    if (space_after) return std::string_view("=#({<>").find(c) != std::string_view::npos;
    const bool adjacent = before == i;
    if (IsDigit(c) || c == ')' || c == '}' || c == ']' || c == '%') return false;
    if (!adjacent || CurrencyBefore(i) > 0) return true;
    return !IsLetter(c) && c != '-' && !AccentedLetterBefore(i);
  }

  // Letters of two bytes in UTF-8 (Latin, Greek, Cyrillic), and raised digits; neither the signs of
  // multiplication and division nor what takes three bytes, where punctuation and unspaced scripts are.
  bool AccentedLetterBefore(size_t i) const {
    if (i < 2 || LengthBefore(i, std::array<std::string_view, 2>{"\xC3\x97", "\xC3\xB7"}) > 0) return false;
    const unsigned char lead = static_cast<unsigned char>(text_[i - 2]);
    return lead >= 0xC2 && lead <= 0xDF;
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t begin_ = 0;  // of the number that is being read
};

// A cleaned number as numerator / denominator, both plain decimals in one canonical spelling.
struct Ratio {
  std::string numerator, denominator = "1";
};

// "-007.50" -> "-7.5", "-0" -> "0", "1.5e3" -> "1500". Empty where it is no decimal.
std::string CanonicalDecimal(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  long exponent = 0;
  if (const size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    exponent = std::strtol(std::string(text.substr(e + 1)).c_str(), nullptr, 10);
    text = text.substr(0, e);
  }
  const size_t point = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, point));
  if (point < text.size()) digits += text.substr(point + 1);
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), IsDigit)) return "";
  long whole = static_cast<long>(point) + exponent;  // digits before the decimal point
  if (whole < 0) {
    digits.insert(0, static_cast<size_t>(-whole), '0');
    whole = 0;
  }
  if (static_cast<size_t>(whole) > digits.size())
    digits.append(static_cast<size_t>(whole) - digits.size(), '0');
  std::string before = digits.substr(0, static_cast<size_t>(whole)),
              after = digits.substr(static_cast<size_t>(whole));
  before.erase(0, std::min(before.find_first_not_of('0'), before.size()));
  after.erase(after.find_last_not_of('0') + 1);
  if (before.empty()) before = "0";
  std::string result = after.empty() ? before : before + '.' + after;
  return negative && result != "0" ? '-' + result : result;
}

std::optional<Ratio> ParseRatio(std::string_view text) {
  const size_t slash = text.find('/');
  Ratio ratio;
  ratio.numerator = CanonicalDecimal(text.substr(0, slash));
  if (slash != std::string_view::npos) ratio.denominator = CanonicalDecimal(text.substr(slash + 1));
  if (ratio.numerator.empty() || ratio.denominator.empty() || ratio.denominator == "0") return std::nullopt;
  return ratio;
}

// Beyond this many digits a fraction equals only itself: multiplying is quadratic.
constexpr size_t kMaxFractionDigits = 1000;

using Integer = boost::multiprecision::cpp_int;

// A decimal as an integer and a number of decimal places.
std::pair<Integer, size_t> Scaled(std::string decimal) {
  const size_t point = decimal.find('.');
  const size_t places = point == std::string::npos ? 0 : decimal.size() - point - 1;
  if (places > 0) decimal.erase(point, 1);
  const bool negative = decimal.starts_with('-');
  // A leading zero would be read as octal.
  const size_t first = decimal.find_first_not_of("-0");
  if (first == std::string::npos) return {Integer(0), places};
  Integer value(decimal.substr(first));
  return {negative ? Integer(-value) : value, places};
}

// "2 1/2" -> 5/2; others as they are.
std::optional<Ratio> ParseValue(std::string_view text) {
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) return ParseRatio(text);
  const std::optional<Ratio> fraction = ParseRatio(text.substr(space + 1));
  const std::string whole = CanonicalDecimal(text.substr(0, space));
  if (!fraction || whole.empty() || text.size() > kMaxFractionDigits) return std::nullopt;
  const Integer denominator = Scaled(fraction->denominator).first, part = Scaled(fraction->numerator).first;
  Integer value = boost::multiprecision::abs(Scaled(whole).first) * denominator + part;
  if (text.front() == '-') value = -value;
  return Ratio{value.str(), fraction->denominator};
}

bool SameProduct(const std::string& a, const std::string& b, const std::string& c, const std::string& d) {
  auto [left, left_places] = Scaled(a);
  auto [left2, left2_places] = Scaled(b);
  auto [right, right_places] = Scaled(c);
  auto [right2, right2_places] = Scaled(d);
  left *= left2;
  right *= right2;
  left_places += left2_places;
  right_places += right2_places;
  const Integer ten = 10;
  if (left_places < right_places) left *= pow(ten, static_cast<unsigned>(right_places - left_places));
  if (right_places < left_places) right *= pow(ten, static_cast<unsigned>(left_places - right_places));
  return left == right;
}

}  // namespace

std::vector<NumberToken> ScanNumbers(std::string_view text) { return Scanner(text).Scan(); }

bool SameNumber(std::string_view a, std::string_view b) {
  const std::optional<Ratio> x = ParseValue(a), y = ParseValue(b);
  if (!x || !y) return false;
  if (x->denominator == y->denominator) return x->numerator == y->numerator;
  if (a.size() > kMaxFractionDigits || b.size() > kMaxFractionDigits) return false;
  return SameProduct(x->numerator, y->denominator, y->numerator, x->denominator);
}

}  // namespace fullband
