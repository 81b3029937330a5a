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

// The weights of one unit in each form: `Load` widens those of kAtOnce inputs from input k + part * kAtOnce
// on, where k is a multiple of kGroup.
class F32Unit {
 public:
  static constexpr int kGroup = 1, kAtOnce = 1;
  static const void* Panel(const PackedMatrix& m, int64_t panel) {
    return m.f32.data() + panel * m.inputs * kPanel;
  }
  HWY_INLINE F32Unit(const Product& p, int64_t unit)
      : F32Unit(p.weights->f32.data() + unit / kUnitsPerPanel * p.weights->inputs * kPanel, unit) {}
  HWY_INLINE void Load(int64_t k, int /*part*/, VF (&low)[kAtOnce], VF (&high)[kAtOnce]) const {
    low[0] = hn::Load(DF(), at_ + k * kPanel);
    high[0] = hn::Load(DF(), at_ + k * kPanel + kHalfPanel);
  }

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
  static constexpr int kGroup = 1, kAtOnce = 1;
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

 private:
  const uint16_t* at_;
};

class CodedUnit {
 public:
  static constexpr int kGroup = kCodedGroup, kAtOnce = 2;
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

#if HWY_TARGET == HWY_SCALAR
  void Load(int64_t k, int part, VF (&low)[kAtOnce], VF (&high)[kAtOnce]) const {
    const uint8_t* group = at_ + k / kCodedGroup * kCodedGroupBytes;
    for (int i = 0; i < kAtOnce; ++i) {
      const uint8_t* lower = group + part * 64 + lane_ / 4 * 16 + i * 8 + lane_ % 4 * 2;
      const uint32_t codes = group[128 + part * 32 + lane_ / 4 * 8 + i * 4 + lane_ % 4];
      const uint32_t first = uint32_t{upper_[codes & 15]} << 8 | lower[0];
      const uint32_t other = uint32_t{upper_[codes >> 4]} << 8 | lower[1];
      WidenWords(hn::Set(hn::RebindToUnsigned<DF>(), other << 16 | first), low[i], high[i]);
    }
  }
#else
  HWY_INLINE void Load(int64_t k, int part, VF (&low)[kAtOnce], VF (&high)[kAtOnce]) const {
    const hn::RebindToUnsigned<DF> words;
    const hn::Repartition<uint16_t, DF> pairs;
    const hn::Rebind<uint8_t, decltype(pairs)> half;
    const uint8_t* group = at_ + k / kCodedGroup * kCodedGroupBytes;
    const auto lower = hn::Load(kBytes, group + part * 64 + lane_ * 4);
    const auto codes = hn::PromoteTo(pairs, hn::Load(half, group + 128 + part * 32 + lane_ * 2));
    // The lower code of each byte to an even byte, the upper one to the odd byte after it.
    const auto apart = hn::And(hn::Or(codes, hn::ShiftLeft<4>(codes)), hn::Set(pairs, 0x0f0f));
    const auto upper = hn::TableLookupBytes(table_, hn::BitCast(kBytes, apart));
    WidenWords(hn::BitCast(words, hn::InterleaveLower(kBytes, lower, upper)), low[0], high[0]);
    WidenWords(hn::BitCast(words, hn::InterleaveUpper(kBytes, lower, upper)), low[1], high[1]);
  }
#endif

 private:
  static constexpr hn::Repartition<uint8_t, DF> kBytes{};
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
