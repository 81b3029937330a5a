// The CPU's kernels, compiled once for each kind of vector unit and picked once, when a backend is made.
//
// All are serial: the backend shares work out between threads by ranges of panels, rows or heads. No result
// depends on how it was shared out, nor on how many rows are handed over together: each output element is one
// chain of operations in a fixed order. Vectors of 4, 8 or 16 lanes give equal bits where the machine has
// fused multiply-add. NaN and infinity come through everywhere.
//
// Rows of activations are `Padded` long and their padding is zero.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/compute/cpu/packed_matrix.h"

namespace fullband {

// Positions a page of keys and values holds.
inline constexpr int64_t kPageSize = 32;

// Values of one head and position are stored this far apart, zero-padded.
constexpr int64_t ValueStride(int64_t head_dim) { return (head_dim + 15) / 16 * 16; }

// What the input [rows, inputs] of a product is made of: the numbers x as they stand; or, with `scales`,
// their RMSNorm x * scale * weight; or, with `up`, the gate x * sigmoid(x) * up. Rows are padded to multiples
// of 16.
struct ProductInput {
  const float* x = nullptr;
  int64_t stride = 0;  // of the rows of x and up
  int64_t rows = 0;
  int64_t inputs = 0;
  const float* scales = nullptr;  // [rows], from `norm_scale`
  const float* weight = nullptr;  // [inputs], padded likewise
  const float* up = nullptr;
};

// out [rows, stride] (+)= x [rows, inputs] * weights^T + bias.
struct Product {
  const PackedMatrix* weights = nullptr;
  const float* x = nullptr;  // as `pack` leaves it
  int64_t rows = 0;
  float* out = nullptr;
  int64_t stride = 0;
  bool add = false;          // onto what `out` holds, rather than in its place
  float* widened = nullptr;  // [inputs][32] of the calling thread, which makes many rows times coded weights
                             // faster; or null
};

// Positions are attended to in blocks, each with a softmax of its own; blocks are joined in order. The cut is
// the same whatever the step, so that results do not depend on whether threads share a row's blocks.
inline constexpr int64_t kBlockPages = 8;
inline constexpr int64_t kBlockPositions = kBlockPages * kPageSize;
constexpr int64_t AttentionBlocks(int64_t pages) { return (pages + kBlockPages - 1) / kBlockPages; }

// Where one head's keys and values lie in a page, in numbers from where they begin. Keys are [head_dim][32],
// so that scores have positions in lanes, and values [32][ValueStride], so that mixing them has dimensions in
// lanes. Two bfloat16 numbers make a word, which is taken apart by a shift and a mask: those of positions p
// and p + 16 for keys, of 2p and 2p + 1 for values.
constexpr int64_t KeyIndex(bool bf16, int64_t i, int64_t place) {
  return i * kPageSize + (bf16 ? place % 16 * 2 + place / 16 : place);
}
constexpr int64_t ValueIndex(bool bf16, int64_t stride, int64_t place, int64_t i) {
  return bf16 ? place / 2 * 2 * stride + i * 2 + place % 2 : place * stride + i;
}

// Rows first .. first + rows - 1 of a tile see positions of the same page.
struct PageRun {
  const void* page = nullptr;
  int32_t first = 0;
  int32_t rows = 0;
};

// Rows that are attended for together, with the heads that share one key/value head. Rows that have pages in
// common should follow each other: each run's page is loaded once.
struct AttentionTile {
  int64_t rows = 0;
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t first_number = 0;               // where these heads begin in `queries` and `outs`
  const float* const* queries = nullptr;  // [rows] of [..., heads, head_dim, ...], rotated and scaled
  float* const* outs = nullptr;           // [rows] likewise
  const int64_t* positions = nullptr;     // [rows]: a row sees positions 0 .. positions - 1
  int64_t pages = 0;                      // of the row that sees most
  const PageRun* runs = nullptr;          // by ascending page, then row
  const int32_t* run_begins = nullptr;    // [pages + 1]: the runs of page i are run_begins[i] .. [i + 1] - 1
  bool bf16 = false;                      // what pages hold; else float32
  int64_t key_offset = 0;    // in each page, where this layer's and head's keys begin, in numbers
  int64_t value_offset = 0;  // likewise its values
  float* scratch = nullptr;  // AttentionScratchSize(rows * heads, head_dim) numbers
};

// Weights of a query's block are this far apart: a little more than a block, since a power of two would put
// all queries' weights in the same sets of the cache.
inline constexpr int64_t kWeightStride = kBlockPositions + 16;
// Numbers that one block of a tile leaves behind: of each query, the mixed values, sums and largest score.
constexpr int64_t AttentionPartSize(int64_t queries, int64_t head_dim) {
  return queries * (ValueStride(head_dim) + 32);
}
constexpr int64_t AttentionScratchSize(int64_t queries, int64_t head_dim) {
  return queries * (ValueStride(head_dim) + kWeightStride) + 2 * AttentionPartSize(queries, head_dim);
}

struct Kernels {
  const char* target = nullptr;

  // Makes a product's input and interleaves its rows as `multiply` reads them: blocks of rows are multiplied
  // together, and block b holds its inputs as [inputs][rows of the block]. The work comes in items of equal
  // size, which threads may share. A single row is its own packed form.
  int64_t (*pack_items)(int64_t rows, int64_t inputs) = nullptr;
  void (*pack)(const ProductInput& input, int64_t item_begin, int64_t item_end, float* packed) = nullptr;
  void (*multiply)(const Product& product, int64_t panel_begin, int64_t panel_end) = nullptr;

  // Attends for a whole tile; or for one of its blocks, leaving a part, and then joins the parts of all
  // blocks [AttentionBlocks(pages)][AttentionPartSize(rows * heads, head_dim)], which are overwritten. Both
  // give the same bits, and each row's are those that it has alone.
  void (*attend)(const AttentionTile& tile) = nullptr;
  void (*attend_block)(const AttentionTile& tile, int64_t block, float* part) = nullptr;
  void (*join_blocks)(const AttentionTile& tile, float* parts) = nullptr;

  // out = x / sqrt(mean(x^2) + eps) * weight over `size` numbers, all padded to multiples of 16 with zeros;
  // returns sqrt(mean(x^2)). `out` may be `x`.
  float (*rms_norm)(const float* x, const float* weight, int64_t size, float eps, float* out) = nullptr;
  // 1 / sqrt(mean(x^2) + eps), with the same bits.
  float (*norm_scale)(const float* x, int64_t size, float eps) = nullptr;
  // Rotates x [2 * half] by the angles whose cosines and sines [half] are given, half-split (see rope.h), and
  // multiplies it by `scale`.
  void (*rotate)(const float* cosines, const float* sines, int64_t half, float scale, float* x) = nullptr;
  // out = sigmoid(x), `size` a multiple of 16. `out` may be `x`.
  void (*sigmoid)(const float* x, int64_t size, float* out) = nullptr;
  // log(sum(exp(x))), natural, of any `size` numbers. `maxima` receives the largest number of each block of
  // kLogitBlock (engine/compute/sampling.h), NaN left out; minus infinity where there is none.
  double (*log_sum_exp)(const float* x, int64_t size, float* maxima) = nullptr;
  // out = exp(x), `size` a multiple of 16.
  void (*exp)(const float* x, int64_t size, float* out) = nullptr;

  // Bounds of the machine (probes.h). The sum of x; out = a + 3 b; `size` is a multiple of 128.
  float (*read_probe)(const float* x, int64_t size) = nullptr;
  void (*triad_probe)(const float* a, const float* b, int64_t size, float* out) = nullptr;
  // Multiply-adds from out[0] = 0.5 on, with a result in out[1]; returns how many operations they were.
  double (*multiply_add_probe)(int64_t rounds, float* out) = nullptr;
};

// Targets compiled in that this machine can run, best first.
std::vector<std::string> KernelTargets();

// The kernels of the named target; the best where `target` is empty. Throws Error where there is no such
// target.
const Kernels& KernelsFor(const std::string& target);

}  // namespace fullband
