// Attention of one row over pages, with the softmax carried along (Milakov and Gimelshein 2018): pages in
// order, positions in order within a page. Scores have positions in lanes and one chain over the head's
// dimensions; mixed values have dimensions in lanes and one chain over positions. Included once for each
// target.
#if defined(FULLBAND_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLBAND_ATTENTION_INL_H_
#undef FULLBAND_ATTENTION_INL_H_
#else
#define FULLBAND_ATTENTION_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "engine/compute/cpu/kernels.h"
#include "engine/compute/cpu/vectors-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fullband {
namespace HWY_NAMESPACE {

constexpr int64_t kPageVectors = kPageSize / kLanes;
// Heads that share a load of the keys: as many as the registers hold.
constexpr int kHeadsAtOnce = kLanes == 16 ? 4 : kLanes == 8 ? 3 : 2;

// The softmax so far: largest score, and the sum of exp(score - largest).
struct Running {
  float largest = -std::numeric_limits<float>::infinity();
  float sum = 0;
};

template <int kHeads>
HWY_INLINE void PageScores(const float* query, int64_t head_dim, const float* keys, float* scores) {
  const DF d;
  VF sums[kHeads][kPageVectors];
  for (auto& head : sums) {
    for (VF& sum : head) sum = hn::Zero(d);
  }
  for (int64_t i = 0; i < head_dim; ++i) {
    VF q[kHeads];
    HWY_UNROLL(4)
    for (int h = 0; h < kHeads; ++h) q[h] = hn::Set(d, query[h * head_dim + i]);
    HWY_UNROLL(8)
    for (int64_t p = 0; p < kPageVectors; ++p) {
      const VF key = hn::Load(d, keys + i * kPageSize + p * kLanes);
      HWY_UNROLL(4)
      for (int h = 0; h < kHeads; ++h) sums[h][p] = hn::MulAdd(q[h], key, sums[h][p]);
    }
  }
  for (int h = 0; h < kHeads; ++h) {
    for (int64_t p = 0; p < kPageVectors; ++p) hn::Store(sums[h][p], d, scores + h * kPageSize + p * kLanes);
  }
}

// Turns a page's scores into weights relative to the largest score so far; returns the factor for what was
// summed before. Places beyond `present` (which may hold anything) get the weight zero.
HWY_INLINE float PageWeights(float* scores, int64_t present, Running& running) {
  const DF d;
  const float lowest = -std::numeric_limits<float>::infinity();
  for (int64_t p = present; p < kPageSize; ++p) scores[p] = lowest;
  float largest = running.largest;
  for (int64_t p = 0; p < present; ++p) largest = scores[p] > largest ? scores[p] : largest;
  const VF shift = hn::Set(d, largest);
  for (int64_t p = 0; p < kPageSize; p += kLanes) {
    hn::Store(Exp(hn::Sub(hn::Load(d, scores + p), shift)), d, scores + p);
  }
  Partials sums;
  for (int64_t p = 0; p < kPageSize; p += 16) sums.Add(scores + p);
  const float factor = ExpOf(running.largest - largest);
  running.largest = largest;
  running.sum = running.sum * factor + sums.Total();
  return factor;
}

// mixed [kVectors * lanes] = mixed * factor + sum over positions of weight * value.
template <int kVectors>
HWY_INLINE void MixValues(const float* weights, const float* values, int64_t stride, int64_t present,
                          float factor, float* mixed) {
  const DF d;
  VF sums[kVectors];
  HWY_UNROLL(8)
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::Mul(hn::Load(d, mixed + v * kLanes), hn::Set(d, factor));
  for (int64_t p = 0; p < present; ++p) {
    const VF weight = hn::Set(d, weights[p]);
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) {
      sums[v] = hn::MulAdd(weight, hn::Load(d, values + p * stride + v * kLanes), sums[v]);
    }
  }
  HWY_UNROLL(8)
  for (int v = 0; v < kVectors; ++v) hn::Store(sums[v], d, mixed + v * kLanes);
}

HWY_INLINE void MixPage(const float* weights, const float* values, int64_t stride, int64_t present,
                        float factor, float* mixed) {
  constexpr int64_t kWide = 64 / kLanes < 8 ? 64 / kLanes : 8, kNarrow = 16 / kLanes;
  int64_t i = 0;
  for (; i + kWide * kLanes <= stride; i += kWide * kLanes) {
    MixValues<kWide>(weights, values + i, stride, present, factor, mixed + i);
  }
  for (; i < stride; i += 16) MixValues<kNarrow>(weights, values + i, stride, present, factor, mixed + i);
}

template <int kHeads>
void AttendHeads(const Attention& a, int64_t first_head) {
  const int64_t stride = ValueStride(a.head_dim);
  const float* query = a.query + first_head * a.head_dim;
  float* mixed = a.scratch + first_head * stride;
  std::fill(mixed, mixed + kHeads * stride, 0.0f);
  Running running[kHeads];
  HWY_ALIGN float scores[kHeads * kPageSize];
  for (int64_t begin = 0; begin < a.positions; begin += kPageSize) {
    const float* page = a.pages[begin / kPageSize];
    const int64_t present = std::min(kPageSize, a.positions - begin);
    PageScores<kHeads>(query, a.head_dim, page + a.key_offset, scores);
    for (int h = 0; h < kHeads; ++h) {
      float* weights = scores + h * kPageSize;
      const float factor = PageWeights(weights, present, running[h]);
      MixPage(weights, page + a.value_offset, stride, present, factor, mixed + h * stride);
    }
  }
  for (int h = 0; h < kHeads; ++h) {
    const float scale = 1.0f / running[h].sum;
    float* out = a.out + (first_head + h) * a.head_dim;
    for (int64_t i = 0; i < a.head_dim; ++i) out[i] = mixed[h * stride + i] * scale;
  }
}

void Attend(const Attention& a) {
  int64_t head = 0;
  for (; head + kHeadsAtOnce <= a.heads; head += kHeadsAtOnce) AttendHeads<kHeadsAtOnce>(a, head);
  for (; head < a.heads; ++head) AttendHeads<1>(a, head);
}

}  // namespace HWY_NAMESPACE
}  // namespace fullband
HWY_AFTER_NAMESPACE();

#endif  // FULLBAND_ATTENTION_INL_H_
