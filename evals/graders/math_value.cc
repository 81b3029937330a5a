#include "evals/graders/math_value.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace fullband {
namespace {

using Integer = boost::multiprecision::cpp_int;
using Rational = MathRational;
using Sum = MathSum;
using Monomial = MathMonomial;

constexpr unsigned kMaxBits = 1 << 16;  // of a numerator or denominator
constexpr size_t kMaxDigits = 10'000;   // of a number as written
constexpr size_t kMaxTerms = 400;
constexpr int64_t kMaxWork = 400'000;  // some hundred milliseconds
constexpr int kMaxFactorial = 3000;
constexpr uint64_t kMaxTrialDivisor = 20'000;

unsigned Bits(const Integer& value) { return value == 0 ? 0 : static_cast<unsigned>(msb(abs(value))) + 1; }
unsigned Bits(const Rational& value) { return std::max(Bits(numerator(value)), Bits(denominator(value))); }
bool IsInteger(const Rational& value) { return denominator(value) == 1; }

Integer Floor(const Rational& value) {
  Integer quotient = numerator(value) / denominator(value);
  if (value < 0 && !IsInteger(value)) --quotient;
  return quotient;
}

Sum Constant(const Rational& value) { return value == 0 ? Sum{} : Sum{{Monomial{}, value}}; }
MathScalar Scalar(const Rational& value) { return {Constant(value), Constant(1)}; }

// The value of a scalar that is a rational number.
std::optional<Rational> AsRational(const MathScalar& scalar) {
  const Sum& sum = scalar.numerator;
  if (scalar.denominator != Constant(1)) return std::nullopt;
  if (sum.empty()) return Rational(0);
  if (sum.size() > 1 || !sum.begin()->first.empty()) return std::nullopt;
  return sum.begin()->second;
}

std::string Spell(const Sum& sum) {
  std::string text;
  for (const auto& [monomial, coefficient] : sum) {
    if (!text.empty()) text += '+';
    text += coefficient.str();
    for (const auto& [atom, exponent] : monomial)
      text.append("*").append(atom).append("^").append(exponent.str());
  }
  return text.empty() ? "0" : text;
}
std::string Spell(const MathScalar& scalar) {
  return std::string("(")
      .append(Spell(scalar.numerator))
      .append(")/(")
      .append(Spell(scalar.denominator))
      .append(")");
}

// Evaluates trees; counts the work.
class Evaluator {
 public:
  explicit Evaluator(int sign) : sign_(sign) {}

  MathScalar Evaluate(const MathNode& node);

  Sum Multiply(const Sum& a, const Sum& b) {
    Sum product;
    for (const auto& [m, c] : a) {
      for (const auto& [n, d] : b) AddTerm(&product, m, n, c, d);
    }
    return product;
  }

  Sum Add(Sum a, const Sum& b, const Rational& factor) {
    for (const auto& [monomial, coefficient] : b) AddTo(&a, monomial, factor * coefficient);
    return a;
  }

 private:
  void Work(int64_t amount) {
    if ((work_ += amount) > kMaxWork) throw MathLimit();
  }

  const Rational& Checked(const Rational& value) {
    const unsigned bits = Bits(value);
    if (bits > kMaxBits) throw MathLimit();
    // A greatest common divisor is quadratic in the words.
    Work(4 + static_cast<int64_t>(bits / 64) * (bits / 64) / 64);
    return value;
  }

  void AddTo(Sum* sum, const Monomial& monomial, const Rational& coefficient) {
    if (coefficient == 0) return;
    Checked(coefficient);
    const auto [place, is_new] = sum->try_emplace(monomial, coefficient);
    if (!is_new) {
      place->second += coefficient;
      Checked(place->second);
      if (place->second == 0) sum->erase(place);
    } else if (sum->size() > kMaxTerms) {
      throw MathLimit();
    }
  }

  void AddTerm(Sum* sum, Monomial m, const Monomial& n, const Rational& c, const Rational& d) {
    Work(1 + static_cast<int64_t>(m.size() + n.size()));
    for (const auto& [atom, exponent] : n) m[atom] += exponent;
    Rational coefficient = c * d;
    Reduce(&m, &coefficient);
    AddTo(sum, m, coefficient);
  }

  // Whole powers of primes go into the coefficient, i² becomes -1, powers of zero go.
  void Reduce(Monomial* monomial, Rational* coefficient) {
    for (auto it = monomial->begin(); it != monomial->end();) {
      auto& [atom, exponent] = *it;
      if (Bits(exponent) > 40) throw MathLimit();
      if (atom[0] == '#' && (exponent >= 1 || exponent < 0)) {
        const Integer whole = Floor(exponent);
        *coefficient *= RationalPower(Rational(Integer(atom.substr(1))), whole);
        exponent -= Rational(whole);
      } else if (atom == "i") {
        int turns = static_cast<int>(Integer(numerator(exponent) % 4));
        if (turns < 0) turns += 4;
        if (turns >= 2) *coefficient = -*coefficient;
        exponent = turns % 2;
      }
      it = exponent == 0 ? monomial->erase(it) : std::next(it);
    }
  }

  Rational RationalPower(const Rational& base, const Integer& exponent) {
    if (base == 1 || exponent == 0) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    if (base == 0) {
      if (exponent < 0) throw NotAScalar();
      return 0;
    }
    if (Bits(exponent) > 20) throw MathLimit();
    const unsigned times = static_cast<unsigned>(abs(exponent));
    if (static_cast<uint64_t>(Bits(base)) * times > kMaxBits) throw MathLimit();
    const Integer up = pow(Integer(numerator(base)), times), down = pow(Integer(denominator(base)), times);
    const Rational result = exponent > 0 ? Rational(up, down) : Rational(down, up);
    return Checked(result);
  }

  static MathScalar Merged(const MathScalar& a, const MathScalar& b) {
    MathScalar merged;
    merged.variables = a.variables || b.variables;
    merged.opaque = a.opaque || b.opaque;
    merged.huge = a.huge || b.huge;
    return merged;
  }

  MathScalar Plus(const MathScalar& a, const MathScalar& b) {
    MathScalar sum = Merged(a, b);
    if (a.denominator == b.denominator) {
      sum.numerator = Add(a.numerator, b.numerator, 1);
      sum.denominator = a.denominator;
    } else {
      sum.numerator = Add(Multiply(a.numerator, b.denominator), Multiply(b.numerator, a.denominator), 1);
      sum.denominator = Multiply(a.denominator, b.denominator);
    }
    return Simplified(std::move(sum));
  }

  MathScalar Times(const MathScalar& a, const MathScalar& b) {
    MathScalar product = Merged(a, b);
    product.numerator = Multiply(a.numerator, b.numerator);
    product.denominator = Multiply(a.denominator, b.denominator);
    return Simplified(std::move(product));
  }

  MathScalar Inverse(MathScalar a) {
    if (a.numerator.empty()) throw NotAScalar();
    std::swap(a.numerator, a.denominator);
    return Simplified(std::move(a));
  }

  // A denominator of one term moves up.
  MathScalar Simplified(MathScalar scalar) {
    if (scalar.denominator.empty()) throw NotAScalar();
    if (scalar.numerator.empty()) scalar.denominator = Constant(1);
    if (scalar.denominator.size() > 1 || scalar.denominator == Constant(1)) return scalar;
    Monomial monomial = scalar.denominator.begin()->first;
    Rational coefficient = scalar.denominator.begin()->second;
    for (auto& [atom, exponent] : monomial) exponent = -exponent;
    Sum inverse;
    AddTerm(&inverse, monomial, {}, 1 / coefficient, 1);
    scalar.numerator = Multiply(scalar.numerator, inverse);
    scalar.denominator = Constant(1);
    return scalar;
  }

  // What is not taken apart: a name that says all of it.
  MathScalar Opaque(const std::string& name, const MathScalar& flags, bool huge) {
    Work(static_cast<int64_t>(name.size()));
    MathScalar scalar{Sum{{Monomial{{name, 1}}, 1}}, Constant(1)};
    scalar.variables = flags.variables;
    scalar.opaque = true;
    scalar.huge = huge || flags.huge;
    return scalar;
  }

  MathScalar Symbol(const std::string& name) {
    if (name == "±1") return Scalar(sign_);
    if (name == "∓1") return Scalar(-sign_);
    MathScalar scalar{Sum{{Monomial{{name, 1}}, 1}}, Constant(1)};
    const bool constant = name == "pi" || name == "e" || name == "i";
    scalar.variables = !constant && name != "infty";
    scalar.opaque = scalar.huge = name == "infty";
    return scalar;
  }

  MathScalar Power(const MathScalar& base, const MathScalar& exponent) {
    const MathScalar flags = Merged(base, exponent);
    const std::optional<Rational> number = AsRational(exponent);
    if (!number) return Opaque("pow(" + Spell(base) + ';' + Spell(exponent) + ')', flags, false);
    try {
      if (IsInteger(*number)) return WholePower(base, Integer(numerator(*number)));
      if (auto root = FractionalPower(base, *number)) return *root;
    } catch (const MathLimit&) {
      return Opaque("pow(" + Spell(base) + ';' + Spell(exponent) + ')', flags, true);
    }
    return Opaque("pow(" + Spell(base) + ';' + Spell(exponent) + ')', flags, false);
  }

  MathScalar WholePower(const MathScalar& base, const Integer& exponent) {
    if (exponent < 0) return WholePower(Inverse(base), -exponent);
    MathScalar power = Scalar(1);
    if (base.numerator.empty() && exponent > 0) return Scalar(0);
    if (base.numerator.size() == 1 && base.denominator == Constant(1)) {
      Monomial monomial = base.numerator.begin()->first;
      Rational coefficient = base.numerator.begin()->second;
      for (auto& [atom, power_of_atom] : monomial) power_of_atom *= Rational(exponent);
      power.numerator.clear();
      AddTerm(&power.numerator, monomial, {}, RationalPower(coefficient, exponent), 1);
    } else {
      if (exponent > 64) throw MathLimit();
      for (Integer i = 0; i < exponent; ++i) power = Times(power, base);
    }
    power.variables = base.variables;
    power.opaque = base.opaque;
    power.huge = base.huge;
    return power;
  }

  // Of a positive number with roots of primes, pi and e: exact. Of one variable alone: x^(1/2) is an atom's
  // power.
  std::optional<MathScalar> FractionalPower(const MathScalar& base, const Rational& exponent) {
    if (base.numerator.empty()) return exponent > 0 ? std::optional(Scalar(0)) : throw NotAScalar();
    if (base.numerator.size() != 1 || base.denominator != Constant(1)) return std::nullopt;
    if (Bits(exponent) > 20) throw MathLimit();
    Monomial monomial = base.numerator.begin()->first;
    Rational coefficient = base.numerator.begin()->second;
    const bool bare = coefficient > 0 && monomial.size() == 1 && monomial.begin()->second == 1;
    for (auto& [atom, power] : monomial) {
      const bool positive = atom[0] == '#' || atom == "pi" || atom == "e";
      if (!positive && (!bare || atom == "i")) return std::nullopt;
      power *= exponent;
    }
    MathScalar root = base;
    root.opaque = root.opaque || base.variables;
    if (!Root(coefficient, exponent, &monomial, &coefficient)) return std::nullopt;
    root.numerator.clear();
    AddTerm(&root.numerator, monomial, {}, coefficient, 1);
    return root;
  }

  // number^exponent as a rational times roots of primes. False where that is not how it is.
  bool Root(Rational number, const Rational& exponent, Monomial* monomial, Rational* coefficient) {
    *coefficient = 1;
    if (number < 0) {
      const Integer q = denominator(exponent), p = numerator(exponent);
      number = -number;
      if (q % 2 == 1) {
        if (p % 2 != 0) *coefficient = -1;  // the real root, as school has it
      } else if (q == 2) {
        (*monomial)["i"] += Rational(p);
      } else {
        return false;
      }
    }
    return RootOfInteger(numerator(number), exponent, monomial, coefficient) &&
           RootOfInteger(denominator(number), -exponent, monomial, coefficient);
  }

  bool RootOfInteger(Integer number, const Rational& exponent, Monomial* monomial, Rational* coefficient) {
    const Integer q = denominator(exponent);
    for (uint64_t prime = 2; prime <= kMaxTrialDivisor && number > 1; prime += prime == 2 ? 1 : 2) {
      if (Integer(prime) * prime > number) break;
      Work(1 + Bits(number) / 64);
      unsigned times = 0;
      while (number % prime == 0) {
        number /= prime;
        ++times;
        Work(1 + Bits(number) / 64);
      }
      if (times > 0) (*monomial)[std::string("#").append(std::to_string(prime))] += exponent * times;
    }
    if (number == 1) return true;
    // What is left is a prime, or a product of large ones: only a perfect square is then taken further.
    if (number > Integer(kMaxTrialDivisor) * kMaxTrialDivisor) {
      Integer rest;
      const Integer root = sqrt(number, rest);
      if (q != 2 || rest != 0) return false;
      *coefficient *= RationalPower(Rational(root), Integer(numerator(exponent)));
      return true;
    }
    (*monomial)[std::string("#").append(number.str())] += exponent;
    return true;
  }

  MathScalar Function(const MathNode& node);
  std::optional<MathScalar> ExactFunction(const std::string& name, const std::vector<Rational>& numbers);
  Rational Factorial(const Integer& n);

  const int sign_;
  int64_t work_ = 0;
};

Rational ParseDecimal(const std::string& text) {
  if (text.size() > kMaxDigits) throw MathLimit();
  if (text == "-1") return -1;
  if (const size_t e = text.find('e'); e != std::string::npos) {
    const int power = std::stoi(text.substr(e + 1));
    const Rational scale(pow(Integer(10), static_cast<unsigned>(std::abs(power))));
    const Rational mantissa = ParseDecimal(text.substr(0, e));
    return power < 0 ? Rational(mantissa / scale) : Rational(mantissa * scale);
  }
  std::string digits, repeating;
  unsigned places = 0;
  bool after_point = false, in_repeat = false;
  for (const char c : text) {
    if (c == '.') {
      after_point = true;
    } else if (c == '(') {
      in_repeat = true;
    } else if (c != ')') {
      (in_repeat ? repeating : digits) += c;
      places += after_point && !in_repeat;
    }
  }
  const auto parse = [](std::string number) {  // a leading zero would make it octal
    number.erase(0, std::min(number.find_first_not_of('0'), number.size()));
    return number.empty() ? Integer(0) : Integer(number);
  };
  Rational value(parse(digits), pow(Integer(10), places));
  if (!repeating.empty()) {
    const Integer nines = pow(Integer(10), static_cast<unsigned>(repeating.size())) - 1;
    value += Rational(parse(repeating), nines * pow(Integer(10), places));
  }
  return value;
}

MathScalar Evaluator::Evaluate(const MathNode& node) {
  Work(1);
  switch (node.kind) {
    case MathKind::kNumber: {
      Work(static_cast<int64_t>(node.text.size()) * static_cast<int64_t>(node.text.size()) / 300);
      return Scalar(Checked(ParseDecimal(node.text)));
    }
    case MathKind::kSymbol:
      return Symbol(node.text);
    case MathKind::kAdd: {
      MathScalar sum = Scalar(0);
      for (const MathNode& part : node.parts) sum = Plus(sum, Evaluate(part));
      return sum;
    }
    case MathKind::kMultiply: {
      const MathScalar left = Evaluate(node.parts[0]);
      return Times(left, Evaluate(node.parts[1]));
    }
    case MathKind::kDivide: {
      const MathScalar left = Evaluate(node.parts[0]);
      return Times(left, Inverse(Evaluate(node.parts[1])));
    }
    case MathKind::kPower: {
      const MathScalar base = Evaluate(node.parts[0]);
      return Power(base, Evaluate(node.parts[1]));
    }
    case MathKind::kFunction:
      return Function(node);
    case MathKind::kPercent:
      return Times(Evaluate(node.parts[0]), Scalar(Rational(1, 100)));
    case MathKind::kUnit:
      return Evaluate(node.parts[0]);
    default:
      throw NotAScalar();
  }
}

Rational Evaluator::Factorial(const Integer& n) {
  if (n < 0) throw NotAScalar();
  if (n > kMaxFactorial) throw MathLimit();
  Integer product = 1;
  for (Integer i = 2; i <= n; ++i) product *= i;
  return Checked(Rational(product));
}

// Functions of rational numbers that have a rational value, whatever the numbers.
std::optional<MathScalar> Evaluator::ExactFunction(const std::string& name,
                                                   const std::vector<Rational>& numbers) {
  const bool whole = std::all_of(numbers.begin(), numbers.end(), IsInteger);
  if (numbers.empty()) return std::nullopt;
  const Rational& first = numbers[0];
  if (name == "abs") return Scalar(first < 0 ? Rational(-first) : first);
  if (name == "floor") return Scalar(Rational(Floor(first)));
  if (name == "ceil") return Scalar(Rational(-Floor(-first)));
  if (name == "max") return Scalar(*std::max_element(numbers.begin(), numbers.end()));
  if (name == "min") return Scalar(*std::min_element(numbers.begin(), numbers.end()));
  if (name == "factorial" && whole) return Scalar(Factorial(Integer(numerator(first))));
  if (name == "binomial" && whole && numbers.size() == 2) {
    const Integer n = numerator(first), k = numerator(numbers[1]);
    if (k < 0 || n < 0) throw NotAScalar();
    if (k > n) return Scalar(0);
    return Scalar(Checked(Factorial(n) / Factorial(k) / Factorial(n - k)));
  }
  if ((name == "gcd" || name == "lcm") && whole) {
    Integer result = numerator(first);
    for (const Rational& number : numbers) {
      const Integer next = numerator(number);
      result = name == "gcd" ? Integer(gcd(result, next)) : Integer(lcm(result, next));
      Checked(Rational(result));
    }
    return Scalar(Rational(result));
  }
  return std::nullopt;
}

MathScalar Evaluator::Function(const MathNode& node) {
  MathScalar flags = Scalar(0);
  std::string name = node.text + '(';
  std::vector<Rational> numbers;
  std::vector<MathScalar> arguments;
  for (const MathNode& part : node.parts) {
    arguments.push_back(Evaluate(part));
    flags = Merged(flags, arguments.back());
    name += Spell(arguments.back()) + ';';
    if (const auto number = AsRational(arguments.back())) numbers.push_back(*number);
  }
  if (arguments.empty()) throw NotAScalar();
  if (node.text == "exp" && arguments.size() == 1) return Power(Symbol("e"), arguments[0]);
  bool huge = false;
  if (numbers.size() == arguments.size()) {
    try {
      if (auto exact = ExactFunction(node.text, numbers)) return *exact;
    } catch (const MathLimit&) {
      huge = true;
    }
  }
  return Opaque(name + ')', flags, huge);
}

// Of a term: its coefficient, roots of primes, pi, e and i, and what varies.
std::pair<Monomial, Monomial> Split(const Monomial& monomial) {
  std::pair<Monomial, Monomial> split;
  for (const auto& power : monomial) {
    const std::string& atom = power.first;
    const bool constant = atom[0] == '#' || atom == "pi" || atom == "e" || atom == "i";
    (constant ? split.first : split.second).insert(power);
  }
  return split;
}

// The coefficient of the varying part that comes first in the order of maps from the end.
std::pair<Monomial, Sum> Leading(const Sum& sum) {
  std::map<Monomial, Sum> by_part;
  for (const auto& [monomial, coefficient] : sum) {
    const auto [constant, varying] = Split(monomial);
    by_part[varying][constant] = coefficient;
  }
  return *by_part.rbegin();
}

}  // namespace

MathScalar EvaluateMath(const MathNode& node, int sign) { return Evaluator(sign).Evaluate(node); }

bool SameScalar(const MathScalar& a, const MathScalar& b) {
  if (a.denominator == b.denominator) return a.numerator == b.numerator;
  Evaluator work(1);
  return work.Multiply(a.numerator, b.denominator) == work.Multiply(b.numerator, a.denominator);
}

bool Proportional(const MathScalar& a, const MathScalar& b, bool positive) {
  if (a.numerator.empty() || b.numerator.empty()) return a.numerator.empty() && b.numerator.empty();
  Evaluator work(1);
  const Sum left = work.Multiply(a.numerator, b.denominator),
            right = work.Multiply(b.numerator, a.denominator);
  const auto [left_part, left_factor] = Leading(left);
  const auto [right_part, right_factor] = Leading(right);
  if (positive) {
    const bool rational = left_factor.size() == 1 && right_factor.size() == 1 &&
                          left_factor.begin()->first == right_factor.begin()->first;
    if (!rational || (left_factor.begin()->second < 0) != (right_factor.begin()->second < 0)) return false;
  }
  return left_part == right_part && work.Multiply(left, right_factor) == work.Multiply(right, left_factor);
}

}  // namespace fullband
