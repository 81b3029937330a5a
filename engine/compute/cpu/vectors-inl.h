// Vectors of up to 16 floats, and sums and functions on them that are equal for every number of lanes.
// Included once for each target.
#if defined(FULLBAND_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLBAND_VECTORS_INL_H_
#undef FULLBAND_VECTORS_INL_H_
#else
#define FULLBAND_VECTORS_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

// Loops over registers must be unrolled, or the compiler keeps the registers in memory.
#ifndef HWY_UNROLL
#define HWY_UNROLL(n) FULLBAND_PRAGMA(GCC unroll n)
#define FULLBAND_PRAGMA(text) _Pragma(#text)
#endif

HWY_BEFORE_NAMESPACE();
namespace fullband {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, 16>;
using VF = hn::Vec<DF>;
constexpr int64_t kLanes = hn::MaxLanes(DF());
static_assert(16 % kLanes == 0);

// Sixteen partial sums, number i being the sum of all elements j with j % 16 == i.
struct Partials {
  static constexpr int kVectors = 16 / kLanes;
  VF sums[kVectors];
  HWY_INLINE Partials() {
    for (VF& sum : sums) sum = hn::Zero(DF());
  }
  // Adds the sixteen numbers at `x`, or their squares.
  HWY_INLINE void Add(const float* x) {
    for (int i = 0; i < kVectors; ++i) sums[i] = hn::Add(sums[i], hn::LoadU(DF(), x + i * kLanes));
  }
  HWY_INLINE void AddSquares(const float* x) {
    for (int i = 0; i < kVectors; ++i) {
      const VF v = hn::LoadU(DF(), x + i * kLanes);
      sums[i] = hn::MulAdd(v, v, sums[i]);
    }
  }
  // The sum of the partial sums, as a tree.
  HWY_INLINE float Total() const {
    HWY_ALIGN float t[16];
    for (int i = 0; i < kVectors; ++i) hn::Store(sums[i], DF(), t + i * kLanes);
    for (int half = 8; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) t[i] += t[i + half];
    }
    return t[0];
  }
};

// e^x within 2 ulp: x = n ln 2 + r with |r| <= ln(2) / 2, the Taylor series to r^7 (its remainder is below
// 6e-9), and 2^n as two factors, so that the ends of the range come out as 0 (by way of subnormals) and
// infinity. NaN gives NaN.
HWY_INLINE VF Exp(VF x) {
  const DF d;
  const hn::RebindToSigned<DF> di;
  const VF low = hn::Set(d, -104.0f), high = hn::Set(d, 89.0f);
  x = hn::IfThenElse(hn::Lt(x, low), low, x);  // false for NaN, unlike Max
  x = hn::IfThenElse(hn::Gt(x, high), high, x);
  const VF n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504088896341f)));
  // ln 2 in two parts, the first of so few bits that its multiples are exact.
  VF r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440054690583e-4f), r);
  VF sum = hn::Set(d, 1.0f / 5040);
  sum = hn::MulAdd(sum, r, hn::Set(d, 1.0f / 720));
  sum = hn::MulAdd(sum, r, hn::Set(d, 1.0f / 120));
  sum = hn::MulAdd(sum, r, hn::Set(d, 1.0f / 24));
  sum = hn::MulAdd(sum, r, hn::Set(d, 1.0f / 6));
  sum = hn::MulAdd(sum, r, hn::Set(d, 0.5f));
  sum = hn::MulAdd(sum, r, hn::Set(d, 1.0f));
  sum = hn::MulAdd(sum, r, hn::Set(d, 1.0f));
  const auto whole = hn::ConvertTo(di, n);
  const auto first = hn::ShiftRight<1>(whole), second = hn::Sub(whole, first);
  const auto bias = hn::Set(di, 127);
  const VF factor1 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(first, bias)));
  const VF factor2 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(second, bias)));
  return hn::Mul(hn::Mul(sum, factor1), factor2);
}

HWY_INLINE VF Sigmoid(VF x) {
  const VF one = hn::Set(DF(), 1.0f);
  return hn::Div(one, hn::Add(one, Exp(hn::Neg(x))));
}

// e^x of one number, with the same bits as in a vector.
HWY_INLINE float ExpOf(float x) { return hn::GetLane(Exp(hn::Set(DF(), x))); }

}  // namespace HWY_NAMESPACE
}  // namespace fullband
HWY_AFTER_NAMESPACE();

#endif  // FULLBAND_VECTORS_INL_H_
