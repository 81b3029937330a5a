// What bounds every kernel: how fast memory is read and written, and how fast multiply-adds go. Included once
// for each target.
#if defined(FULLBAND_PROBES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLBAND_PROBES_INL_H_
#undef FULLBAND_PROBES_INL_H_
#else
#define FULLBAND_PROBES_INL_H_
#endif

#include <cstdint>

#include "engine/compute/cpu/vectors-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fullband {
namespace HWY_NAMESPACE {

float ReadProbe(const float* x, int64_t size) {
  constexpr int kSums = 8;
  const DF d;
  VF sums[kSums];
  for (VF& sum : sums) sum = hn::Zero(d);
  for (int64_t i = 0; i < size; i += kSums * kLanes) {
    HWY_UNROLL(8)
    for (int s = 0; s < kSums; ++s) sums[s] = hn::Add(sums[s], hn::Load(d, x + i + s * kLanes));
  }
  for (int s = 1; s < kSums; ++s) sums[0] = hn::Add(sums[0], sums[s]);
  return hn::GetLane(hn::SumOfLanes(d, sums[0]));
}

void TriadProbe(const float* a, const float* b, int64_t size, float* out) {
  const DF d;
  const VF scale = hn::Set(d, 3.0f);
  for (int64_t i = 0; i < size; i += kLanes) {
    hn::Store(hn::MulAdd(scale, hn::Load(d, b + i), hn::Load(d, a + i)), d, out + i);
  }
}

double MultiplyAddProbe(int64_t rounds, float* out) {
  // Enough chains to hide the latency of every machine's two units, and few enough for the registers.
  constexpr int kChains = kLanes == 16 ? 24 : 12;
  const DF d;
  // The chains tend to 1: no number on the way is slow to compute with.
  const VF half = hn::Set(d, out[0]);
  VF chains[kChains];
  HWY_UNROLL(24)
  for (int c = 0; c < kChains; ++c) chains[c] = hn::Set(d, 1.0f / static_cast<float>(c + 2));
  for (int64_t i = 0; i < rounds; ++i) {
    HWY_UNROLL(24)
    for (int c = 0; c < kChains; ++c) chains[c] = hn::MulAdd(chains[c], half, half);
  }
  for (int c = 1; c < kChains; ++c) chains[0] = hn::Add(chains[0], chains[c]);
  out[1] = hn::GetLane(hn::SumOfLanes(d, chains[0]));
  return 2.0 * static_cast<double>(rounds) * kChains * kLanes;
}

}  // namespace HWY_NAMESPACE
}  // namespace fullband
HWY_AFTER_NAMESPACE();

#endif  // FULLBAND_PROBES_INL_H_
