// By recursive descent. From loose to tight: lists, relations, unions, ratios, sums, products, powers.
#include <algorithm>
#include <set>
#include <utility>

#include "evals/graders/math_tree.h"

namespace fullband {
namespace {

constexpr int kMaxDepth = 120;
// Of the tree: a chain of products or quotients goes down one node a factor, and all that walk it recurse.
constexpr int kMaxHeight = 600;

struct NotUnderstood {};

using Kind = MathKind;
using TokenKind = MathTokenKind;

const std::set<std::string, std::less<>> kFunctions = {
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh",   "cosh", "tanh",
    "log", "ln",  "exp", "max", "min", "gcd", "lcm",    "arcsec", "arccsc", "arccot", "det",  "lg"};
const std::set<std::string, std::less<>> kRelations = {"le",       "ge",    "ne",        "in",  "approx",
                                                       "lt",       "gt",    "equiv",     "sim", "subset",
                                                       "subseteq", "notin", "rightarrow"};
const std::set<std::string, std::less<>> kAccents = {
    "overline", "vec",     "hat",     "bar",       "widehat", "overrightarrow",
    "mathbb",   "mathcal", "overarc", "underline", "tilde"};

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool HasDigit(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

MathNode Node(Kind kind, std::string text, std::vector<MathNode> parts = {}) {
  return {kind, std::move(text), std::move(parts)};
}
MathNode Number(std::string text) { return Node(Kind::kNumber, std::move(text)); }
MathNode Times(MathNode a, MathNode b) { return Node(Kind::kMultiply, "", {std::move(a), std::move(b)}); }

bool IsWholeNumber(const MathNode& node) {
  return node.kind == Kind::kNumber && node.text.find_first_not_of("0123456789") == std::string::npos;
}

class Parser {
 public:
  Parser(std::vector<MathToken> tokens, int depth) : tokens_(std::move(tokens)), depth_(depth) {}

  MathNode Whole() {
    MathNode node = List();
    if (!AtEnd()) throw NotUnderstood();
    return node;
  }

 private:
  // What the grammar recurses through holds one of these.
  class Level {
   public:
    explicit Level(int* depth) : depth_(depth) {
      if (++*depth_ > kMaxDepth) {
        --*depth_;
        throw NotUnderstood();
      }
    }
    ~Level() { --*depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int* depth_;
  };

  bool AtEnd() const { return at_ >= tokens_.size(); }
  const MathToken& Peek(size_t ahead = 0) const {
    static const MathToken end{TokenKind::kSign, ""};
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead] : end;
  }
  bool Is(TokenKind kind, std::string_view text) const {
    return !AtEnd() && Peek().kind == kind && Peek().text == text;
  }
  bool IsSign(std::string_view text) const { return Is(TokenKind::kSign, text); }
  bool IsCommand(std::string_view text) const { return Is(TokenKind::kCommand, text); }
  bool Take(TokenKind kind, std::string_view text) {
    if (!Is(kind, text)) return false;
    ++at_;
    return true;
  }
  bool TakeSign(std::string_view text) { return Take(TokenKind::kSign, text); }
  bool TakeCommand(std::string_view text) { return Take(TokenKind::kCommand, text); }
  void Need(TokenKind kind, std::string_view text) {
    if (!Take(kind, text)) throw NotUnderstood();
  }

  // "and" or "or", or nothing.
  std::string TakeJoiningWord() {
    if (AtEnd() || Peek().kind != TokenKind::kText) return "";
    const std::string words = PlainWords(Peek().text);
    if (words != "and" && words != "or") return "";
    ++at_;
    return words;
  }

  // True where there is one; its word, if it has any, goes to `word`.
  bool TakeSeparator(std::string* word) {
    const bool sign = TakeSign(",") || TakeSign(";");
    const std::string joining = TakeJoiningWord();
    if (!joining.empty()) *word = joining;
    return sign || !joining.empty();
  }

  MathNode List() {
    const Level level(&depth_);
    std::vector<MathNode> items;
    items.push_back(Relation());
    std::string word;
    while (TakeSeparator(&word)) items.push_back(Relation());
    if (items.size() == 1) return std::move(items[0]);
    return Node(Kind::kList, word, std::move(items));
  }

  std::optional<std::string> TakeRelation() {
    if (AtEnd()) return std::nullopt;
    const MathToken& token = Peek();
    const bool sign =
        token.kind == TokenKind::kSign && (token.text == "=" || token.text == "<" || token.text == ">");
    const bool command = token.kind == TokenKind::kCommand && kRelations.contains(token.text);
    if (!sign && !command) return std::nullopt;
    std::string text = token.text == "lt" ? "<" : token.text == "gt" ? ">" : token.text;
    ++at_;
    if (sign && text != "=" && TakeSign("=")) text = text == "<" ? "le" : "ge";
    return text;
  }

  MathNode Relation() {
    // "\approx 3.1": nothing stands before it.
    TakeCommand("approx");
    TakeCommand("therefore");
    MathNode relation = Node(Kind::kRelation, "");
    relation.parts.push_back(Union());
    while (auto op = TakeRelation()) {
      relation.operators.push_back(*op);
      relation.parts.push_back(Union());
    }
    if (relation.operators.empty()) return std::move(relation.parts[0]);
    return relation;
  }

  MathNode Union() {
    MathNode left = Ratio();
    for (const std::string_view op : {"cup", "cap", "setminus"}) {
      if (!IsCommand(op)) continue;
      MathNode node = Node(Kind::kUnion, std::string(op));
      node.parts.push_back(std::move(left));
      while (TakeCommand(op)) node.parts.push_back(Ratio());
      left = std::move(node);
    }
    return left;
  }

  MathNode Ratio() {
    MathNode ratio = Node(Kind::kRatio, "");
    ratio.parts.push_back(Sum());
    while (TakeSign(":")) ratio.parts.push_back(Sum());
    if (ratio.parts.size() == 1) return std::move(ratio.parts[0]);
    return ratio;
  }

  // The factor that a sign in front of a term stands for, or nothing.
  std::optional<MathNode> TakePlusMinus() {
    if (TakeSign("+")) return Number("1");
    if (TakeSign("-")) return Number("-1");
    if (TakeCommand("pm")) return Node(Kind::kSymbol, "±1");
    if (TakeCommand("mp")) return Node(Kind::kSymbol, "∓1");
    return std::nullopt;
  }

  static MathNode Signed(MathNode sign, MathNode term) {
    if (sign.kind == Kind::kNumber && sign.text == "1") return term;
    return Times(std::move(sign), std::move(term));
  }

  MathNode Sum() {
    const Level level(&depth_);
    MathNode sum = Node(Kind::kAdd, "");
    auto sign = TakePlusMinus();
    while (true) {
      MathNode term = Product();
      sum.parts.push_back(sign ? Signed(std::move(*sign), std::move(term)) : std::move(term));
      sign = TakePlusMinus();
      if (!sign) break;
    }
    if (sum.parts.size() == 1) return std::move(sum.parts[0]);
    return sum;
  }

  // What can begin a factor that stands directly behind another one.
  bool FactorAhead() const {
    if (AtEnd()) return false;
    const MathToken& token = Peek();
    switch (token.kind) {
      case TokenKind::kNumber:
      case TokenKind::kLetter:
        return true;
      case TokenKind::kWord:
      case TokenKind::kText:
        return false;  // a unit: read behind the factor that it follows
      case TokenKind::kCommand: {
        static const std::set<std::string, std::less<>> none = {
            "rbrace",    "pm",    "mp",   "cup",  "cap",  "setminus", "times",  "cdot",
            "div",       "ast",   "end",  "\\",   "mid",  "rangle",   "rfloor", "rceil",
            "therefore", "colon", "bmod", "pmod", "quad", "star"};
        return !none.contains(token.text) && !kRelations.contains(token.text);
      }
      case TokenKind::kSign:
        return token.text == "(" || token.text == "{" || token.text == "[" ||
               (token.text == "|" && bars_ == 0);
    }
    return false;
  }

  MathNode Product() {
    MathNode left = Power();
    while (true) {
      if (TakeSign("*") || TakeCommand("times") || TakeCommand("cdot") || TakeCommand("ast")) {
        left = Times(std::move(left), SignedPower());
      } else if (TakeSign("/") || TakeCommand("div")) {
        left = Node(Kind::kDivide, "", {std::move(left), SignedPower()});
      } else if (FactorAhead()) {
        left = Juxtaposed(std::move(left));
      } else {
        return left;
      }
    }
  }

  MathNode SignedPower() {
    if (auto sign = TakePlusMinus()) return Signed(std::move(*sign), SignedPower());
    const Level level(&depth_);
    return Power();
  }

  // Behind a whole number, a proper fraction of whole numbers makes a mixed number.
  MathNode Juxtaposed(MathNode left) {
    const bool number_ahead = Peek().kind == TokenKind::kNumber;
    if (IsWholeNumber(left) && number_ahead) {
      MathNode numerator = Number(Peek().text);
      ++at_;
      if (!TakeSign("/")) throw NotUnderstood();
      MathNode fraction = Node(Kind::kDivide, "", {std::move(numerator), Power()});
      if (!IsProperFraction(fraction)) throw NotUnderstood();
      return Node(Kind::kAdd, "", {std::move(left), std::move(fraction)});
    }
    if (number_ahead && left.kind == Kind::kNumber) throw NotUnderstood();
    const bool fraction_ahead = IsCommand("frac");
    const bool round = IsSign("(");
    const bool name = left.kind == Kind::kSymbol;
    MathNode right = Power();
    if (IsWholeNumber(left) && fraction_ahead) {
      // A unit or a percent sign behind the fraction is the whole's.
      MathNode* fraction = &right;
      while (fraction->kind == Kind::kUnit || fraction->kind == Kind::kPercent)
        fraction = &fraction->parts[0];
      if (IsProperFraction(*fraction)) {
        *fraction = Node(Kind::kAdd, "", {std::move(left), MathNode(*fraction)});
        return right;
      }
    }
    const bool call =
        round && name &&
        (right.kind == Kind::kSymbol || right.kind == Kind::kTuple || right.kind == Kind::kNumber);
    if (right.kind == Kind::kTuple && !call) throw NotUnderstood();
    MathNode product = Times(std::move(left), std::move(right));
    product.call = call;
    return product;
  }

  static bool IsProperFraction(const MathNode& node) {
    if (node.kind != Kind::kDivide || !IsWholeNumber(node.parts[0]) || !IsWholeNumber(node.parts[1]))
      return false;
    const std::string &a = node.parts[0].text, &b = node.parts[1].text;
    return a != "0" && (a.size() < b.size() || (a.size() == b.size() && a < b));
  }

  MathNode Power() {
    MathNode base = Atom();
    while (true) {
      if (IsSign("^")) {
        ++at_;
        if (TakeDegree()) {
          base = Node(Kind::kUnit, "degree", {std::move(base)});
        } else {
          base = Node(Kind::kPower, "", {std::move(base), Script()});
        }
      } else if (TakeSign("!")) {
        base = Node(Kind::kFunction, "factorial", {std::move(base)});
      } else if (TakeSign("%")) {
        base = Node(Kind::kPercent, "", {std::move(base)});
      } else if (TakeCommand("circ")) {
        base = Node(Kind::kUnit, "degree", {std::move(base)});
      } else if (UnitAhead()) {
        base = Node(Kind::kUnit, TakeUnit(), {std::move(base)});
      } else {
        return base;
      }
    }
  }

  bool TakeDegree() {
    if (TakeCommand("circ")) return true;
    if (!IsSign("{") || Peek(1).kind != TokenKind::kCommand || Peek(1).text != "circ" || Peek(2).text != "}")
      return false;
    at_ += 3;
    return true;
  }

  bool UnitAhead() const {
    if (AtEnd() || (Peek().kind != TokenKind::kText && Peek().kind != TokenKind::kWord)) return false;
    const std::string words = PlainWords(Peek().text);
    return words != "and" && words != "or" && !HasDigit(words);
  }

  // "cm", "cm^2", "m / s^2": words with their exponents, which say nothing of the value.
  std::string TakeUnit() {
    std::string unit;
    while (UnitAhead()) {
      if (!unit.empty()) unit += ' ';
      unit += PlainWords(Peek().text);
      ++at_;
      if (TakeSign("^")) unit.append("^").append(Plain(Script()));
      const bool slash =
          IsSign("/") && (Peek(1).kind == TokenKind::kText || Peek(1).kind == TokenKind::kWord);
      if (slash) {
        ++at_;
        unit += '/';
      } else if (IsCommand("cdot") && Peek(1).kind == TokenKind::kText) {
        ++at_;
      }
    }
    return unit;
  }

  static std::string Plain(const MathNode& node) {
    std::string text = node.text;
    for (const MathNode& part : node.parts) text += Plain(part);
    return text;
  }

  // What stands behind ^: a group, or the next sign, number or command with its arguments.
  MathNode Script() {
    const Level level(&depth_);
    if (auto sign = TakePlusMinus()) return Signed(std::move(*sign), Script());
    if (IsSign("{")) return Group();
    return Atom();
  }

  MathNode Group() {
    Need(TokenKind::kSign, "{");
    const int bars = std::exchange(bars_, 0);
    MathNode node = List();
    bars_ = bars;
    Need(TokenKind::kSign, "}");
    return node;
  }

  // An argument of \frac: a group, or one digit or sign.
  MathNode Argument() {
    if (IsSign("{")) return Group();
    if (!AtEnd() && Peek().kind == TokenKind::kNumber && Peek().text.size() > 1 && Peek().text[1] != '.') {
      MathNode digit = Number(Peek().text.substr(0, 1));
      tokens_[at_].text.erase(0, 1);
      return digit;
    }
    if (TakeSign("-")) return Times(Number("-1"), Argument());
    return Atom();
  }

  MathNode Atom() {
    const Level level(&depth_);
    if (AtEnd()) throw NotUnderstood();
    const MathToken token = Peek();
    switch (token.kind) {
      case TokenKind::kNumber:
        ++at_;
        return Number(token.text);
      case TokenKind::kLetter:
        ++at_;
        return Symbol(token.text);
      case TokenKind::kWord:
      case TokenKind::kText:
        return Words();
      case TokenKind::kCommand:
        ++at_;
        return Command(token.text);
      case TokenKind::kSign:
        break;
    }
    if (token.text == "{") return Group();
    if (token.text == "(" || token.text == "[") return Fence();
    if (token.text == "|") return Absolute();
    throw NotUnderstood();
  }

  // \text{13} is 13; other words stay words, also several in a row.
  MathNode Words() {
    const std::string first = Peek().text;
    if (HasDigit(first)) {
      ++at_;
      return Parser(MathTokens(first, CommaReading::kOutsideBrackets), depth_).Whole();
    }
    std::string words;
    while (!AtEnd() && (Peek().kind == TokenKind::kText || Peek().kind == TokenKind::kWord)) {
      if (!words.empty()) words += ' ';
      words += Peek().text;
      ++at_;
    }
    return Node(Kind::kText, PlainWords(words));
  }

  // A letter with its subscript and primes is one name.
  MathNode Symbol(std::string name) {
    if (TakeSign("_")) {
      if (IsSign("{")) {
        name.append("_").append(Plain(Group()));
      } else if (!AtEnd() && Peek().kind != TokenKind::kSign) {
        name.append("_").append(Peek().text);
        ++at_;
      } else {
        throw NotUnderstood();
      }
    }
    while (TakeSign("'")) name += '\'';
    return Node(Kind::kSymbol, name);
  }

  MathNode Command(const std::string& name) {
    if (name == "frac") {
      MathNode numerator = Argument();
      return Node(Kind::kDivide, "", {std::move(numerator), Argument()});
    }
    if (name == "sqrt") return Root();
    if (name == "binom") {
      MathNode upper = Argument();
      return Node(Kind::kFunction, "binomial", {std::move(upper), Argument()});
    }
    if (kFunctions.contains(name)) return Function(name);
    if (name == "lbrace") return Set();
    if (name == "begin") return Matrix();
    if (name == "emptyset") return Node(Kind::kSet, "");
    if (name == "lfloor" || name == "lceil") {
      MathNode inside = List();
      Need(TokenKind::kCommand, name == "lfloor" ? "rfloor" : "rceil");
      return Node(Kind::kFunction, name == "lfloor" ? "floor" : "ceil", {std::move(inside)});
    }
    if (name == "langle") {
      MathNode inside = List();
      Need(TokenKind::kCommand, "rangle");
      return Tuple("()", std::move(inside));
    }
    if (kAccents.contains(name)) return Node(Kind::kSymbol, name + ' ' + Plain(Argument()));
    if (name == "angle" || name == "triangle") return Atom();
    static const std::set<std::string, std::less<>> not_names = {
        "rbrace", "end",   "\\",  "mid", "rangle", "rfloor", "rceil",  "times",  "cdot",  "div",  "ldots",
        "dots",   "cdots", "sum", "int", "prod",   "lim",    "forall", "exists", "hline", "colon"};
    if (not_names.contains(name) || kRelations.contains(name)) throw NotUnderstood();
    return Symbol(name);
  }

  MathNode Root() {
    MathNode index = Number("2");
    if (TakeSign("[")) {
      index = List();
      Need(TokenKind::kSign, "]");
    }
    MathNode radicand = IsSign("{") ? Group() : Atom();
    return Node(Kind::kPower, "",
                {std::move(radicand), Node(Kind::kDivide, "", {Number("1"), std::move(index)})});
  }

  // \sin^2 x, \log_2(8), \cot 2x: the argument is a group or the factors that follow without a sign between.
  MathNode Function(const std::string& name) {
    std::optional<MathNode> power, base;
    for (int i = 0; i < 2; ++i) {
      if (TakeSign("^")) power = Script();
      if (TakeSign("_")) base = Script();
    }
    MathNode argument = IsSign("(") || IsSign("{") || IsSign("[") ? Atom() : FunctionArgument();
    MathNode node = Node(Kind::kFunction, name);
    if (argument.kind == Kind::kTuple || argument.kind == Kind::kList) {
      node.parts = std::move(argument.parts);
    } else {
      node.parts.push_back(std::move(argument));
    }
    if (base) node.parts.push_back(std::move(*base));
    if (!power) return node;
    const bool inverse = power->kind == Kind::kMultiply && Plain(*power) == "-11";
    if (inverse && kFunctions.contains("arc" + name)) {
      node.text = "arc" + name;
      return node;
    }
    return Node(Kind::kPower, "", {std::move(node), std::move(*power)});
  }

  MathNode FunctionArgument() {
    MathNode argument = Power();
    while (FactorAhead() && !(Peek().kind == TokenKind::kCommand && kFunctions.contains(Peek().text)) &&
           !IsSign("(")) {
      argument = Juxtaposed(std::move(argument));
    }
    return argument;
  }

  MathNode Fence() {
    const std::string open = Peek().text;
    ++at_;
    const int bars = std::exchange(bars_, 0);
    MathNode inside = List();
    bars_ = bars;
    if (!IsSign(")") && !IsSign("]")) throw NotUnderstood();
    const std::string close = Peek().text;
    ++at_;
    return Tuple(open + close, std::move(inside));
  }

  // Brackets around one thing only group it.
  static MathNode Tuple(const std::string& brackets, MathNode inside) {
    if (inside.kind == Kind::kList) return Node(Kind::kTuple, brackets, std::move(inside.parts));
    if (brackets != "()" && brackets != "[]") throw NotUnderstood();
    return inside;
  }

  MathNode Set() {
    if (TakeCommand("rbrace")) return Node(Kind::kSet, "");
    const int bars =
        std::exchange(bars_, 1);  // "|" is no factor here but "such that", which is not understood
    MathNode inside = List();
    bars_ = bars;
    Need(TokenKind::kCommand, "rbrace");
    if (inside.kind == Kind::kList) return Node(Kind::kSet, "", std::move(inside.parts));
    return Node(Kind::kSet, "", {std::move(inside)});
  }

  MathNode Absolute() {
    Need(TokenKind::kSign, "|");
    ++bars_;
    MathNode inside = Sum();
    --bars_;
    Need(TokenKind::kSign, "|");
    return Node(Kind::kFunction, "abs", {std::move(inside)});
  }

  std::string EnvironmentName() {
    Need(TokenKind::kSign, "{");
    std::string name;
    while (!AtEnd() && !IsSign("}")) name += Peek().text, ++at_;
    Need(TokenKind::kSign, "}");
    return name;
  }

  MathNode Matrix() {
    const std::string name = EnvironmentName();
    static const std::set<std::string, std::less<>> known = {"pmatrix",     "bmatrix", "matrix",
                                                             "smallmatrix", "array",   "Bmatrix"};
    if (!known.contains(name)) throw NotUnderstood();
    if (name == "array") EnvironmentName();  // {cc}
    MathNode matrix = Node(Kind::kMatrix, "");
    size_t columns = 0, in_row = 0;
    while (true) {
      matrix.parts.push_back(Relation());
      ++in_row;
      if (TakeSign("&")) continue;
      if (columns != 0 && in_row != columns) throw NotUnderstood();
      columns = in_row;
      in_row = 0;
      const bool more = TakeCommand("\\");
      if (TakeCommand("end")) break;
      if (!more) throw NotUnderstood();
    }
    if (EnvironmentName() != name) throw NotUnderstood();
    matrix.text = std::to_string(columns);
    return matrix;
  }

  std::vector<MathToken> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  int bars_ = 0;  // open absolute values
};

bool IsTallerThan(const MathNode& root, int most) {
  std::vector<std::pair<const MathNode*, int>> open = {{&root, 1}};
  while (!open.empty()) {
    const auto [node, height] = open.back();
    open.pop_back();
    if (height > most) return true;
    for (const MathNode& part : node->parts) open.emplace_back(&part, height + 1);
  }
  return false;
}

}  // namespace

std::optional<MathNode> ParseMath(const std::vector<MathToken>& tokens) {
  if (tokens.empty()) return std::nullopt;
  try {
    MathNode node = Parser(tokens, 0).Whole();
    if (IsTallerThan(node, kMaxHeight)) return std::nullopt;
    return node;
  } catch (const NotUnderstood&) {
    return std::nullopt;
  }
}

std::string PlainWords(const std::string& text) {
  std::string words;
  for (const char c : Lower(text)) {
    if (std::string_view("()[]{}\"'`*$\\").find(c) != std::string_view::npos) continue;
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '~';
    if (space && (words.empty() || words.back() == ' ')) continue;
    words += space ? ' ' : c;
  }
  while (!words.empty() && (words.back() == ' ' || words.back() == '.' || words.back() == ','))
    words.pop_back();
  return words;
}

}  // namespace fullband
