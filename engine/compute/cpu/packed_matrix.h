// Weights in the order in which the matrix product reads them.
//
// A matrix [outputs, inputs] is cut into panels of 32 outputs. A panel holds, for each input k, the 32
// weights that k has in it, so that outputs lie in vector lanes and a panel is one sequential stream. Within
// such a group, output j < 16 and output j + 16 are neighbours where weights are bfloat16: a 32-bit word then
// holds both, and widening them to float32 takes one shift and one mask, whatever the vectors' width. float32
// groups are in plain order. float16 is widened to float32 here, which is exact.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/checkpoint/model.h"
#include "engine/compute/cpu/aligned_buffer.h"

namespace fullband {

inline constexpr int64_t kPanel = 32;      // outputs a panel
inline constexpr int64_t kHalfPanel = 16;  // distance of the two outputs that share a word

// The next multiple of a panel: the distance of rows of activations, whose padding is zero.
constexpr int64_t Padded(int64_t count) { return (count + kPanel - 1) / kPanel * kPanel; }

struct LinearWeights {
  Tensor weight;  // [outputs, inputs]
  Tensor bias;    // [outputs] or empty
};

struct PackedMatrix {
  int64_t inputs = 0;
  int64_t panels = 0;
  bool bf16 = false;             // else float32
  AlignedBuffer<float> f32;      // [panels][inputs][32]
  AlignedBuffer<uint16_t> b16;   // the same shape, order within a group as above
  AlignedBuffer<float> bias;     // [panels * 32], or empty
  std::vector<int64_t> offsets;  // where each part's outputs begin: a multiple of 32
  int64_t outputs() const { return panels * kPanel; }
};

// Packs matrices with the same number of inputs one after the other, each in panels of its own; missing
// outputs of a part's last panel are zero. Kept as bfloat16 only where all parts are.
PackedMatrix PackMatrix(std::span<const LinearWeights> parts);
inline PackedMatrix PackMatrix(const Tensor& weight, const Tensor& bias = {}) {
  const LinearWeights part{weight, bias};
  return PackMatrix(std::span(&part, 1));
}

// Bytes that this takes.
int64_t PackedBytes(std::span<const LinearWeights> parts);
inline int64_t PackedBytes(const Tensor& weight, const Tensor& bias = {}) {
  const LinearWeights part{weight, bias};
  return PackedBytes(std::span(&part, 1));
}

// A vector as float32, padded with zeros to whole panels; empty where the tensor is.
AlignedBuffer<float> PackVector(const Tensor& vector);

// Row `row` of a matrix as float32.
void WidenRow(const Tensor& matrix, int64_t row, float* out);

}  // namespace fullband
