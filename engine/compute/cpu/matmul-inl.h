// Matrix products: outputs in lanes, one chain of fused multiply-adds over ascending inputs for each output
// element. Included once for each target.
#if defined(FULLBAND_MATMUL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLBAND_MATMUL_INL_H_
#undef FULLBAND_MATMUL_INL_H_
#else
#define FULLBAND_MATMUL_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "engine/compute/cpu/kernels.h"
#include "engine/compute/cpu/vectors-inl.h"
#include "engine/compute/cpu/weight_units-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fullband {
namespace HWY_NAMESPACE {

// Accumulators that fit the registers beside weights and inputs: 32 registers or 16.
constexpr int kAccumulators = HWY_TARGET == HWY_AVX2 || kLanes < 4 ? 12 : 24;
constexpr int kMaxRows = kAccumulators / 2;

// So many blocks of rows widen a coded panel again each in less time than it takes to write it and read it.
constexpr int64_t kWideningBlocks = kAccumulators == 24 ? 4 : 2;

// Few rows take several units at once: eight chains or more hide the latency of the multiply-add. Weights
// that take more registers to widen leave room for fewer.
template <class Unit>
constexpr int UnitsFor(int rows) {
  if (Unit::kAtOnce > 1 && kAccumulators == 24) return rows < 2 ? 4 : rows < 6 ? 2 : 1;
  return rows * 8 <= kAccumulators ? 4 : rows * 4 <= kAccumulators ? 2 : 1;
}

// Of how many parts of a group the weights are widened before any is used, as far as registers last.
template <class Unit>
constexpr int PartsFor(int rows, int units) {
  constexpr int kParts = Unit::kGroup / Unit::kAtOnce;
  return units == 1 && rows <= 8 && kAccumulators == 24 ? kParts : 1;
}

template <int kRows, int kUnits>
HWY_INLINE void StoreTile(const Product& p, int64_t row, int64_t first_unit,
                          const VF (&sums)[kRows][kUnits][2]) {
  const DF d;
  HWY_UNROLL(4)
  for (int u = 0; u < kUnits; ++u) {
    const int64_t unit = first_unit + u;
    const int64_t begin = unit / kUnitsPerPanel * kPanel + unit % kUnitsPerPanel * kLanes;
    HWY_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      const int64_t column = begin + half * kHalfPanel;
      const VF bias = p.weights->bias.size() > 0 ? hn::Load(d, p.weights->bias.data() + column) : hn::Zero(d);
      HWY_UNROLL(12)
      for (int r = 0; r < kRows; ++r) {
        float* out = p.out + (row + r) * p.stride + column;
        const VF sum = hn::Add(sums[r][u][half], bias);
        hn::Store(p.add ? hn::Add(hn::Load(d, out), sum) : sum, d, out);
      }
    }
  }
}

// What of the weights is fetched before it is needed, a step of it for each group of inputs of a tile.
//
// Nothing: one row waits for the memory in any case, and the processor fetches a stream ahead by itself.
struct FetchNothing {
  template <class Unit>
  HWY_INLINE void Step(const Unit& /*unit*/, int64_t /*k*/) {}
};

// What the tile itself comes to: where each weight is read once.
struct FetchOwn {
  template <class Unit>
  HWY_INLINE void Step(const Unit& unit, int64_t k) {
    unit.Fetch(k);
  }
};

// The panel that comes next, into the second-level cache, spread over all tiles of this one: where several
// blocks of rows pass over a panel, so that the memory never waits for the arithmetic.
template <int kLines>
struct FetchNext {
  const char* at = nullptr;
  int64_t step = 0;  // bytes; no more than kLines lines

  template <class Unit>
  HWY_INLINE void Step(const Unit& /*unit*/, int64_t /*k*/) {
    HWY_UNROLL(2)
    for (int i = 0; i < kLines; ++i) __builtin_prefetch(at + i * 64, 0, /*locality=*/2);
    at += step;
  }
};

// kRows rows from `row` on times kUnits units from `first_unit` on.
template <class Unit, int kRows, int kUnits, class Fetch, size_t... kEach>
void Tile(const Product& p, int64_t row, int64_t first_unit, Fetch& fetch, std::index_sequence<kEach...>) {
  const DF d;
  constexpr int kAtOnce = Unit::kAtOnce, kParts = Unit::kGroup / kAtOnce;
  constexpr int kLoaded = PartsFor<Unit>(kRows, kUnits);
  const int64_t inputs = p.weights->inputs;
  const Unit units[kUnits] = {Unit(p, first_unit + static_cast<int64_t>(kEach))...};
  const float* x = p.x + row * inputs;
  VF sums[kRows][kUnits][2];
  HWY_UNROLL(12)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int u = 0; u < kUnits; ++u) sums[r][u][0] = sums[r][u][1] = hn::Zero(d);
  }
  Fetch fetching = fetch;  // so that it stays in registers
  for (int64_t k = 0; k < inputs; k += Unit::kGroup) {
    // Units of one panel share its lines.
    HWY_UNROLL(4)
    for (int u = 0; u < kUnits; u += kUnitsPerPanel) fetching.Step(units[u], k);
    HWY_UNROLL(2)
    for (int first = 0; first < kParts; first += kLoaded) {
      VF low[kLoaded][kUnits][kAtOnce], high[kLoaded][kUnits][kAtOnce];
      HWY_UNROLL(2)
      for (int part = 0; part < kLoaded; ++part) {
        HWY_UNROLL(4)
        for (int u = 0; u < kUnits; ++u) units[u].Load(k, first + part, low[part][u], high[part][u]);
      }
      HWY_UNROLL(4)
      for (int i = 0; i < kLoaded * kAtOnce; ++i) {
        const float* column = x + (k + first * kAtOnce + i) * kRows;
        HWY_UNROLL(12)
        for (int r = 0; r < kRows; ++r) {
          const VF input = hn::Set(d, column[r]);
          HWY_UNROLL(4)
          for (int u = 0; u < kUnits; ++u) {
            sums[r][u][0] = hn::MulAdd(input, low[i / kAtOnce][u][i % kAtOnce], sums[r][u][0]);
            sums[r][u][1] = hn::MulAdd(input, high[i / kAtOnce][u][i % kAtOnce], sums[r][u][1]);
          }
        }
      }
    }
  }
  fetch = fetching;
  StoreTile<kRows, kUnits>(p, row, first_unit, sums);
}

// Rows [row, row + count), count <= kRows, times units [begin, end).
template <class Unit, int kRows, class Fetch>
void TileRow(const Product& p, int64_t row, int64_t count, int64_t begin, int64_t end, Fetch& fetch) {
  if constexpr (kRows > 1) {
    if (count < kRows) return TileRow<Unit, kRows - 1>(p, row, count, begin, end, fetch);
  }
  constexpr int kUnits = UnitsFor<Unit>(kRows);
  int64_t unit = begin;
  for (; unit + kUnits <= end; unit += kUnits) {
    Tile<Unit, kRows, kUnits>(p, row, unit, fetch, std::make_index_sequence<kUnits>());
  }
  for (; unit < end; ++unit) {
    Tile<Unit, kRows, 1>(p, row, unit, fetch, std::make_index_sequence<1>());
  }
}

HWY_INLINE int64_t RowBlocks(int64_t rows) { return (rows + kMaxRows - 1) / kMaxRows; }

// First row of a block; blocks are as even as can be.
HWY_INLINE int64_t BlockBegin(int64_t rows, int64_t block) { return rows * block / RowBlocks(rows); }

// Panels [begin, end) times all rows, which are one block.
template <class Unit>
void MultiplyOneBlock(const Product& p, int64_t begin, int64_t end) {
  const int64_t begin_unit = begin * kUnitsPerPanel, end_unit = end * kUnitsPerPanel;
  if (p.rows == 1) {
    FetchNothing nothing;
    TileRow<Unit, 1>(p, 0, 1, begin_unit, end_unit, nothing);
  } else {
    FetchOwn own;
    TileRow<Unit, kMaxRows>(p, 0, p.rows, begin_unit, end_unit, own);
  }
}

// Panels [begin, end) times several blocks of rows: a panel stays in the cache while all of them pass over
// it.
template <class Unit>
void MultiplyBlocks(const Product& p, int64_t begin, int64_t end) {
  const int64_t inputs = p.weights->inputs, blocks = RowBlocks(p.rows);
  const int64_t tiles = blocks * kUnitsPerPanel;
  const auto panel_at = [&](int64_t panel) {
    return static_cast<const char*>(Unit::Panel(*p.weights, panel));
  };
  // With two blocks, the fewest, a step is longest.
  constexpr int kLines = (Unit::kGroupBytes / (2 * kUnitsPerPanel) + 63) / 64;
  FetchNext<kLines> fetch{.step = (panel_at(1) - panel_at(0)) * Unit::kGroup / (inputs * tiles)};
  for (int64_t panel = begin; panel < end; ++panel) {
    fetch.at = panel_at(std::min(panel + 1, end - 1));  // the last one fetches itself, which costs nothing
    if constexpr (std::is_same_v<Unit, WidenedUnit>) Unit::Widen(p, panel);
    for (int64_t b = 0; b < blocks; ++b) {
      const int64_t row = BlockBegin(p.rows, b), count = BlockBegin(p.rows, b + 1) - row;
      TileRow<Unit, kMaxRows>(p, row, count, panel * kUnitsPerPanel, (panel + 1) * kUnitsPerPanel, fetch);
    }
  }
}

template <class Unit>
void MultiplyBy(const Product& p, int64_t panel_begin, int64_t panel_end) {
  if (RowBlocks(p.rows) == 1) {
    MultiplyOneBlock<Unit>(p, panel_begin, panel_end);
  } else {
    MultiplyBlocks<Unit>(p, panel_begin, panel_end);
  }
}

// What the strays of panels [begin, end) add.
void AddStrays(const Product& p, int64_t begin, int64_t end) {
  const PackedMatrix& m = *p.weights;
  if (m.stray_begins.empty()) return;
  for (int64_t b = 0; b < RowBlocks(p.rows); ++b) {
    const int64_t row = BlockBegin(p.rows, b), count = BlockBegin(p.rows, b + 1) - row;
    const float* x = p.x + row * m.inputs;
    for (int64_t panel = begin; panel < end; ++panel) {
      float* out = p.out + row * p.stride + panel * kPanel;
      for (int64_t i = m.stray_begins[panel]; i < m.stray_begins[panel + 1]; ++i) {
        const StrayWeight& stray = m.strays[i];
        const hn::CappedTag<float, 1> d;  // so that each is one multiply-add on every target
        const auto weight = hn::Set(d, std::bit_cast<float>(uint32_t{stray.bf16} << 16));
        const float* column = x + stray.input * count;
        for (int64_t r = 0; r < count; ++r) {
          float& sum = out[r * p.stride + stray.output];
          sum = hn::GetLane(hn::MulAdd(hn::Set(d, column[r]), weight, hn::Set(d, sum)));
        }
      }
    }
  }
}

void Multiply(const Product& p, int64_t panel_begin, int64_t panel_end) {
  switch (p.weights->form) {
    case WeightForm::kF32:
      return MultiplyBy<F32Unit>(p, panel_begin, panel_end);
    case WeightForm::kBF16:
      return MultiplyBy<BF16Unit>(p, panel_begin, panel_end);
    case WeightForm::kCoded:
      if (p.widened != nullptr && RowBlocks(p.rows) > kWideningBlocks) {
        MultiplyBlocks<WidenedUnit>(p, panel_begin, panel_end);
      } else {
        MultiplyBy<CodedUnit>(p, panel_begin, panel_end);
      }
      return AddStrays(p, panel_begin, panel_end);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullband
HWY_AFTER_NAMESPACE();

#endif  // FULLBAND_MATMUL_INL_H_
