// Numbers to a hundred digits, for equality where the normal form does not decide: √(3+2√2) = 1+√2.
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_complex.hpp>

#include "evals/graders/math_value.h"

namespace fullband {
namespace {

using Complex = boost::multiprecision::cpp_complex_100;
using Real = Complex::value_type;

// What cannot be computed, or not to enough digits.
struct NoNumber {};

// Larger arguments of exp, sin and the like would cost digits and time.
const Real& LargestArgument() {
  static const Real value(1e6);
  return value;
}

Complex Pi() { return Complex(boost::math::constants::pi<Real>()); }

Complex Finite(const Complex& value) {
  const Real size = abs(value);
  if (!(boost::multiprecision::isfinite)(size) || size > Real("1e100000")) throw NoNumber();
  return value;
}

bool IsReal(const Complex& value) { return abs(value.imag()) <= Real("1e-80") * (1 + abs(value.real())); }

class Numeric {
 public:
  explicit Numeric(int sign) : sign_(sign) {}

  Complex Evaluate(const MathNode& node) const {
    switch (node.kind) {
      case MathKind::kNumber:
        return Complex(Rounded(node));
      case MathKind::kSymbol:
        return Symbol(node.text);
      case MathKind::kAdd: {
        Complex sum = 0;
        for (const MathNode& part : node.parts) sum += Evaluate(part);
        return Finite(sum);
      }
      case MathKind::kMultiply:
        return Finite(Evaluate(node.parts[0]) * Evaluate(node.parts[1]));
      case MathKind::kDivide: {
        const Complex below = Evaluate(node.parts[1]);
        if (abs(below) < Real("1e-80")) throw NoNumber();
        return Finite(Evaluate(node.parts[0]) / below);
      }
      case MathKind::kPower:
        return Power(node);
      case MathKind::kFunction:
        return Finite(Function(node));
      case MathKind::kPercent:
        return Evaluate(node.parts[0]) / 100;
      case MathKind::kUnit:
        return Evaluate(node.parts[0]);
      default:
        throw NoNumber();
    }
  }

 private:
  // As the exact evaluation has it: bounds on digits and size hold here too.
  static Real Rounded(const MathNode& node) {
    try {
      const MathScalar scalar = EvaluateMath(node, 1);
      if (scalar.numerator.empty()) return 0;
      const MathRational& value = scalar.numerator.begin()->second;
      return Real(numerator(value)) / Real(denominator(value));
    } catch (const MathLimit&) {
      throw NoNumber();
    }
  }

  Complex Symbol(const std::string& name) const {
    if (name == "pi") return Pi();
    if (name == "e") return exp(Complex(1));
    if (name == "i") return Complex(0, 1);
    if (name == "±1") return Complex(sign_);
    if (name == "∓1") return Complex(-sign_);
    throw NoNumber();
  }

  Complex Power(const MathNode& node) const {
    const Complex base = Evaluate(node.parts[0]), exponent = Evaluate(node.parts[1]);
    if (abs(exponent) > LargestArgument()) throw NoNumber();
    if (abs(base) < Real("1e-80")) {
      if (exponent.real() > 0) return 0;
      throw NoNumber();
    }
    // Of a negative number, an odd root is the real one, as school has it.
    if (IsReal(base) && base.real() < 0) {
      try {
        const MathScalar scalar = EvaluateMath(node.parts[1], sign_);
        if (scalar.numerator.size() == 1 && scalar.numerator.begin()->first.empty()) {
          const MathRational& ratio = scalar.numerator.begin()->second;
          if (denominator(ratio) % 2 == 1) {
            const Complex size = Finite(exp(exponent * log(-base)));
            return numerator(ratio) % 2 == 0 ? size : -size;
          }
        }
      } catch (const NotAScalar&) {
      }
    }
    const Complex arguments = exponent * log(base);
    if (abs(arguments) > LargestArgument()) throw NoNumber();
    return Finite(exp(arguments));
  }

  Complex Function(const MathNode& node) const {
    const Complex x = Evaluate(node.parts.at(0));
    const std::string& name = node.text;
    if (abs(x) > LargestArgument() && name != "log" && name != "ln" && name != "lg" && name != "abs")
      throw NoNumber();
    if (name == "ln" || name == "log" || name == "lg") return Logarithm(node, x);
    if (name == "floor" || name == "ceil") return Rounded(x, name == "ceil");
    if (name == "exp") return exp(x);
    if (name == "abs") return Complex(abs(x));
    if (name == "sin") return sin(x);
    if (name == "cos") return cos(x);
    if (name == "tan") return Quotient(sin(x), cos(x));
    if (name == "cot") return Quotient(cos(x), sin(x));
    if (name == "sec") return Quotient(1, cos(x));
    if (name == "csc") return Quotient(1, sin(x));
    if (name == "arcsin") return asin(x);
    if (name == "arccos") return acos(x);
    if (name == "arctan") return atan(x);
    if (name == "sinh") return sinh(x);
    if (name == "cosh") return cosh(x);
    if (name == "tanh") return Quotient(sinh(x), cosh(x));
    throw NoNumber();
  }

  // What is a whole number but for its last digits is that number.
  static Complex Rounded(const Complex& x, bool up) {
    if (!IsReal(x)) throw NoNumber();
    const Real real = x.real(), nearest = round(real);
    if (abs(real - nearest) < Real("1e-60")) return Complex(nearest);
    return Complex(up ? Real(ceil(real)) : Real(floor(real)));
  }

  static Complex Quotient(const Complex& above, const Complex& below) {
    if (abs(below) < Real("1e-60")) throw NoNumber();
    return above / below;
  }

  // Without a base, \log is the natural one, as in SymPy; \lg is to the base ten.
  Complex Logarithm(const MathNode& node, const Complex& x) const {
    if (abs(x) < Real("1e-80")) throw NoNumber();
    if (node.parts.size() < 2) return node.text == "lg" ? log(x) / log(Complex(10)) : log(x);
    const Complex base = log(Evaluate(node.parts[1]));
    return Quotient(log(x), base);
  }

  const int sign_;
};

}  // namespace

int SameNumerically(const MathNode& a, const MathNode& b, int sign_a, int sign_b) {
  try {
    const Complex x = Numeric(sign_a).Evaluate(a), y = Numeric(sign_b).Evaluate(b);
    const Real size = std::max<Real>(1, std::max<Real>(abs(x), abs(y)));
    return abs(x - y) <= size * Real("1e-60") ? 1 : 0;
  } catch (const NoNumber&) {
    return -1;
  } catch (const NotAScalar&) {
    return -1;
  } catch (const std::exception&) {  // an overflow or a domain error of the library
    return -1;
  }
}

std::optional<int> SignOf(const MathNode& node) {
  try {
    const Complex value = Numeric(1).Evaluate(node);
    if (!IsReal(value)) return std::nullopt;
    const Real real = value.real();
    return abs(real) < Real("1e-60") ? 0 : real < 0 ? -1 : 1;
  } catch (const NoNumber&) {
  } catch (const NotAScalar&) {
  } catch (const std::exception&) {
  }
  return std::nullopt;
}

}  // namespace fullband
