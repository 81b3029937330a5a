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

// A vector that is to stay in its register: what is loaded for a few uses is else loaded once for each.
HWY_INLINE VF Kept(VF v) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC
  if constexpr (kLanes >= 8) asm("" : "+v"(v.raw));
#endif
  return v;
}

// Numbers of a page that lie in one word: one float32, or two bfloat16, of positions far apart (keys) or next
// to each other (values): see KeyIndex and ValueIndex.
template <class T>
constexpr int kInWord = sizeof(float) / sizeof(T);

// The low (0) or the high (1) numbers of the words at `words`, widened.
template <int kHalf>
HWY_INLINE VF LoadHalf(const float* words) {
  static_assert(kHalf == 0);
  return Kept(hn::Load(DF(), words));
}

template <int kHalf>
HWY_INLINE VF LoadHalf(const uint16_t* words) {
  const hn::RebindToUnsigned<DF> d;
  const auto both = hn::Load(d, reinterpret_cast<const uint32_t*>(words));
  if constexpr (kHalf == 0) return Kept(hn::BitCast(DF(), hn::ShiftLeft<16>(both)));
  return Kept(hn::BitCast(DF(), hn::And(both, hn::Set(d, 0xffff0000u))));
}

// Vector p of a row of keys.
template <class T>
HWY_INLINE VF LoadKeys(const T* keys, int64_t p) {
  constexpr int64_t kWordVectors = kPageVectors / kInWord<T>;
  if (p < kWordVectors) return LoadHalf<0>(keys + p * kLanes * kInWord<T>);
  return LoadHalf<kInWord<T> - 1>(keys + (p - kWordVectors) * kLanes * kInWord<T>);
}

// Fetches what comes after what is at work, as far as the second-level cache: the first level has too few
// places for lines on their way. `next` is only an address.
template <bool kPrefetch, class T>
HWY_INLINE void Prefetch(const T* next, int64_t count) {
  constexpr int64_t kLine = 64 / sizeof(T);
  if constexpr (kPrefetch) {
    for (int64_t i = 0; i < count; i += kLine) __builtin_prefetch(next + i, 0, 2);
  }
}

// Scores of kQueries queries, `queries_apart` numbers from one sixteen to the next.
template <int kQueries, bool kPrefetch, class T>
HWY_INLINE void ScoreQueries(const float* queries, int64_t queries_apart, int64_t head_dim, const T* keys,
                             const T* next, float* scores) {
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
      Prefetch<kPrefetch>(next, kPageSize);
      if constexpr (kQueries > kPageVectors) {
        VF key[kPageVectors];
        HWY_UNROLL(8)
        for (int64_t p = 0; p < kPageVectors; ++p) key[p] = LoadKeys(keys, p);
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
          const VF key = LoadKeys(keys, p);
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

template <int kQueries, bool kPrefetch, class T>
void ScoreUpTo(int64_t count, const float* queries, int64_t queries_apart, int64_t head_dim, const T* keys,
               const T* next, float* scores) {
  if constexpr (kQueries > 1) {
    if (count < kQueries) {
      return ScoreUpTo<kQueries - 1, kPrefetch>(count, queries, queries_apart, head_dim, keys, next, scores);
    }
  }
  ScoreQueries<kQueries, kPrefetch>(queries, queries_apart, head_dim, keys, next, scores);
}

// Calls work(first, size) for groups of at most kMost of `count` queries, as even as can be.
template <int kMost, class Work>
HWY_INLINE void ForGroups(int64_t count, Work work) {
  if (count <= kMost) return work(0, count);
  const int32_t groups = (static_cast<int32_t>(count) + kMost - 1) / kMost;
  const int32_t size = static_cast<int32_t>(count) / groups, larger = static_cast<int32_t>(count) % groups;
  int64_t first = 0;
  for (int32_t g = 0; g < groups; ++g) {
    const int64_t now = size + (g < larger);
    work(first, now);
    first += now;
  }
}

// Scores of `count` queries. The first group fetches `next` meanwhile.
template <class T>
HWY_INLINE void ScorePage(int64_t count, const float* queries, int64_t queries_apart, int64_t head_dim,
                          const T* keys, const T* next, float* scores) {
  ForGroups<kScoreQueries>(count, [&](int64_t first, int64_t size) {
    const float* q = queries + first * 16;
    float* out = scores + first * kWeightStride;
    if (first == 0) {
      ScoreUpTo<kScoreQueries, true>(size, q, queries_apart, head_dim, keys, next, out);
    } else {
      ScoreUpTo<kScoreQueries, false>(size, q, queries_apart, head_dim, keys, next, out);
    }
  });
}

// ------------------------------------------------------------------------------------------------ softmax

// e^x for x <= 0, within 2 ulp; below e^-87 it gives that. Cheaper than Exp: half a tile's work that is no
// multiply-add is here. A polynomial in r = x - n ln 2 whose relative error is 2e-8, with n found by adding a
// number so large that the sum's last bit counts ones; n + 127 is then in its last bits. NaN gives NaN.
HWY_INLINE VF ExpOfScore(VF x) {
  const DF d;
  const hn::RebindToSigned<DF> di;
  const VF low = hn::Set(d, -87.0f), large = hn::Set(d, 12582912.0f + 127);
  x = hn::IfThenElse(hn::Lt(x, low), low, x);  // false for NaN, unlike Max
  const VF shifted = hn::MulAdd(x, hn::Set(d, 1.44269504088896341f), large);
  const VF n = hn::Sub(shifted, large);
  VF r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440054690583e-4f), r);
  VF sum = hn::Set(d, 0.0013843607157468796f);
  sum = hn::MulAdd(sum, r, hn::Set(d, 0.008374195545911789f));
  sum = hn::MulAdd(sum, r, hn::Set(d, 0.04166800528764725f));
  sum = hn::MulAdd(sum, r, hn::Set(d, 0.16666430234909058f));
  sum = hn::MulAdd(sum, r, hn::Set(d, 0.4999999403953552f));
  sum = hn::MulAdd(sum, r, hn::Set(d, 1.0f));
  sum = hn::MulAdd(sum, r, hn::Set(d, 1.0f));
  return hn::Mul(sum, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

// Turns one query's scores of a block into weights exp(score - largest), of which it leaves sixteen partial
// sums. Places from `present` to the page's end (which may hold anything) count for nothing: minus infinity
// gives a weight so small that nothing is left of it beside the largest score's, which is 1. NaN comes out as
// a weight and a sum of NaN.
HWY_INLINE void BlockWeights(float* scores, int64_t present, float* largest, float* sums) {
  const DF d;
  const float lowest = -std::numeric_limits<float>::infinity();
  const int64_t end = (present + kPageSize - 1) / kPageSize * kPageSize;
  for (int64_t p = present; p < end; ++p) scores[p] = lowest;
  VF top[kPageVectors];
  for (VF& lanes : top) lanes = hn::Set(d, lowest);
  for (int64_t page = 0; page < end; page += kPageSize) {
    HWY_UNROLL(8)
    for (int64_t i = 0; i < kPageVectors; ++i) {
      const VF score = hn::Load(d, scores + page + i * kLanes);
      top[i] = hn::IfThenElse(hn::Gt(score, top[i]), score, top[i]);
    }
  }
  for (int64_t i = 1; i < kPageVectors; ++i) top[0] = hn::Max(top[0], top[i]);
  *largest = hn::GetLane(hn::MaxOfLanes(d, top[0]));
  const VF shift = hn::Set(d, *largest);
  Partials partials;
  for (int64_t page = 0; page < end; page += kPageSize) {
    HWY_UNROLL(16)
    for (int i = 0; i < Partials::kVectors; ++i) {
      float* const first = scores + page + i * kLanes;
      float* const second = first + 16;
      const VF weight = ExpOfScore(hn::Sub(hn::Load(d, first), shift));
      const VF other = ExpOfScore(hn::Sub(hn::Load(d, second), shift));
      hn::Store(weight, d, first);
      hn::Store(other, d, second);
      partials.sums[i] = hn::Add(partials.sums[i], hn::Add(weight, other));
    }
  }
  for (int i = 0; i < Partials::kVectors; ++i) hn::Store(partials.sums[i], d, sums + i * kLanes);
}

// ------------------------------------------------------------------------------------------------ values

// What a page's values are mixed into: kVectors of each query's numbers, `apart` from query to query.
template <class T>
struct Mixture {
  const float* weights;
  const T* values;
  const T* next;    // fetched meanwhile
  int64_t stride;   // of values
  int64_t present;  // positions
  bool first;       // page of the block: nothing has been mixed
  float* mixed;
  int64_t apart;
};

// Adds one position's values, the low or the high ones of their words.
template <int kHalf, int kQueries, int kVectors, class T>
HWY_INLINE void MixPosition(const float* weights, const T* values, VF (&sums)[kQueries][kVectors]) {
  const DF d;
  if constexpr (kQueries > 3) {
    VF value[kVectors];
    HWY_UNROLL(16)
    for (int v = 0; v < kVectors; ++v) value[v] = LoadHalf<kHalf>(values + v * kLanes * kInWord<T>);
    HWY_UNROLL(6)
    for (int q = 0; q < kQueries; ++q) {
      const VF weight = hn::Set(d, weights[q * kWeightStride]);
      HWY_UNROLL(16)
      for (int v = 0; v < kVectors; ++v) sums[q][v] = hn::MulAdd(weight, value[v], sums[q][v]);
    }
  } else {
    VF weight[kQueries];
    HWY_UNROLL(6)
    for (int q = 0; q < kQueries; ++q) weight[q] = hn::Set(d, weights[q * kWeightStride]);
    HWY_UNROLL(16)
    for (int v = 0; v < kVectors; ++v) {
      const VF value = LoadHalf<kHalf>(values + v * kLanes * kInWord<T>);
      HWY_UNROLL(6)
      for (int q = 0; q < kQueries; ++q) sums[q][v] = hn::MulAdd(weight[q], value, sums[q][v]);
    }
  }
}

template <int kQueries, int kVectors, bool kPrefetch, class T>
HWY_INLINE void MixQueries(const Mixture<T>& m) {
  const DF d;
  VF sums[kQueries][kVectors];
  HWY_UNROLL(6)
  for (int q = 0; q < kQueries; ++q) {
    HWY_UNROLL(16)
    for (int v = 0; v < kVectors; ++v) {
      sums[q][v] = m.first ? hn::Zero(d) : hn::Load(d, m.mixed + q * m.apart + v * kLanes);
    }
  }
  const T* values = m.values;
  const T* next = m.next;
  int64_t p = 0;
  for (; p + kInWord<T> <= m.present; p += kInWord<T>) {
    Prefetch<kPrefetch>(next, kVectors * kLanes * kInWord<T>);
    MixPosition<0>(m.weights + p, values, sums);
    if constexpr (kInWord<T> == 2) MixPosition<1>(m.weights + p + 1, values, sums);
    values += m.stride * kInWord<T>;
    next += m.stride * kInWord<T>;
  }
  if (p < m.present) MixPosition<0>(m.weights + p, values, sums);
  HWY_UNROLL(6)
  for (int q = 0; q < kQueries; ++q) {
    HWY_UNROLL(16)
    for (int v = 0; v < kVectors; ++v) hn::Store(sums[q][v], d, m.mixed + q * m.apart + v * kLanes);
  }
}

// All numbers of `count` queries, count <= kQueries.
template <int kQueries, bool kPrefetch, class T>
void MixUpTo(int64_t count, const Mixture<T>& mixture) {
  if constexpr (kQueries > 1) {
    if (count < kQueries) return MixUpTo<kQueries - 1, kPrefetch>(count, mixture);
  }
  Mixture<T> m = mixture;
  const auto advance = [&m](int64_t numbers) {
    m.values += numbers * kInWord<T>;
    m.next += numbers * kInWord<T>;
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

template <class T>
HWY_INLINE void MixPage(int64_t count, const Mixture<T>& m) {
  ForGroups<kMixQueries>(count, [&](int64_t first, int64_t size) {
    if (first == 0) return MixUpTo<kMixQueries, true>(size, m);
    Mixture<T> some = m;
    some.weights += first * kWeightStride;
    some.mixed += first * m.apart;
    MixUpTo<kMixQueries, false>(size, some);
  });
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

// The numbers of one query in a part: those mixed, sixteen partial sums of the weights (as it were, values of
// 1), and the largest score.
HWY_INLINE float* PartOf(const AttentionTile& t, float* part, int64_t query) {
  return part + query * AttentionPartSize(1, t.head_dim);
}

template <class T>
HWY_INLINE const T* PageOf(const PageRun& run) {
  return static_cast<const T*>(run.page);
}

template <class T>
HWY_INLINE void ScoreBlock(const AttentionTile& t, int64_t block, const TileMemory& memory) {
  const int64_t first_page = block * kBlockPages, end_page = std::min(first_page + kBlockPages, t.pages);
  for (int64_t page = first_page; page < end_page; ++page) {
    for (int32_t r = t.run_begins[page]; r < t.run_begins[page + 1]; ++r) {
      const PageRun& run = t.runs[r];
      // The block's values come after its last keys.
      const T* next = r + 1 < t.run_begins[end_page]
                          ? PageOf<T>(t.runs[r + 1]) + t.key_offset
                          : PageOf<T>(t.runs[t.run_begins[first_page]]) + t.value_offset;
      ScorePage(run.rows * t.heads, memory.queries + run.first * t.heads * 16, t.rows * t.heads * 16,
                t.head_dim, PageOf<T>(run) + t.key_offset, next,
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
      BlockWeights(memory.weights + q * kWeightStride, present, &numbers[stride + 16], &numbers[stride]);
    }
  }
}

template <class T>
HWY_INLINE void MixBlock(const AttentionTile& t, int64_t block, const TileMemory& memory, float* part) {
  const int64_t first_page = block * kBlockPages, end_page = std::min(first_page + kBlockPages, t.pages);
  for (int64_t page = first_page; page < end_page; ++page) {
    const auto present = [&](int64_t row) {
      return std::min(t.positions[row] - page * kPageSize, kPageSize);
    };
    for (int32_t r = t.run_begins[page]; r < t.run_begins[page + 1]; ++r) {
      const PageRun& run = t.runs[r];
      const T* values = PageOf<T>(run) + t.value_offset;
      // The next block's keys come after the last values.
      const T* next = values;
      if (r + 1 < t.run_begins[t.pages]) {
        next = PageOf<T>(t.runs[r + 1]) + (r + 1 < t.run_begins[end_page] ? t.value_offset : t.key_offset);
      }
      // Rows that see equally many of the page's positions go together.
      for (int64_t row = run.first, end; row < run.first + run.rows; row = end) {
        for (end = row + 1; end < run.first + run.rows && present(end) == present(row); ++end) {
        }
        const int64_t query = row * t.heads;
        MixPage<T>((end - row) * t.heads,
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
  if (t.bf16) {
    ScoreBlock<uint16_t>(t, block, memory);
  } else {
    ScoreBlock<float>(t, block, memory);
  }
  WeighBlock(t, block, memory, part);
  if (t.bf16) {
    MixBlock<uint16_t>(t, block, memory, part);
  } else {
    MixBlock<float>(t, block, memory, part);
  }
}

// Joins a later block's part to those before.
HWY_INLINE void JoinPart(const AttentionTile& t, int64_t block, float* before, float* part) {
  const DF d;
  const int64_t count = ValueStride(t.head_dim) + 16;
  for (int64_t row = 0; row < t.rows; ++row) {
    if (t.positions[row] <= block * kBlockPositions) continue;
    for (int64_t q = row * t.heads; q < (row + 1) * t.heads; ++q) {
      float* into = PartOf(t, before, q);
      const float* from = PartOf(t, part, q);
      const float largest = from[count] > into[count] ? from[count] : into[count];
      const VF factor = ExpOfScore(hn::Set(d, into[count] - largest));
      const VF from_factor = ExpOfScore(hn::Set(d, from[count] - largest));
      for (int64_t i = 0; i < count; i += kLanes) {
        const VF scaled = hn::Mul(hn::Load(d, into + i), factor);
        hn::Store(hn::MulAdd(hn::Load(d, from + i), from_factor, scaled), d, into + i);
      }
      into[count] = largest;
    }
  }
}

HWY_INLINE void Finish(const AttentionTile& t, float* part) {
  const int64_t stride = ValueStride(t.head_dim);
  for (int64_t row = 0; row < t.rows; ++row) {
    for (int64_t h = 0; h < t.heads; ++h) {
      const float* numbers = PartOf(t, part, row * t.heads + h);
      float* out = t.outs[row] + t.first_number + h * t.head_dim;
      Partials sums;
      sums.Add(numbers + stride);
      const float scale = 1.0f / sums.Total();
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
