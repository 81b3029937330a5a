// Scalars in an exact normal form: quotients of sums of terms, each a rational number times powers of atoms.
//
// An atom is a prime under a root (√12 = 2·3^(1/2)), a variable, pi, e, i, or what is not taken apart (a
// function of something, a root of a sum). Powers of roots of primes are linearly independent over the
// rational numbers, so that two scalars without what is not taken apart are equal exactly where their cross
// products are.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <map>
#include <string>

#include "evals/graders/math_tree.h"

namespace fullband {

using MathRational = boost::multiprecision::cpp_rational;
using MathMonomial = std::map<std::string, MathRational>;  // atom -> exponent
using MathSum = std::map<MathMonomial, MathRational>;      // -> coefficient

struct MathScalar {
  MathSum numerator;
  MathSum denominator;     // never empty; 1 wherever it would be a single term
  bool variables = false;  // something in it varies
  bool opaque = false;     // something in it is not taken apart
  bool huge = false;       // something in it is too large to be computed
};

// Why a tree has no such form.
struct NotAScalar {};
// The work or the size would exceed their bounds.
struct MathLimit {};

// `sign` is what the sign ± stands for, +1 or -1. Throws NotAScalar (a list, a division by zero, ...) and
// MathLimit.
MathScalar EvaluateMath(const MathNode& node, int sign);

// Whether the normal forms are the same. Throws MathLimit.
bool SameScalar(const MathScalar& a, const MathScalar& b);

// Whether a - factor·b is zero for some factor that is no zero and does not vary; where `positive`, for one
// that is rational and positive. Throws MathLimit.
bool Proportional(const MathScalar& a, const MathScalar& b, bool positive = false);

// By value, to 60 digits: 1 equal, 0 different, -1 where they cannot be computed. For trees without
// variables.
int SameNumerically(const MathNode& a, const MathNode& b, int sign_a, int sign_b);
// The sign of a real number: -1, 0 or 1; nothing where it has none.
std::optional<int> SignOf(const MathNode& node);

}  // namespace fullband
