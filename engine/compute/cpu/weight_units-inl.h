// The weights that a matrix product takes at once, from each form that they are kept in. Included once for
// each target.
#if defined(FULLBAND_WEIGHT_UNITS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLBAND_WEIGHT_UNITS_INL_H_
#undef FULLBAND_WEIGHT_UNITS_INL_H_
#else
#define FULLBAND_WEIGHT_UNITS_INL_H_
#endif

#include <cstdint>

#include "engine/compute/cpu/kernels.h"
#include "engine/compute/cpu/vectors-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fullband {
namespace HWY_NAMESPACE {

// The pairs of vectors (outputs j.. and j + 16..) that a panel consists of: the unit in which tiles grow
// sideways.
constexpr int64_t kUnitsPerPanel = kHalfPanel / kLanes;

// Lines are fetched this far ahead of what is read: a stream then crosses from one of the machine's pages to
// the next, where the processor's own fetching ends, without a stop.
constexpr int64_t kFetchAhead = 2048;

template <int64_t kBytes>
HWY_INLINE void FetchAhead(const void* at) {
  HWY_UNROLL(4)
  for (int64_t i = 0; i < kBytes; i += 64) {
    __builtin_prefetch(static_cast<const char*>(at) + kFetchAhead + i, 0, /*locality=*/3);
  }
}

// The weights of one unit in each form, in groups of kGroup inputs, which take kGroupBytes of a panel. `Load`
// widens those of kAtOnce inputs from input k + part * kAtOnce on, where k is a multiple of kGroup; `Fetch`
// fetches those kFetchAhead further on.
class F32Unit {
 public:
  static constexpr int kGroup = 1, kAtOnce = 1, kGroupBytes = kPanel * sizeof(float);
  static const void* Panel(const PackedMatrix& m, int64_t panel) {
    return m.f32.data() + panel * m.inputs * kPanel;
  }
  HWY_INLINE F32Unit(const Product& p, int64_t unit)
      : F32Unit(p.weights->f32.data() + unit / kUnitsPerPanel * p.weights->inputs * kPanel, unit) {}
  HWY_INLINE void Load(int64_t k, int /*part*/, VF (&low)[kAtOnce], VF (&high)[kAtOnce]) const {
    low[0] = hn::Load(DF(), at_ + k * kPanel);
    high[0] = hn::Load(DF(), at_ + k * kPanel + kHalfPanel);
  }
  HWY_INLINE void Fetch(int64_t k) const { FetchAhead<kGroupBytes>(at_ + k * kPanel); }

 protected:
  HWY_INLINE F32Unit(const float* panel, int64_t unit) : at_(panel + unit % kUnitsPerPanel * kLanes) {}

 private:
  const float* at_;
};

// Words of two bfloat16 numbers to two vectors.
template <class V>
HWY_INLINE void WidenWords(V words, VF& low, VF& high) {
  const hn::DFromV<V> d;
  low = hn::BitCast(DF(), hn::ShiftLeft<16>(words));
  high = hn::BitCast(DF(), hn::And(words, hn::Set(d, 0xffff0000u)));
}

class BF16Unit {
 public:
  static constexpr int kGroup = 1, kAtOnce = 1, kGroupBytes = kPanel * sizeof(uint16_t);
  static const void* Panel(const PackedMatrix& m, int64_t panel) {
    return m.b16.data() + panel * m.inputs * kPanel;
  }
  HWY_INLINE BF16Unit(const Product& p, int64_t unit)
      : at_(p.weights->b16.data() + unit / kUnitsPerPanel * p.weights->inputs * kPanel +
            unit % kUnitsPerPanel * kLanes * 2) {}
  HWY_INLINE void Load(int64_t k, int /*part*/, VF (&low)[kAtOnce], VF (&high)[kAtOnce]) const {
    const hn::RebindToUnsigned<DF> words;
    WidenWords(hn::Load(words, reinterpret_cast<const uint32_t*>(at_ + k * kPanel)), low[0], high[0]);
  }
  HWY_INLINE void Fetch(int64_t k) const { FetchAhead<kGroupBytes>(at_ + k * kPanel); }

 private:
  const uint16_t* at_;
};

class CodedUnit {
 public:
  static constexpr int kGroup = kCodedGroup, kAtOnce = 2, kGroupBytes = kCodedGroupBytes;
  static const void* Panel(const PackedMatrix& m, int64_t panel) {
    return m.coded.data() + panel * CodedPanelBytes(m.inputs);
  }
  HWY_INLINE CodedUnit(const Product& p, int64_t unit)
      : at_(p.weights->coded.data() + unit / kUnitsPerPanel * CodedPanelBytes(p.weights->inputs)),
        lane_(unit % kUnitsPerPanel * kLanes),
        upper_(p.weights->upper.data() + unit / kUnitsPerPanel * kCodes)
#if HWY_TARGET != HWY_SCALAR
        ,
        table_(hn::LoadDup128(kBytes, upper_))
#endif
  {
  }

  HWY_INLINE void Fetch(int64_t k) const {
    FetchAhead<kGroupBytes>(at_ + k / kCodedGroup * kCodedGroupBytes);
  }

#if HWY_TARGET == HWY_SCALAR
  void Load(int64_t k, int part, VF (&low)[kAtOnce], VF (&high)[kAtOnce]) const {
    const uint8_t* group = at_ + k / kCodedGroup * kCodedGroupBytes;
    for (int i = 0; i < kAtOnce; ++i) {
      const int64_t at = lane_ / 4 * 16 + i * 8 + lane_ % 4 * 2;
      const uint8_t *lower = group + part * 64 + at, *codes = group + 128 + at;
      const uint32_t first = uint32_t{upper_[codes[0] >> 4 * part & 15]} << 8 | lower[0];
      const uint32_t other = uint32_t{upper_[codes[1] >> 4 * part & 15]} << 8 | lower[1];
      WidenWords(hn::Set(hn::RebindToUnsigned<DF>(), other << 16 | first), low[i], high[i]);
    }
  }
#else
  HWY_INLINE void Load(int64_t k, int part, VF (&low)[kAtOnce], VF (&high)[kAtOnce]) const {
    const hn::RebindToUnsigned<DF> words;
    const uint8_t* group = at_ + k / kCodedGroup * kCodedGroupBytes;
    const auto lower = hn::Load(kBytes, group + part * 64 + lane_ * 4);
    const auto both = hn::Load(kBytes, group + 128 + lane_ * 4);
    const auto codes = hn::And(part == 0 ? both : ShiftedHalves(both), hn::Set(kBytes, 15));
    const auto upper = hn::TableLookupBytes(table_, codes);
    WidenWords(hn::BitCast(words, hn::InterleaveLower(kBytes, lower, upper)), low[0], high[0]);
    WidenWords(hn::BitCast(words, hn::InterleaveUpper(kBytes, lower, upper)), low[1], high[1]);
  }
#endif

 private:
  static constexpr hn::Repartition<uint8_t, DF> kBytes{};

#if HWY_TARGET != HWY_SCALAR
  // The upper half of each byte in the lower one, with bits of its neighbour above it.
  template <class V>
  static HWY_INLINE V ShiftedHalves(V bytes) {
    const hn::Repartition<uint16_t, DF> pairs;
    return hn::BitCast(kBytes, hn::ShiftRight<4>(hn::BitCast(pairs, bytes)));
  }
#endif

  const uint8_t* at_;
  int64_t lane_;
  const uint8_t* upper_;
#if HWY_TARGET != HWY_SCALAR
  hn::Vec<hn::Repartition<uint8_t, DF>> table_;
#endif
};

// A coded panel that was widened once, for many rows.
class WidenedUnit : public F32Unit {
 public:
  static const void* Panel(const PackedMatrix& m, int64_t panel) { return CodedUnit::Panel(m, panel); }
  HWY_INLINE WidenedUnit(const Product& p, int64_t unit) : F32Unit(p.widened, unit) {}

  static void Widen(const Product& p, int64_t panel) {
    const DF d;
    constexpr int kAtOnce = CodedUnit::kAtOnce;
    for (int64_t u = 0; u < kUnitsPerPanel; ++u) {
      const CodedUnit unit(p, panel * kUnitsPerPanel + u);
      float* out = p.widened + u * kLanes;
      for (int64_t k = 0; k < p.weights->inputs; k += CodedUnit::kGroup) {
        for (int part = 0; part < CodedUnit::kGroup / kAtOnce; ++part) {
          VF low[kAtOnce], high[kAtOnce];
          unit.Load(k, part, low, high);
          for (int i = 0; i < kAtOnce; ++i, out += kPanel) {
            hn::Store(low[i], d, out);
            hn::Store(high[i], d, out + kHalfPanel);
          }
        }
      }
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace fullband
HWY_AFTER_NAMESPACE();

#endif  // FULLBAND_WEIGHT_UNITS_INL_H_
