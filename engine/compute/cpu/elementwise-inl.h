// Norms, gates, rotations and log-sum-exp over one row. Included once for each target.
#if defined(FULLBAND_ELEMENTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLBAND_ELEMENTWISE_INL_H_
#undef FULLBAND_ELEMENTWISE_INL_H_
#else
#define FULLBAND_ELEMENTWISE_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/compute/cpu/vectors-inl.h"
#include "engine/compute/sampling.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fullband {
namespace HWY_NAMESPACE {

HWY_INLINE float MeanSquare(const float* x, int64_t size) {
  Partials squares;
  for (int64_t i = 0; i < size; i += 16) squares.AddSquares(x + i);
  return squares.Total() / static_cast<float>(size);
}

HWY_INLINE float ScaleOf(float mean_square, float eps) { return 1.0f / std::sqrt(mean_square + eps); }

float NormScale(const float* x, int64_t size, float eps) { return ScaleOf(MeanSquare(x, size), eps); }

HWY_INLINE VF Normed(const float* x, VF scale, const float* weight) {
  const DF d;
  return hn::Mul(hn::Mul(hn::LoadU(d, x), scale), hn::LoadU(d, weight));
}

HWY_INLINE VF SiluGated(const float* gate, const float* up) {
  const DF d;
  const VF g = hn::LoadU(d, gate);
  return hn::Mul(hn::Mul(g, Sigmoid(g)), hn::LoadU(d, up));
}

float RmsNorm(const float* x, const float* weight, int64_t size, float eps, float* out) {
  const DF d;
  const float mean = MeanSquare(x, size);
  const VF scale = hn::Set(d, ScaleOf(mean, eps));
  for (int64_t i = 0; i < (size + 15) / 16 * 16; i += kLanes) {
    hn::StoreU(Normed(x + i, scale, weight + i), d, out + i);
  }
  return std::sqrt(mean);
}

// One pair: sums of two rounded products, not fused.
HWY_INLINE void RotatePair(float cosine, float sine, float scale, float& first, float& second) {
  const float a = first, b = second;
  first = (a * cosine - b * sine) * scale;
  second = (b * cosine + a * sine) * scale;
}

void Rotate(const float* cosines, const float* sines, int64_t half, float scale, float* x) {
  const DF d;
  const VF factor = hn::Set(d, scale);
  int64_t i = 0;
  for (; i + kLanes <= half; i += kLanes) {
    const VF cosine = hn::LoadU(d, cosines + i), sine = hn::LoadU(d, sines + i);
    const VF a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + half + i);
    hn::StoreU(hn::Mul(hn::Sub(hn::Mul(a, cosine), hn::Mul(b, sine)), factor), d, x + i);
    hn::StoreU(hn::Mul(hn::Add(hn::Mul(b, cosine), hn::Mul(a, sine)), factor), d, x + half + i);
  }
  for (; i < half; ++i) RotatePair(cosines[i], sines[i], scale, x[i], x[half + i]);
}

void SigmoidRow(const float* x, int64_t size, float* out) {
  const DF d;
  for (int64_t i = 0; i < size; i += kLanes) hn::StoreU(Sigmoid(hn::LoadU(d, x + i)), d, out + i);
}

void ExpRow(const float* x, int64_t size, float* out) {
  const DF d;
  for (int64_t i = 0; i < size; i += kLanes) hn::StoreU(Exp(hn::LoadU(d, x + i)), d, out + i);
}

// The largest of `size` numbers, NaN left out; minus infinity where there is none.
HWY_INLINE float Largest(const float* x, int64_t size) {
  const DF d;
  VF lanes = hn::Set(d, -std::numeric_limits<float>::infinity());
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const VF v = hn::LoadU(d, x + i);
    lanes = hn::IfThenElse(hn::Gt(v, lanes), v, lanes);
  }
  float largest = hn::GetLane(hn::MaxOfLanes(d, lanes));
  for (; i < size; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

// The largest of all, by way of those of blocks, which `maxima` receives.
HWY_INLINE float LargestByBlocks(const float* x, int64_t size, float* maxima) {
  float largest = -std::numeric_limits<float>::infinity();
  for (int64_t begin = 0; begin < size; begin += kLogitBlock) {
    const float block = Largest(x + begin, std::min(kLogitBlock, size - begin));
    *maxima++ = block;
    largest = block > largest ? block : largest;
  }
  return largest;
}

// NaN where an element is.
double LogSumExp(const float* x, int64_t size, float* maxima) {
  const float largest = LargestByBlocks(x, size, maxima);
  // Blocks keep the partial sums short; their totals are added in double.
  constexpr int64_t kBlock = 1024;
  const DF d;
  const VF shift = hn::Set(d, largest);
  double total = 0;
  for (int64_t begin = 0; begin < size; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, size);
    Partials sums;
    HWY_ALIGN float terms[16];
    for (int64_t i = begin; i < end; i += 16) {
      const int64_t present = std::min<int64_t>(16, end - i);
      const float* source = x + i;
      HWY_ALIGN float last[16];
      if (present < 16) {
        std::fill(last, last + 16, -std::numeric_limits<float>::infinity());
        std::copy(source, source + present, last);
        source = last;
      }
      for (int64_t j = 0; j < 16; j += kLanes) {
        hn::Store(Exp(hn::Sub(hn::LoadU(d, source + j), shift)), d, terms + j);
      }
      sums.Add(terms);
    }
    total += sums.Total();
  }
  return largest + std::log(total);
}

}  // namespace HWY_NAMESPACE
}  // namespace fullband
HWY_AFTER_NAMESPACE();

#endif  // FULLBAND_ELEMENTWISE_INL_H_
