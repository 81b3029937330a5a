// Attention of a tile of query rows over pages. Included once for each target.
//
// Positions come in blocks of kBlockPositions, each with a softmax of its own, which are joined in order.
// What is computed for one query does not depend on the tile: a score is one chain over the head's
// dimensions, the sum of a block's weights sixteen chains and a tree, each mixed value one chain over the
// block's positions. Tiles only decide how often keys and values are loaded.
#if defined(FULLBAND_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLBAND_ATTENTION_INL_H_
#undef FULLBAND_ATTENTION_INL_H_
#else
#define FULLBAND_ATTENTION_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <limits>

#include "engine/compute/cpu/kernels.h"
#include "engine/compute/cpu/vectors-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fullband {
namespace HWY_NAMESPACE {

constexpr int64_t kPageVectors = kPageSize / kLanes;
// Queries that share a load of the keys, and vectors of values and queries that share theirs: as many as the
// registers hold (32 with 16 lanes and with 4, 16 with 8).
constexpr int kScoreQueries = kLanes == 16 ? 12 : kLanes >= 4 ? 3 : 1;
constexpr int kNarrowVectors = 16 / kLanes;
constexpr int kWideVectors = kNarrowVectors > 4 ? kNarrowVectors : 4;
constexpr int kMixQueries = kLanes == 8 ? 3 : kLanes >= 4 ? 6 : 1;

// ------------------------------------------------------------------------------------------------ scores

// Queries of a tile as the kernel reads them: [ceil(head_dim / 16)][queries][16], so that whichever queries
// follow each other lie at fixed distances.
HWY_INLINE void PackQueries(const AttentionTile& t, float* packed) {
  const int64_t queries = t.rows * t.heads;
  for (int64_t r = 0; r < t.rows; ++r) {
    for (int64_t h = 0; h < t.heads; ++h) {
      const float* query = t.queries[r] + t.first_number + h * t.head_dim;
      for (int64_t i = 0; i < t.head_dim; i += 16) {
        float* out = packed + i * queries + (r * t.heads + h) * 16;
        std::copy(query + i, query + std::min(i + 16, t.head_dim), out);
      }
    }
  }
}

// Brings a line nearer to every use of one that is loaded, where there is anything to bring.
template <bool kPrefetch>
HWY_INLINE void PrefetchNumbers(const float* next, int64_t count) {
  if constexpr (kPrefetch) {
    for (int64_t i = 0; i < count; i += 16) hwy::Prefetch(next + i);
  }
}

// Scores of kQueries queries, `queries_apart` numbers from one sixteen to the next.
template <int kQueries, bool kPrefetch>
HWY_INLINE void ScoreQueries(const float* queries, int64_t queries_apart, int64_t head_dim, const float* keys,
                             const float* next, float* scores) {
  const DF d;
  VF sums[kQueries][kPageVectors];
  HWY_UNROLL(12)
  for (auto& query : sums) {
    HWY_UNROLL(8)
    for (VF& sum : query) sum = hn::Zero(d);
  }
  for (int64_t begin = 0; begin < head_dim; begin += 16, queries += queries_apart) {
    const int64_t count = std::min<int64_t>(16, head_dim - begin);
    for (int64_t i = 0; i < count; ++i, keys += kPageSize, next += kPageSize) {
      PrefetchNumbers<kPrefetch>(next, kPageSize);
      if constexpr (kQueries > kPageVectors) {
        VF key[kPageVectors];
        HWY_UNROLL(8)
        for (int64_t p = 0; p < kPageVectors; ++p) key[p] = hn::Load(d, keys + p * kLanes);
        HWY_UNROLL(12)
        for (int q = 0; q < kQueries; ++q) {
          const VF query = hn::Set(d, queries[q * 16 + i]);
          HWY_UNROLL(8)
          for (int64_t p = 0; p < kPageVectors; ++p) sums[q][p] = hn::MulAdd(query, key[p], sums[q][p]);
        }
      } else {
        VF query[kQueries];
        HWY_UNROLL(12)
        for (int q = 0; q < kQueries; ++q) query[q] = hn::Set(d, queries[q * 16 + i]);
        HWY_UNROLL(8)
        for (int64_t p = 0; p < kPageVectors; ++p) {
          const VF key = hn::Load(d, keys + p * kLanes);
          HWY_UNROLL(12)
          for (int q = 0; q < kQueries; ++q) sums[q][p] = hn::MulAdd(query[q], key, sums[q][p]);
        }
      }
    }
  }
  HWY_UNROLL(12)
  for (int q = 0; q < kQueries; ++q) {
    HWY_UNROLL(8)
    for (int64_t p = 0; p < kPageVectors; ++p) {
      hn::Store(sums[q][p], d, scores + q * kWeightStride + p * kLanes);
    }
  }
}

template <int kQueries, bool kPrefetch>
void ScoreUpTo(int64_t count, const float* queries, int64_t queries_apart, int64_t head_dim,
               const float* keys, const float* next, float* scores) {
  if constexpr (kQueries > 1) {
    if (count < kQueries) {
      return ScoreUpTo<kQueries - 1, kPrefetch>(count, queries, queries_apart, head_dim, keys, next, scores);
    }
  }
  ScoreQueries<kQueries, kPrefetch>(queries, queries_apart, head_dim, keys, next, scores);
}

// Scores of `count` queries, in groups as even as can be. The first group fetches `next` meanwhile.
HWY_INLINE void ScorePage(int64_t count, const float* queries, int64_t queries_apart, int64_t head_dim,
                          const float* keys, const float* next, float* scores) {
  const int64_t groups = (count + kScoreQueries - 1) / kScoreQueries;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t begin = count * g / groups, size = count * (g + 1) / groups - begin;
    const float* q = queries + begin * 16;
    float* out = scores + begin * kWeightStride;
    if (g == 0) {
      ScoreUpTo<kScoreQueries, true>(size, q, queries_apart, head_dim, keys, next, out);
    } else {
      ScoreUpTo<kScoreQueries, false>(size, q, queries_apart, head_dim, keys, next, out);
    }
  }
}

// ------------------------------------------------------------------------------------------------ softmax

// Turns one query's scores of a block into weights exp(score - largest). Places from `present` to the page's
// end (which may hold anything) count for nothing. NaN comes out as a weight and a sum of NaN.
HWY_INLINE void BlockWeights(float* scores, int64_t present, float* largest, float* sum) {
  const DF d;
  const int64_t end = (present + kPageSize - 1) / kPageSize * kPageSize;
  std::fill(scores + present, scores + end, -std::numeric_limits<float>::infinity());
  Partials lanes;
  for (VF& lane : lanes.sums) lane = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (int64_t p = 0; p < end; p += 16) {
    for (int i = 0; i < Partials::kVectors; ++i) {
      const VF score = hn::Load(d, scores + p + i * kLanes);
      lanes.sums[i] = hn::IfThenElse(hn::Gt(score, lanes.sums[i]), score, lanes.sums[i]);
    }
  }
  for (int i = 1; i < Partials::kVectors; ++i) lanes.sums[0] = hn::Max(lanes.sums[0], lanes.sums[i]);
  *largest = hn::GetLane(hn::MaxOfLanes(d, lanes.sums[0]));
  const VF shift = hn::Set(d, *largest);
  Partials sums;
  for (int64_t p = 0; p < end; p += 16) {
    for (int i = 0; i < Partials::kVectors; ++i) {
      const VF weight = Exp(hn::Sub(hn::Load(d, scores + p + i * kLanes), shift));
      hn::Store(weight, d, scores + p + i * kLanes);
      sums.sums[i] = hn::Add(sums.sums[i], weight);
    }
  }
  *sum = sums.Total();
}

// ------------------------------------------------------------------------------------------------ values

// What a page's values are mixed into: kVectors of each query's numbers, `apart` from query to query.
struct Mixture {
  const float* weights;
  const float* values;
  const float* next;  // fetched meanwhile
  int64_t stride;     // of values
  int64_t present;    // positions
  bool first;         // page of the block: nothing has been mixed
  float* mixed;
  int64_t apart;
};

template <int kQueries, int kVectors, bool kPrefetch>
HWY_INLINE void MixQueries(const Mixture& m) {
  const DF d;
  VF sums[kQueries][kVectors];
  HWY_UNROLL(6)
  for (int q = 0; q < kQueries; ++q) {
    HWY_UNROLL(16)
    for (int v = 0; v < kVectors; ++v) {
      sums[q][v] = m.first ? hn::Zero(d) : hn::Load(d, m.mixed + q * m.apart + v * kLanes);
    }
  }
  const float* values = m.values;
  const float* next = m.next;
  for (int64_t p = 0; p < m.present; ++p, values += m.stride, next += m.stride) {
    PrefetchNumbers<kPrefetch>(next, kVectors * kLanes);
    if constexpr (kQueries > 3) {
      VF value[kVectors];
      HWY_UNROLL(16)
      for (int v = 0; v < kVectors; ++v) value[v] = hn::Load(d, values + v * kLanes);
      HWY_UNROLL(6)
      for (int q = 0; q < kQueries; ++q) {
        const VF weight = hn::Set(d, m.weights[q * kWeightStride + p]);
        HWY_UNROLL(16)
        for (int v = 0; v < kVectors; ++v) sums[q][v] = hn::MulAdd(weight, value[v], sums[q][v]);
      }
    } else {
      VF weight[kQueries];
      HWY_UNROLL(6)
      for (int q = 0; q < kQueries; ++q) weight[q] = hn::Set(d, m.weights[q * kWeightStride + p]);
      HWY_UNROLL(16)
      for (int v = 0; v < kVectors; ++v) {
        const VF value = hn::Load(d, values + v * kLanes);
        HWY_UNROLL(6)
        for (int q = 0; q < kQueries; ++q) sums[q][v] = hn::MulAdd(weight[q], value, sums[q][v]);
      }
    }
  }
  HWY_UNROLL(6)
  for (int q = 0; q < kQueries; ++q) {
    HWY_UNROLL(16)
    for (int v = 0; v < kVectors; ++v) hn::Store(sums[q][v], d, m.mixed + q * m.apart + v * kLanes);
  }
}

// All numbers of `count` queries, count <= kQueries.
template <int kQueries, bool kPrefetch>
void MixUpTo(int64_t count, Mixture m) {
  if constexpr (kQueries > 1) {
    if (count < kQueries) return MixUpTo<kQueries - 1, kPrefetch>(count, m);
  }
  const auto advance = [&m](int64_t numbers) {
    m.values += numbers;
    m.next += numbers;
    m.mixed += numbers;
  };
  int64_t left = m.stride;
  for (; left >= kWideVectors * kLanes; left -= kWideVectors * kLanes) {
    MixQueries<kQueries, kWideVectors, kPrefetch>(m);
    advance(kWideVectors * kLanes);
  }
  for (; left > 0; left -= 16) {
    MixQueries<kQueries, kNarrowVectors, kPrefetch>(m);
    advance(16);
  }
}

HWY_INLINE void MixPage(int64_t count, const Mixture& m) {
  const int64_t groups = (count + kMixQueries - 1) / kMixQueries;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t begin = count * g / groups, size = count * (g + 1) / groups - begin;
    Mixture some = m;
    some.weights += begin * kWeightStride;
    some.mixed += begin * m.apart;
    if (g == 0) {
      MixUpTo<kMixQueries, true>(size, some);
    } else {
      MixUpTo<kMixQueries, false>(size, some);
    }
  }
}

// ------------------------------------------------------------------------------------------------ tiles

// A tile's scratch memory, and what of it a block needs.
struct TileMemory {
  float* queries;  // packed
  float* weights;  // [queries, kWeightStride]
  float* parts[2];
  explicit TileMemory(const AttentionTile& t) {
    const int64_t count = t.rows * t.heads;
    queries = t.scratch;
    weights = queries + count * ValueStride(t.head_dim);
    parts[0] = weights + count * kWeightStride;
    parts[1] = parts[0] + AttentionPartSize(count, t.head_dim);
  }
};

// The numbers of one query in a part: those mixed, then the largest score and the sum of weights.
HWY_INLINE float* PartOf(const AttentionTile& t, float* part, int64_t query) {
  return part + query * AttentionPartSize(1, t.head_dim);
}

HWY_INLINE void ScoreBlock(const AttentionTile& t, int64_t block, const TileMemory& memory) {
  const int64_t first_page = block * kBlockPages, end_page = std::min(first_page + kBlockPages, t.pages);
  for (int64_t page = first_page; page < end_page; ++page) {
    for (int32_t r = t.run_begins[page]; r < t.run_begins[page + 1]; ++r) {
      const PageRun& run = t.runs[r];
      // The block's values come after its last keys.
      const float* next = r + 1 < t.run_begins[end_page]
                              ? t.runs[r + 1].page + t.key_offset
                              : t.runs[t.run_begins[first_page]].page + t.value_offset;
      ScorePage(run.rows * t.heads, memory.queries + run.first * t.heads * 16, t.rows * t.heads * 16,
                t.head_dim, run.page + t.key_offset, next,
                memory.weights + run.first * t.heads * kWeightStride + (page - first_page) * kPageSize);
    }
  }
}

HWY_INLINE void WeighBlock(const AttentionTile& t, int64_t block, const TileMemory& memory, float* part) {
  const int64_t stride = ValueStride(t.head_dim);
  for (int64_t row = 0; row < t.rows; ++row) {
    const int64_t present = std::min(t.positions[row] - block * kBlockPositions, kBlockPositions);
    if (present <= 0) continue;
    for (int64_t q = row * t.heads; q < (row + 1) * t.heads; ++q) {
      float* numbers = PartOf(t, part, q);
      BlockWeights(memory.weights + q * kWeightStride, present, &numbers[stride], &numbers[stride + 1]);
    }
  }
}

HWY_INLINE void MixBlock(const AttentionTile& t, int64_t block, const TileMemory& memory, float* part) {
  const int64_t first_page = block * kBlockPages, end_page = std::min(first_page + kBlockPages, t.pages);
  for (int64_t page = first_page; page < end_page; ++page) {
    const auto present = [&](int64_t row) {
      return std::min(t.positions[row] - page * kPageSize, kPageSize);
    };
    for (int32_t r = t.run_begins[page]; r < t.run_begins[page + 1]; ++r) {
      const PageRun& run = t.runs[r];
      const float* values = run.page + t.value_offset;
      // The next block's keys come after the last values.
      const bool last = r + 1 == t.run_begins[t.pages];
      const float* next = last                              ? values
                          : r + 1 == t.run_begins[end_page] ? t.runs[r + 1].page + t.key_offset
                                                            : t.runs[r + 1].page + t.value_offset;
      // Rows that see equally many of the page's positions go together.
      for (int64_t row = run.first, end; row < run.first + run.rows; row = end) {
        for (end = row + 1; end < run.first + run.rows && present(end) == present(row); ++end) {
        }
        const int64_t query = row * t.heads;
        MixPage((end - row) * t.heads,
                {.weights = memory.weights + query * kWeightStride + (page - first_page) * kPageSize,
                 .values = values,
                 .next = next,
                 .stride = ValueStride(t.head_dim),
                 .present = present(row),
                 .first = page == first_page,
                 .mixed = PartOf(t, part, query),
                 .apart = AttentionPartSize(1, t.head_dim)});
      }
    }
  }
}

HWY_INLINE void RunBlock(const AttentionTile& t, int64_t block, const TileMemory& memory, float* part) {
  ScoreBlock(t, block, memory);
  WeighBlock(t, block, memory, part);
  MixBlock(t, block, memory, part);
}

// Joins a later block's part to those before.
HWY_INLINE void JoinPart(const AttentionTile& t, int64_t block, float* before, float* part) {
  const DF d;
  const int64_t stride = ValueStride(t.head_dim);
  for (int64_t row = 0; row < t.rows; ++row) {
    if (t.positions[row] <= block * kBlockPositions) continue;
    for (int64_t q = row * t.heads; q < (row + 1) * t.heads; ++q) {
      float* into = PartOf(t, before, q);
      const float* from = PartOf(t, part, q);
      const float largest = from[stride] > into[stride] ? from[stride] : into[stride];
      const VF factor = Exp(hn::Set(d, into[stride] - largest));
      const VF from_factor = Exp(hn::Set(d, from[stride] - largest));
      for (int64_t i = 0; i < stride; i += kLanes) {
        const VF scaled = hn::Mul(hn::Load(d, into + i), factor);
        hn::Store(hn::MulAdd(hn::Load(d, from + i), from_factor, scaled), d, into + i);
      }
      into[stride] = largest;
      into[stride + 1] = into[stride + 1] * hn::GetLane(factor) + from[stride + 1] * hn::GetLane(from_factor);
    }
  }
}

HWY_INLINE void Finish(const AttentionTile& t, float* part) {
  const int64_t stride = ValueStride(t.head_dim);
  for (int64_t row = 0; row < t.rows; ++row) {
    for (int64_t h = 0; h < t.heads; ++h) {
      const float* numbers = PartOf(t, part, row * t.heads + h);
      float* out = t.outs[row] + t.first_number + h * t.head_dim;
      const float scale = 1.0f / numbers[stride + 1];
      for (int64_t i = 0; i < t.head_dim; ++i) out[i] = numbers[i] * scale;
    }
  }
}

void Attend(const AttentionTile& t) {
  const TileMemory memory(t);
  PackQueries(t, memory.queries);
  const int64_t blocks = AttentionBlocks(t.pages);
  for (int64_t block = 0; block < blocks; ++block) {
    RunBlock(t, block, memory, memory.parts[block > 0]);
    if (block > 0) JoinPart(t, block, memory.parts[0], memory.parts[1]);
  }
  Finish(t, memory.parts[0]);
}

void AttendBlock(const AttentionTile& t, int64_t block, float* part) {
  const TileMemory memory(t);
  PackQueries(t, memory.queries);
  RunBlock(t, block, memory, part);
}

void JoinBlocks(const AttentionTile& t, float* parts) {
  const int64_t size = AttentionPartSize(t.rows * t.heads, t.head_dim), blocks = AttentionBlocks(t.pages);
  for (int64_t block = 1; block < blocks; ++block) JoinPart(t, block, parts, parts + block * size);
  Finish(t, parts);
}

}  // namespace HWY_NAMESPACE
}  // namespace fullband
HWY_AFTER_NAMESPACE();

#endif  // FULLBAND_ATTENTION_INL_H_
