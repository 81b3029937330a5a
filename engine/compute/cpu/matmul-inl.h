// Matrix products: outputs in lanes, one chain of fused multiply-adds over ascending inputs for each output
// element. Included once for each target.
#if defined(FULLBAND_MATMUL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLBAND_MATMUL_INL_H_
#undef FULLBAND_MATMUL_INL_H_
#else
#define FULLBAND_MATMUL_INL_H_
#endif

#include <algorithm>
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

// Accumulators that fit the registers beside weights and inputs: 32 registers or 16.
constexpr int kAccumulators = HWY_TARGET == HWY_AVX2 || kLanes < 4 ? 12 : 24;
constexpr int kMaxRows = kAccumulators / 2;

// Few rows take several units at once: eight chains or more hide the latency of the multiply-add.
constexpr int UnitsFor(int rows) { return rows * 8 <= kAccumulators ? 4 : rows * 4 <= kAccumulators ? 2 : 1; }

HWY_INLINE void LoadPair(const float* w, VF& low, VF& high) {
  low = hn::Load(DF(), w);
  high = hn::Load(DF(), w + kHalfPanel);
}

HWY_INLINE void LoadPair(const uint16_t* w, VF& low, VF& high) {
  const hn::RebindToUnsigned<DF> words;
  const auto both = hn::Load(words, reinterpret_cast<const uint32_t*>(w));
  low = hn::BitCast(DF(), hn::ShiftLeft<16>(both));
  high = hn::BitCast(DF(), hn::And(both, hn::Set(words, 0xffff0000u)));
}

// Lane offset of a unit within the weights of one input.
constexpr int64_t UnitOffset(const float*, int64_t unit) { return unit * kLanes; }
constexpr int64_t UnitOffset(const uint16_t*, int64_t unit) { return unit * kLanes * 2; }

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
template <class T, int kRows, int kUnits, bool kFetch>
void Tile(const Product& p, const T* weights, int64_t row, int64_t first_unit, Ahead& ahead) {
  const DF d;
  const int64_t inputs = p.weights->inputs;
  const T* w[kUnits];
  for (int u = 0; u < kUnits; ++u) {
    const int64_t unit = first_unit + u;
    w[u] = weights + unit / kUnitsPerPanel * inputs * kPanel + UnitOffset(weights, unit % kUnitsPerPanel);
  }
  const float* x = p.x + row * inputs;
  VF sums[kRows][kUnits][2];
  HWY_UNROLL(12)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int u = 0; u < kUnits; ++u) sums[r][u][0] = sums[r][u][1] = hn::Zero(d);
  }
  const char* next = ahead.at;
  const int64_t step = ahead.step;
  for (int64_t k = 0; k < inputs; ++k) {
    VF low[kUnits], high[kUnits];
    HWY_UNROLL(4)
    for (int u = 0; u < kUnits; ++u) LoadPair(w[u] + k * kPanel, low[u], high[u]);
    if constexpr (kFetch) {
      __builtin_prefetch(next, 0, /*locality=*/2);
      next += step;
    }
    HWY_UNROLL(12)
    for (int r = 0; r < kRows; ++r) {
      const VF input = hn::Set(d, x[k * kRows + r]);
      HWY_UNROLL(4)
      for (int u = 0; u < kUnits; ++u) {
        sums[r][u][0] = hn::MulAdd(input, low[u], sums[r][u][0]);
        sums[r][u][1] = hn::MulAdd(input, high[u], sums[r][u][1]);
      }
    }
  }
  ahead.at = next;
  StoreTile<kRows, kUnits>(p, row, first_unit, sums);
}

// Rows [row, row + count), count <= kRows, times units [begin, end).
template <class T, int kRows, bool kFetch>
void TileRow(const Product& p, const T* weights, int64_t row, int64_t count, int64_t begin, int64_t end,
             Ahead& ahead) {
  if constexpr (kRows > 1) {
    if (count < kRows) return TileRow<T, kRows - 1, kFetch>(p, weights, row, count, begin, end, ahead);
  }
  constexpr int kUnits = UnitsFor(kRows);
  int64_t unit = begin;
  for (; unit + kUnits <= end; unit += kUnits) Tile<T, kRows, kUnits, kFetch>(p, weights, row, unit, ahead);
  for (; unit < end; ++unit) Tile<T, kRows, 1, kFetch>(p, weights, row, unit, ahead);
}

HWY_INLINE int64_t RowBlocks(int64_t rows) { return (rows + kMaxRows - 1) / kMaxRows; }

// First row of a block; blocks are as even as can be.
HWY_INLINE int64_t BlockBegin(int64_t rows, int64_t block) { return rows * block / RowBlocks(rows); }

// Panels [begin, end) times all rows, which are one block.
template <class T>
void MultiplyOneBlock(const Product& p, const T* weights, int64_t begin, int64_t end) {
  // Each weight is read once, as a stream that the processor fetches ahead by itself.
  Ahead none;
  TileRow<T, kMaxRows, false>(p, weights, 0, p.rows, begin * kUnitsPerPanel, end * kUnitsPerPanel, none);
}

// Panels [begin, end) times several blocks of rows: a panel stays in the cache while all of them pass over
// it.
template <class T>
void MultiplyBlocks(const Product& p, const T* weights, int64_t begin, int64_t end) {
  const int64_t inputs = p.weights->inputs, blocks = RowBlocks(p.rows);
  const int64_t tiles = blocks * kUnitsPerPanel;
  const int64_t panel_bytes = inputs * kPanel * static_cast<int64_t>(sizeof(T));
  Ahead ahead;
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t next = std::min(panel + 1, end - 1);  // the last one fetches itself, which costs nothing
    ahead.at = reinterpret_cast<const char*>(weights) + next * panel_bytes;
    ahead.step = panel_bytes / (inputs * tiles);
    for (int64_t b = 0; b < blocks; ++b) {
      const int64_t row = BlockBegin(p.rows, b), count = BlockBegin(p.rows, b + 1) - row;
      TileRow<T, kMaxRows, true>(p, weights, row, count, panel * kUnitsPerPanel, (panel + 1) * kUnitsPerPanel,
                                 ahead);
    }
  }
}

template <class T>
void MultiplyBy(const Product& p, const T* weights, int64_t panel_begin, int64_t panel_end) {
  if (RowBlocks(p.rows) == 1) {
    MultiplyOneBlock(p, weights, panel_begin, panel_end);
  } else {
    MultiplyBlocks(p, weights, panel_begin, panel_end);
  }
}

void Multiply(const Product& p, int64_t panel_begin, int64_t panel_end) {
  if (p.weights->bf16) {
    MultiplyBy(p, p.weights->b16.data(), panel_begin, panel_end);
  } else {
    MultiplyBy(p, p.weights->f32.data(), panel_begin, panel_end);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullband
HWY_AFTER_NAMESPACE();

#endif  // FULLBAND_MATMUL_INL_H_
