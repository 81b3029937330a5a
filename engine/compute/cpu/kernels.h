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

// out [rows, stride] (+)= x [rows, inputs] * weights^T + bias.
struct Product {
  const PackedMatrix* weights = nullptr;
  const float* x = nullptr;  // as `pack_rows` leaves it
  int64_t rows = 0;
  float* out = nullptr;
  int64_t stride = 0;
  bool add = false;  // onto what `out` holds, rather than in its place
};

// One query row and the heads [0, heads) that share a key/value head.
struct Attention {
  const float* query = nullptr;  // [heads, head_dim], rotated and scaled
  int64_t heads = 0;
  int64_t head_dim = 0;
  const float* const* pages = nullptr;
  int64_t key_offset = 0;    // in each page, where [head_dim][kPageSize] keys of this layer and head begin
  int64_t value_offset = 0;  // likewise [kPageSize][ValueStride(head_dim)] values
  int64_t positions = 0;     // the row sees positions 0 .. positions - 1
  float* out = nullptr;      // [heads, head_dim]
  float* scratch = nullptr;  // [heads, ValueStride(head_dim)]
};

struct Kernels {
  const char* target = nullptr;

  // Blocks of rows that are multiplied together, and their interleaving: row block b holds its inputs as
  // [inputs][rows of the block]. A single row is its own packed form.
  int64_t (*row_blocks)(int64_t rows) = nullptr;
  void (*pack_rows)(const float* x, int64_t stride, int64_t rows, int64_t inputs, int64_t block_begin,
                    int64_t block_end, float* packed) = nullptr;
  void (*multiply)(const Product& product, int64_t panel_begin, int64_t panel_end) = nullptr;

  void (*attend)(const Attention& attention) = nullptr;

  // out = x / sqrt(mean(x^2) + eps) * weight over `size` numbers, all padded to multiples of 16 with zeros;
  // returns sqrt(mean(x^2)). `out` may be `x`.
  float (*rms_norm)(const float* x, const float* weight, int64_t size, float eps, float* out) = nullptr;
  // out = gate * sigmoid(gate) * up; `size` is a multiple of 16. `out` may be one of the inputs.
  void (*silu_gate)(const float* gate, const float* up, int64_t size, float* out) = nullptr;
  // out = up * sigmoid(gate), likewise.
  void (*sigmoid_gate)(const float* gate, const float* up, int64_t size, float* out) = nullptr;
  // log(sum(exp(x))), natural, of any `size` numbers.
  double (*log_sum_exp)(const float* x, int64_t size) = nullptr;
  // out = exp(x), `size` a multiple of 16.
  void (*exp)(const float* x, int64_t size, float* out) = nullptr;
};

// Targets compiled in that this machine can run, best first.
std::vector<std::string> KernelTargets();

// The kernels of the named target; the best where `target` is empty. Throws Error where there is no such
// target.
const Kernels& KernelsFor(const std::string& target);

}  // namespace fullband
