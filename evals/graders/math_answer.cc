#include "evals/graders/math_answer.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "evals/graders/math_value.h"

namespace fullband {
namespace {

using Kind = MathKind;

constexpr size_t kMaxBytes = 4000;  // longer answers are compared as text only
constexpr size_t kMaxTokens = 2000;
constexpr size_t kMaxItems = 100;  // of a list
constexpr int kMaxAsked = 8;

// What cannot vary has no label: 3 = 3 is no "3 =".
bool IsVariable(const MathNode& node) {
  if (node.kind != Kind::kSymbol) return false;
  static const std::array<std::string_view, 6> constants = {"pi", "e", "i", "infty", "±1", "∓1"};
  return std::find(constants.begin(), constants.end(), node.text) == constants.end();
}

bool Contains(const MathNode& node, bool (*what)(const MathNode&)) {
  return what(node) || std::any_of(node.parts.begin(), node.parts.end(),
                                   [&](const MathNode& part) { return Contains(part, what); });
}

bool IsPlusMinus(const MathNode& node) {
  return node.kind == Kind::kSymbol && (node.text == "±1" || node.text == "∓1");
}

MathNode Product(MathNode a, MathNode b) { return {Kind::kMultiply, "", {std::move(a), std::move(b)}}; }
MathNode Negative(MathNode a) { return Product({Kind::kNumber, "-1"}, std::move(a)); }
MathNode Infinity(bool negative) {
  MathNode infinity{Kind::kSymbol, "infty"};
  return negative ? Negative(std::move(infinity)) : infinity;
}

MathNode WithSign(MathNode node, int sign) {
  if (IsPlusMinus(node)) {
    const bool positive = (node.text == "±1") == (sign > 0);
    return {Kind::kNumber, positive ? "1" : "-1"};
  }
  for (MathNode& part : node.parts) part = WithSign(std::move(part), sign);
  return node;
}

// The name on the left of "x =", "f(x) =", "\text{Area} =", "(x, y) ="; empty for anything else.
std::string LabelName(const MathNode& node) {
  if (IsVariable(node)) return node.text;
  if (node.kind == Kind::kText) return "text";
  if (node.call && node.parts[0].kind == Kind::kSymbol) return node.parts[0].text + "()";
  if (node.kind != Kind::kTuple || !std::all_of(node.parts.begin(), node.parts.end(), IsVariable)) return "";
  std::string name = "(";
  for (const MathNode& part : node.parts) name += part.text + ',';
  return name;
}

struct Labelled {
  std::string name;  // empty: no label
  MathNode value;
};

// "x = a = b" is x's value b; what only approximates it does not count.
Labelled TakeLabel(MathNode node) {
  if (node.kind != Kind::kRelation) return {"", std::move(node)};
  const auto approximate = std::find(node.operators.begin(), node.operators.end(), "approx");
  if (approximate != node.operators.end()) {
    const bool only = approximate == node.operators.begin();
    // "x \approx 3" labels like "x = 3"; in "a = b \approx c", c says nothing new.
    if (only && !LabelName(node.parts[0]).empty()) {
      *approximate = "=";
    } else {
      node.parts.resize(static_cast<size_t>(approximate - node.operators.begin()) + 1);
      node.operators.erase(approximate, node.operators.end());
      if (node.operators.empty()) return {"", std::move(node.parts[0])};
    }
  }
  const std::string name = LabelName(node.parts[0]);
  const bool equations = std::all_of(node.operators.begin(), node.operators.end(),
                                     [](const std::string& op) { return op == "=" || op == "equiv"; });
  const bool member = node.operators.size() == 1 && node.operators[0] == "in";
  if (name.empty() || !(equations || member)) return {"", std::move(node)};
  MathNode value = std::move(node.parts.back());
  return {name, std::move(value)};
}

// "2 < x \le 5" as an interval: the variable stands alone, and nothing else varies.
class IntervalReader {
 public:
  std::optional<MathNode> Read(const MathNode& node) {
    if (node.kind == Kind::kList) return ReadList(node);
    if (node.kind != Kind::kRelation || node.parts.size() > 3) return std::nullopt;
    const auto variable = std::find_if(node.parts.begin(), node.parts.end(), IsVariable);
    if (variable == node.parts.end()) return std::nullopt;
    const size_t place = static_cast<size_t>(variable - node.parts.begin());
    if (node.operators.size() == 1 && node.operators[0] == "in" && place == 0) return node.parts[1];
    if (node.parts.size() == 3 && place != 1) return std::nullopt;
    for (size_t i = 0; i < node.parts.size(); ++i) {
      if (i != place && Contains(node.parts[i], IsVariable)) return std::nullopt;
    }
    if (node.operators.size() == 1 && node.operators[0] == "ne") return Without(node.parts[1 - place]);
    MathNode low = Infinity(true), high = Infinity(false);
    std::string brackets = "()";
    for (size_t i = 0; i < node.operators.size(); ++i) {
      const std::string& op = node.operators[i];
      const bool upward = op == "<" || op == "le";
      if (!upward && op != ">" && op != "ge") return std::nullopt;
      const bool closed = op == "le" || op == "ge";
      const size_t bound = i == place ? i + 1 : i;
      const bool is_low = (bound < place) == upward;
      (is_low ? low : high) = node.parts[bound];
      brackets[is_low ? 0 : 1] = is_low ? (closed ? '[' : '(') : (closed ? ']' : ')');
    }
    return MathNode{Kind::kTuple, brackets, {std::move(low), std::move(high)}};
  }

 private:
  std::optional<MathNode> ReadList(const MathNode& node) {
    if (node.text == "and") return std::nullopt;
    MathNode both{Kind::kUnion, "cup"};
    for (const MathNode& part : node.parts) {
      auto interval = Read(part);
      if (!interval || interval->kind != Kind::kTuple) return std::nullopt;
      both.parts.push_back(std::move(*interval));
    }
    return both;
  }

  static MathNode Without(const MathNode& point) {
    return {Kind::kUnion,
            "cup",
            {{Kind::kTuple, "()", {Infinity(true), point}}, {Kind::kTuple, "()", {point, Infinity(false)}}}};
  }
};

// A number times a matrix, as a matrix.
MathNode Distributed(MathNode node) {
  if (node.kind == Kind::kDivide && node.parts[0].kind == Kind::kMatrix) {
    MathNode matrix = std::move(node.parts[0]);
    for (MathNode& part : matrix.parts) part = {Kind::kDivide, "", {std::move(part), node.parts[1]}};
    return matrix;
  }
  if (node.kind != Kind::kMultiply) return node;
  for (MathNode& part : node.parts) part = Distributed(std::move(part));
  for (const size_t i : {0, 1}) {
    if (node.parts[i].kind != Kind::kMatrix || node.parts[1 - i].kind == Kind::kMatrix) continue;
    MathNode matrix = std::move(node.parts[i]);
    for (MathNode& part : matrix.parts) part = Product(node.parts[1 - i], std::move(part));
    return matrix;
  }
  return node;
}

// "-5%" and "2√3 cm" as a percentage and as something with a unit.
MathNode Hoisted(MathNode node) {
  if (node.kind != Kind::kMultiply) return node;
  MathNode last = Hoisted(std::move(node.parts[1]));
  const bool sign = node.parts[0].kind == Kind::kNumber || IsPlusMinus(node.parts[0]);
  if (last.kind != Kind::kUnit && !(last.kind == Kind::kPercent && sign)) {
    node.parts[1] = std::move(last);
    return node;
  }
  last.parts[0] = Product(std::move(node.parts[0]), std::move(last.parts[0]));
  return last;
}

// The one name of a unit that many have; empty for others, which are then no reason to differ.
std::string KnownUnit(std::string unit) {
  static const std::map<std::string, std::string, std::less<>> names = {
      {"cm", "cm"},         {"centimeter", "cm"}, {"centimetre", "cm"}, {"m", "m"},
      {"meter", "m"},       {"metre", "m"},       {"km", "km"},         {"kilometer", "km"},
      {"kilometre", "km"},  {"mm", "mm"},         {"millimeter", "mm"}, {"in", "in"},
      {"inch", "in"},       {"inche", "in"},      {"ft", "ft"},         {"foot", "ft"},
      {"feet", "ft"},       {"yard", "yd"},       {"yd", "yd"},         {"mile", "mi"},
      {"mi", "mi"},         {"second", "s"},      {"sec", "s"},         {"s", "s"},
      {"minute", "min"},    {"min", "min"},       {"hour", "h"},        {"hr", "h"},
      {"h", "h"},           {"day", "day"},       {"week", "week"},     {"year", "year"},
      {"degree", "degree"}, {"deg", "degree"},    {"radian", "radian"}, {"cent", "cent"},
      {"dollar", "dollar"}, {"gram", "g"},        {"kg", "kg"},         {"kilogram", "kg"},
      {"pound", "lb"},      {"lb", "lb"},         {"ounce", "oz"},      {"oz", "oz"},
      {"mph", "mph"}};
  unit = unit.substr(0, unit.find('^'));
  while (!unit.empty() && unit.back() == ' ') unit.pop_back();
  if (const auto found = names.find(unit); found != names.end()) return found->second;
  if (unit.ends_with('s')) {
    if (const auto found = names.find(unit.substr(0, unit.size() - 1)); found != names.end())
      return found->second;
  }
  return "";
}

class Comparer {
 public:
  explicit Comparer(const AskSymbolic& ask) : ask_(ask) {}

  bool Same(MathNode a, MathNode b) {
    Labelled left = TakeLabel(a), right = TakeLabel(b);
    if (!left.name.empty() && !right.name.empty() && left.name != right.name && left.name != "text" &&
        right.name != "text")
      return SameRelation(a, b);
    const bool equation = left.value.kind == Kind::kRelation || right.value.kind == Kind::kRelation;
    if (equation && a.kind == Kind::kRelation && b.kind == Kind::kRelation) {
      if (SameIntervals(a, b).value_or(false)) return true;
      return SameRelation(a, b);
    }
    return SameValue(std::move(left.value), std::move(right.value));
  }

  const std::string& detail() const { return detail_; }

 private:
  bool SameValue(MathNode a, MathNode b) {
    a = Hoisted(Distributed(std::move(a)));
    b = Hoisted(Distributed(std::move(b)));
    if (a.kind == Kind::kUnit || b.kind == Kind::kUnit) return SameUnits(std::move(a), std::move(b));
    if (const auto intervals = SameIntervals(a, b); intervals && *intervals) return true;
    if (IsCollection(a) || IsCollection(b)) return SameItems(a, b);
    if (a.kind == Kind::kPercent || b.kind == Kind::kPercent) return SamePercent(a, b);
    const bool structured = IsStructured(a) || IsStructured(b);
    if (!structured) return SameScalars(a, b);
    if (a.kind != b.kind) return false;
    switch (a.kind) {
      case Kind::kText:
        return a.text == b.text;
      case Kind::kTuple:
      case Kind::kMatrix:
      case Kind::kRatio:
        return a.text == b.text && SameInOrder(a.parts, b.parts);
      case Kind::kUnion:
        if (a.text != b.text) return false;
        return a.text == "setminus" ? SameInOrder(a.parts, b.parts) : SameInAnyOrder(a.parts, b.parts);
      case Kind::kRelation:
        return SameRelation(a, b);
      default:
        return false;
    }
  }

  static bool IsStructured(const MathNode& node) {
    switch (node.kind) {
      case Kind::kText:
      case Kind::kTuple:
      case Kind::kMatrix:
      case Kind::kRatio:
      case Kind::kUnion:
      case Kind::kRelation:
        return true;
      default:
        return false;
    }
  }

  static bool IsCollection(const MathNode& node) {
    return node.kind == Kind::kSet || node.kind == Kind::kList || Contains(node, IsPlusMinus);
  }

  bool SameUnits(MathNode a, MathNode b) {
    if (a.kind == Kind::kUnit && b.kind == Kind::kUnit) {
      const std::string left = KnownUnit(a.text), right = KnownUnit(b.text);
      if (!left.empty() && !right.empty() && left != right) return false;
    }
    for (MathNode* node : {&a, &b}) {
      while (node->kind == Kind::kUnit) {
        MathNode inside = std::move(node->parts[0]);
        *node = std::move(inside);
      }
    }
    return SameValue(std::move(a), std::move(b));
  }

  bool SamePercent(const MathNode& a, const MathNode& b) {
    const bool left = a.kind == Kind::kPercent, right = b.kind == Kind::kPercent;
    if (left && right) return SameScalars(a.parts[0], b.parts[0]);
    const MathNode& number = left ? a.parts[0] : b.parts[0];
    const MathNode& other = left ? b : a;
    return SameScalars(number, other) || SameScalars(left ? a : b, other);
  }

  // Nothing where not both are intervals, unions of them or inequalities, or none is an inequality.
  static std::optional<MathNode> AsIntervals(const MathNode& node) {
    if (node.kind == Kind::kTuple || node.kind == Kind::kUnion) return node;
    return IntervalReader().Read(node);
  }
  std::optional<bool> SameIntervals(const MathNode& a, const MathNode& b) {
    const bool inequality = a.kind == Kind::kRelation || b.kind == Kind::kRelation || a.kind == Kind::kList ||
                            b.kind == Kind::kList;
    if (!inequality) return std::nullopt;
    if (a.kind == Kind::kRelation && b.kind == Kind::kRelation && VariableOf(a) != VariableOf(b))
      return std::nullopt;
    auto left = AsIntervals(a), right = AsIntervals(b);
    if (!left || !right) return std::nullopt;
    return SameValue(std::move(*left), std::move(*right));
  }
  static std::string VariableOf(const MathNode& node) {
    const auto found = std::find_if(node.parts.begin(), node.parts.end(), IsVariable);
    return found == node.parts.end() ? "" : found->text;
  }

  // The values that an answer names: a list's, a set's, both of x ± y.
  static void Expand(const MathNode& node, std::vector<MathNode>* items) {
    if (items->size() > kMaxItems) return;
    if (node.kind == Kind::kSet || node.kind == Kind::kList) {
      for (const MathNode& part : node.parts) Expand(part, items);
      return;
    }
    if (!Contains(node, IsPlusMinus)) {
      items->push_back(node);
      return;
    }
    for (const int sign : {1, -1}) items->push_back(TakeLabel(WithSign(node, sign)).value);
  }

  bool SameItems(const MathNode& a, const MathNode& b) {
    std::vector<MathNode> left, right;
    Expand(a, &left);
    Expand(b, &right);
    if (left.size() > kMaxItems || right.size() > kMaxItems) {
      detail_ = "too_large";
      return false;
    }
    if (a.kind == Kind::kSet || b.kind == Kind::kSet) {
      RemoveDoubles(&left);
      RemoveDoubles(&right);
    }
    return SameInAnyOrder(left, right);
  }

  void RemoveDoubles(std::vector<MathNode>* items) {
    std::vector<MathNode> kept;
    for (MathNode& item : *items) {
      const bool known =
          std::any_of(kept.begin(), kept.end(), [&](const MathNode& other) { return Same(item, other); });
      if (!known) kept.push_back(std::move(item));
    }
    *items = std::move(kept);
  }

  bool SameInOrder(const std::vector<MathNode>& a, const std::vector<MathNode>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [this](const MathNode& x, const MathNode& y) { return Same(x, y); });
  }

  bool SameInAnyOrder(const std::vector<MathNode>& a, const std::vector<MathNode>& b) {
    if (a.size() != b.size()) return false;
    std::vector<bool> used(b.size());
    for (const MathNode& item : a) {
      size_t i = 0;
      while (i < b.size() && (used[i] || !Same(item, b[i]))) ++i;
      if (i == b.size()) return false;
      used[i] = true;
    }
    return true;
  }

  static MathNode Difference(const MathNode& relation, bool flip) {
    const MathNode &left = relation.parts[flip ? 1 : 0], &right = relation.parts[flip ? 0 : 1];
    return {Kind::kAdd, "", {left, Negative(right)}};
  }

  bool SameRelation(const MathNode& a, const MathNode& b) {
    if (a.kind != Kind::kRelation || b.kind != Kind::kRelation || a.parts.size() != b.parts.size())
      return false;
    const auto downward = [](const std::string& op) { return op == ">" || op == "ge"; };
    const auto upward = [](const std::string& op) { return op == ">" ? "<" : op == "ge" ? "le" : op; };
    if (a.parts.size() > 2) return a.operators == b.operators && SameInOrder(a.parts, b.parts);
    const std::string op = upward(a.operators[0]);
    if (op != upward(b.operators[0])) return false;
    if (op != "=" && op != "<" && op != "le" && op != "ne") return SameInOrder(a.parts, b.parts);
    const MathNode left = Difference(a, downward(a.operators[0])),
                   right = Difference(b, downward(b.operators[0]));
    const bool ordered = op == "<" || op == "le";
    try {
      const MathScalar x = EvaluateMath(left, 1), y = EvaluateMath(right, 1);
      if (x.huge || y.huge) return TooLarge();
      if (Proportional(x, y, ordered)) return true;
      if (!x.opaque && !y.opaque) return false;
    } catch (const NotAScalar&) {
      return SameInOrder(a.parts, b.parts);
    } catch (const MathLimit&) {
      return TooLarge();
    }
    return Ask(left, right) || (!ordered && Ask(left, Negative(right)));
  }

  bool TooLarge() {
    detail_ = "too_large";
    return false;
  }

  bool Ask(const MathNode& a, const MathNode& b) {
    if (++asked_ > kMaxAsked) return TooLarge();
    return ask_(a, b);
  }

  bool SameScalars(const MathNode& a, const MathNode& b) {
    try {
      const MathScalar x = EvaluateMath(a, 1), y = EvaluateMath(b, 1);
      if (SameScalar(x, y)) return true;
      if (!x.opaque && !y.opaque) return false;
      if (x.huge || y.huge) {
        const bool infinite = Contains(a, IsInfinity) || Contains(b, IsInfinity);
        return infinite ? false : TooLarge();
      }
      if (!x.variables && !y.variables) return SameNumerically(a, b, 1, 1) == 1;
    } catch (const NotAScalar&) {
      return false;
    } catch (const MathLimit&) {
      return TooLarge();
    }
    return Ask(a, b);
  }

  static bool IsInfinity(const MathNode& node) { return node.kind == Kind::kSymbol && node.text == "infty"; }

  const AskSymbolic& ask_;
  std::string detail_;
  int asked_ = 0;
};

// Words alone: \text{...}, or letters that may be meant as such. `certain` where something says that they
// are.
struct WordAnswer {
  std::string words;
  bool certain = false;
};

std::optional<WordAnswer> AsWords(const std::vector<MathToken>& tokens) {
  WordAnswer answer;
  for (const MathToken& token : tokens) {
    const bool bracket = token.kind == MathTokenKind::kSign &&
                         std::string_view("()[]{}.,!'\"`*").find(token.text) != std::string_view::npos;
    const bool letters = token.kind == MathTokenKind::kText || token.kind == MathTokenKind::kWord ||
                         token.kind == MathTokenKind::kLetter;
    if (bracket) continue;
    if (!letters) return std::nullopt;
    const bool hides_number = token.text.find_first_of("0123456789\\^_=") != std::string::npos;
    if (hides_number) return std::nullopt;
    if (token.kind != MathTokenKind::kLetter) {
      const bool lower =
          std::any_of(token.text.begin(), token.text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
      answer.certain = answer.certain || token.kind == MathTokenKind::kText || lower;
    }
    if (token.after_space) answer.words += ' ';
    answer.words += token.text;
  }
  answer.words = PlainWords(answer.words);
  if (answer.words.empty()) return std::nullopt;
  return answer;
}

// "(C)" at the beginning, in words: the letter of an option. `alone`: nothing stands behind it.
struct Option {
  char letter;
  bool alone;
};

std::optional<Option> AsOption(const std::vector<MathToken>& tokens) {
  if (tokens.empty() || tokens[0].kind != MathTokenKind::kText) return std::nullopt;
  std::string text = tokens[0].text;
  std::erase_if(text, [](char c) { return c == ' ' || c == '~' || c == '.' || c == ':'; });
  if (text.size() != 3 || text[0] != '(' || text[2] != ')' || text[1] < 'A' || text[1] > 'H')
    return std::nullopt;
  return Option{text[1], tokens.size() == 1};
}

// An option and the same with its value behind it. Nothing where it is not one of each.
std::optional<bool> SameOption(const std::vector<MathToken>& a, const std::vector<MathToken>& b) {
  const auto left = AsOption(a), right = AsOption(b);
  if (!left || !right || left->alone == right->alone) return std::nullopt;
  return left->letter == right->letter;
}

// "2516_8", "\text{A3}_{16}": digits, and a base where it has one.
struct Numeral {
  std::string digits, base;
};

std::string WithoutWrapping(std::string text) {
  std::string inside;
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, 5, "\\text") == 0) {
      at += 5;
    } else if (std::string_view("{}() ").find(text[at]) != std::string_view::npos) {
      ++at;
    } else {
      inside += text[at++];
    }
  }
  return inside;
}

std::optional<Numeral> AsNumeral(const std::string& form) {
  static const std::array<std::string_view, 17> names = {
      "",     "",    "two",    "three",  "four", "five", "six", "seven",  "eight",
      "nine", "ten", "eleven", "twelve", "",     "",     "",    "sixteen"};
  const size_t mark = form.rfind('_');
  Numeral numeral{WithoutWrapping(form.substr(0, mark)), ""};
  if (mark != std::string::npos) {
    numeral.base = WithoutWrapping(form.substr(mark + 1));
    for (size_t i = 2; i < names.size(); ++i) {
      if (!names[i].empty() && numeral.base == names[i]) numeral.base = std::to_string(i);
    }
    const bool number = !numeral.base.empty() && numeral.base.size() <= 2 &&
                        numeral.base.find_first_not_of("0123456789") == std::string::npos;
    if (!number) return std::nullopt;
  }
  bool has_digit = false;
  for (char& c : numeral.digits) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    const bool digit = c >= '0' && c <= '9';
    if (!digit && !(c >= 'A' && c <= 'Z') && c != '-') return std::nullopt;
    has_digit = has_digit || digit;
  }
  numeral.digits.erase(0, std::min(numeral.digits.find_first_not_of('0'), numeral.digits.size()));
  if (!has_digit) return std::nullopt;
  return numeral;
}

// "x=52_8" without its label.
std::string WithoutLabel(const std::string& form) {
  const size_t equals = form.find('=');
  const bool label = equals != std::string::npos && form.find_first_of("0123456789") > equals;
  return label ? form.substr(equals + 1) : form;
}

// Nothing where neither is a numeral with a base.
std::optional<bool> SameNumerals(const std::string& a, const std::string& b) {
  const auto left = AsNumeral(WithoutLabel(a)), right = AsNumeral(WithoutLabel(b));
  if ((!left || left->base.empty()) && (!right || right->base.empty())) return std::nullopt;
  if (!left || !right) return std::nullopt;
  const bool both = !left->base.empty() && !right->base.empty();
  return left->digits == right->digits && (!both || left->base == right->base);
}

// Without what ends a sentence.
std::vector<MathToken> AnswerTokens(std::string_view text, CommaReading reading) {
  std::vector<MathToken> tokens = MathTokens(text, reading);
  while (!tokens.empty() && tokens.back().kind == MathTokenKind::kSign &&
         std::string_view(".,;").find(tokens.back().text) != std::string_view::npos) {
    tokens.pop_back();
  }
  return tokens;
}

}  // namespace

MathComparison SameAnswer(std::string_view a, std::string_view b, const AskSymbolic& ask) {
  const bool ambiguous = HasAmbiguousComma(a) || HasAmbiguousComma(b);
  Comparer comparer(ask);
  bool understood = false;
  for (const CommaReading reading :
       {CommaReading::kOutsideBrackets, CommaReading::kNever, CommaReading::kAlways}) {
    if (reading != CommaReading::kOutsideBrackets && !ambiguous) break;
    const std::vector<MathToken> left = AnswerTokens(a, reading), right = AnswerTokens(b, reading);
    const std::string left_form = PlainForm(left), right_form = PlainForm(right);
    if (left_form == right_form && !left_form.empty()) return {true, ""};
    if (a.size() > kMaxBytes || b.size() > kMaxBytes || left.size() > kMaxTokens || right.size() > kMaxTokens)
      return {false, "too_large"};
    if (const auto same = SameOption(left, right)) return {*same, ""};
    const auto left_words = AsWords(left), right_words = AsWords(right);
    if (left_words && right_words && (left_words->certain || right_words->certain))
      return {left_words->words == right_words->words, ""};
    if (const auto same = SameNumerals(left_form, right_form)) return {*same, ""};
    auto left_tree = ParseMath(left), right_tree = ParseMath(right);
    if (!left_tree || !right_tree) continue;
    understood = true;
    if (comparer.Same(std::move(*left_tree), std::move(*right_tree))) return {true, ""};
  }
  return {false, understood ? comparer.detail() : "not_understood"};
}

}  // namespace fullband
