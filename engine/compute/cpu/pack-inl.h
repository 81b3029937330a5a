// Making and interleaving the inputs of matrix products. Included once for each target.
#if defined(FULLBAND_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLBAND_PACK_INL_H_
#undef FULLBAND_PACK_INL_H_
#else
#define FULLBAND_PACK_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "engine/compute/cpu/elementwise-inl.h"
#include "engine/compute/cpu/kernels.h"
#include "engine/compute/cpu/matmul-inl.h"
#include "engine/compute/cpu/vectors-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fullband {
namespace HWY_NAMESPACE {

// Inputs that are made and interleaved at once: a strip of a block stays in the first-level cache.
constexpr int64_t kStrip = 64;

// Inputs [begin, begin + count) of a row, written from `out` on, up to a multiple of 16.
HWY_INLINE void MakeStrip(const ProductInput& in, int64_t row, int64_t begin, int64_t count, float* out) {
  const DF d;
  const float* x = in.x + row * in.stride + begin;
  if (in.scales != nullptr) {
    const VF scale = hn::Set(d, in.scales[row]);
    for (int64_t i = 0; i < count; i += kLanes) {
      hn::Store(Normed(x + i, scale, in.weight + begin + i), d, out + i);
    }
  } else if (in.up != nullptr) {
    const float* up = in.up + row * in.stride + begin;
    for (int64_t i = 0; i < count; i += kLanes) hn::Store(SiluGated(x + i, up + i), d, out + i);
  } else {
    for (int64_t i = 0; i < count; i += kLanes) hn::Store(hn::LoadU(d, x + i), d, out + i);
  }
}

// Four rows times four inputs, from rows kStrip apart to columns `rows` apart.
HWY_INLINE void TransposeFour(const float* strip, int64_t rows, float* out) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t k = 0; k < 4; ++k) {
    for (int64_t r = 0; r < 4; ++r) out[k * rows + r] = strip[r * kStrip + k];
  }
#else
  const hn::Full128<float> d;
  const auto a = hn::Load(d, strip), b = hn::Load(d, strip + kStrip), c = hn::Load(d, strip + 2 * kStrip),
             e = hn::Load(d, strip + 3 * kStrip);
  const auto ab = hn::InterleaveLower(d, a, b), ce = hn::InterleaveLower(d, c, e);
  const auto ab_upper = hn::InterleaveUpper(d, a, b), ce_upper = hn::InterleaveUpper(d, c, e);
  hn::StoreU(hn::ConcatLowerLower(d, ce, ab), d, out);
  hn::StoreU(hn::ConcatUpperUpper(d, ce, ab), d, out + rows);
  hn::StoreU(hn::ConcatLowerLower(d, ce_upper, ab_upper), d, out + 2 * rows);
  hn::StoreU(hn::ConcatUpperUpper(d, ce_upper, ab_upper), d, out + 3 * rows);
#endif
}

// strip [rows][kStrip] to out [count][rows].
HWY_INLINE void Interleave(const float* strip, int64_t rows, int64_t count, float* out) {
  const int64_t fours = rows >= 4 ? count / 4 * 4 : 0;
  for (int64_t r = 0; r < rows && fours > 0; r += 4) {
    const int64_t first = std::min(r, rows - 4);  // the last four rows may overlap those before
    for (int64_t k = 0; k < fours; k += 4) {
      TransposeFour(strip + first * kStrip + k, rows, out + k * rows + first);
    }
  }
  for (int64_t k = fours; k < count; ++k) {
    for (int64_t r = 0; r < rows; ++r) out[k * rows + r] = strip[r * kStrip + k];
  }
}

int64_t PackItems(int64_t rows, int64_t inputs) { return RowBlocks(rows) * ((inputs + kStrip - 1) / kStrip); }

void Pack(const ProductInput& in, int64_t item_begin, int64_t item_end, float* packed) {
  const int64_t strips = (in.inputs + kStrip - 1) / kStrip;
  HWY_ALIGN float strip[kMaxRows * kStrip];
  for (int64_t item = item_begin; item < item_end; ++item) {
    const int64_t block = item / strips, begin = item % strips * kStrip;
    const int64_t row = BlockBegin(in.rows, block), rows = BlockBegin(in.rows, block + 1) - row;
    const int64_t count = std::min(kStrip, in.inputs - begin);
    for (int64_t r = 0; r < rows; ++r) MakeStrip(in, row + r, begin, count, strip + r * kStrip);
    Interleave(strip, rows, count, packed + row * in.inputs + begin * rows);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullband
HWY_AFTER_NAMESPACE();

#endif  // FULLBAND_PACK_INL_H_
