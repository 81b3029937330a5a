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

// Few rows take several units at once: eight chains or more hide the latency of the multiply-add.
constexpr int UnitsFor(int rows) { return rows * 8 <= kAccumulators ? 4 : rows * 4 <= kAccumulators ? 2 : 1; }

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

// The weights of the panel that comes next, fetched into the second-level cache while rows pass over this
// one, so that the memory never waits for the arithmetic.
struct Ahead {
  const char* at = nullptr;
  int64_t step = 0;  // bytes a tile's step: a panel's, spread over all tiles of this one
};

// kRows rows from `row` on times kUnits units from `first_unit` on.
template <class Unit, int kRows, int kUnits, bool kFetch, size_t... kEach>
void Tile(const Product& p, int64_t row, int64_t first_unit, Ahead& ahead, std::index_sequence<kEach...>) {
  const DF d;
  constexpr int kAtOnce = Unit::kAtOnce;
  const int64_t inputs = p.weights->inputs;
  const Unit units[kUnits] = {Unit(p, first_unit + static_cast<int64_t>(kEach))...};
  const float* x = p.x + row * inputs;
  VF sums[kRows][kUnits][2];
  HWY_UNROLL(12)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int u = 0; u < kUnits; ++u) sums[r][u][0] = sums[r][u][1] = hn::Zero(d);
  }
  const char* next = ahead.at;
  const int64_t step = ahead.step * Unit::kGroup;
  for (int64_t k = 0; k < inputs; k += Unit::kGroup) {
    if constexpr (kFetch) {
      __builtin_prefetch(next, 0, /*locality=*/2);
      next += step;
    }
    HWY_UNROLL(2)
    for (int part = 0; part < Unit::kGroup / kAtOnce; ++part) {
      VF low[kUnits][kAtOnce], high[kUnits][kAtOnce];
      HWY_UNROLL(4)
      for (int u = 0; u < kUnits; ++u) units[u].Load(k, part, low[u], high[u]);
      HWY_UNROLL(2)
      for (int i = 0; i < kAtOnce; ++i) {
        const float* column = x + (k + part * kAtOnce + i) * kRows;
        HWY_UNROLL(12)
        for (int r = 0; r < kRows; ++r) {
          const VF input = hn::Set(d, column[r]);
          HWY_UNROLL(4)
          for (int u = 0; u < kUnits; ++u) {
            sums[r][u][0] = hn::MulAdd(input, low[u][i], sums[r][u][0]);
            sums[r][u][1] = hn::MulAdd(input, high[u][i], sums[r][u][1]);
          }
        }
      }
    }
  }
  ahead.at = next;
  StoreTile<kRows, kUnits>(p, row, first_unit, sums);
}

// Rows [row, row + count), count <= kRows, times units [begin, end).
template <class Unit, int kRows, bool kFetch>
void TileRow(const Product& p, int64_t row, int64_t count, int64_t begin, int64_t end, Ahead& ahead) {
  if constexpr (kRows > 1) {
    if (count < kRows) return TileRow<Unit, kRows - 1, kFetch>(p, row, count, begin, end, ahead);
  }
  constexpr int kUnits = UnitsFor(kRows);
  int64_t unit = begin;
  for (; unit + kUnits <= end; unit += kUnits) {
    Tile<Unit, kRows, kUnits, kFetch>(p, row, unit, ahead, std::make_index_sequence<kUnits>());
  }
  for (; unit < end; ++unit) {
    Tile<Unit, kRows, 1, kFetch>(p, row, unit, ahead, std::make_index_sequence<1>());
  }
}

HWY_INLINE int64_t RowBlocks(int64_t rows) { return (rows + kMaxRows - 1) / kMaxRows; }

// First row of a block; blocks are as even as can be.
HWY_INLINE int64_t BlockBegin(int64_t rows, int64_t block) { return rows * block / RowBlocks(rows); }

// Panels [begin, end) times all rows, which are one block.
template <class Unit>
void MultiplyOneBlock(const Product& p, int64_t begin, int64_t end) {
  // Each weight is read once, as a stream that the processor fetches ahead by itself.
  Ahead none;
  TileRow<Unit, kMaxRows, false>(p, 0, p.rows, begin * kUnitsPerPanel, end * kUnitsPerPanel, none);
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
  Ahead ahead;
  ahead.step = (panel_at(1) - panel_at(0)) / (inputs * tiles);
  for (int64_t panel = begin; panel < end; ++panel) {
    ahead.at = panel_at(std::min(panel + 1, end - 1));  // the last one fetches itself, which costs nothing
    if constexpr (std::is_same_v<Unit, WidenedUnit>) Unit::Widen(p, panel);
    for (int64_t b = 0; b < blocks; ++b) {
      const int64_t row = BlockBegin(p.rows, b), count = BlockBegin(p.rows, b + 1) - row;
      TileRow<Unit, kMaxRows, true>(p, row, count, panel * kUnitsPerPanel, (panel + 1) * kUnitsPerPanel,
                                    ahead);
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
      // Two blocks widen a panel twice in less time than it takes to write it and read it again.
      if (p.widened != nullptr && RowBlocks(p.rows) > 2) {
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
