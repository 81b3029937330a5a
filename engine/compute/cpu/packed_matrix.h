// Weights in the order in which the matrix product reads them.
//
// A matrix [outputs, inputs] is cut into panels of 32 outputs. A panel holds, for each input k, the 32
// weights that k has in it, so that outputs lie in vector lanes and a panel is one sequential stream. What
// bounds a step of few rows is the memory, so weights are kept in the smallest of three forms that loses
// nothing, whatever the file's own:
// - float32, in plain order; float16 is widened to it.
// - bfloat16, where all numbers are bfloat16's, as in a float32 file that was widened from one. Output j < 16
// and
//   output j + 16 are neighbours: a 32-bit word then holds both, and widening them to float32 takes one shift
//   and one mask, whatever the vectors' width.
// - Coded: bfloat16 in 12 bits (coded_panel.h), where few weights are strays. What these add to the
//   product comes after all others.
// Arithmetic is in float32 throughout.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/checkpoint/model.h"
#include "engine/compute/cpu/aligned_buffer.h"
#include "engine/compute/cpu/coded_panel.h"

namespace fullband {

inline constexpr int64_t kPanel = 32;      // outputs a panel
inline constexpr int64_t kHalfPanel = 16;  // distance of the two outputs that share a word

// The next multiple of a panel: the distance of rows of activations, whose padding is zero.
constexpr int64_t Padded(int64_t count) { return (count + kPanel - 1) / kPanel * kPanel; }

struct LinearWeights {
  Tensor weight;  // [outputs, inputs]
  Tensor bias;    // [outputs] or empty
};

enum class WeightForm { kF32, kBF16, kCoded };

struct PackedMatrix {
  int64_t inputs = 0;
  int64_t panels = 0;
  WeightForm form = WeightForm::kF32;
  AlignedBuffer<float> f32;           // [panels][inputs][32], where this is the form
  AlignedBuffer<uint16_t> b16;        // the same shape, order within a group as above
  AlignedBuffer<uint8_t> coded;       // [panels][CodedPanelBytes(inputs)]
  AlignedBuffer<uint8_t> upper;       // [panels][16]: the upper bytes by code
  std::vector<StrayWeight> strays;    // by ascending panel, then input
  std::vector<int64_t> stray_begins;  // [panels + 1], or empty where there are none
  AlignedBuffer<float> bias;          // [panels * 32], or empty
  std::vector<int64_t> offsets;       // where each part's outputs begin: a multiple of 32
  int64_t outputs() const { return panels * kPanel; }
};

// Packs matrices with the same number of inputs one after the other, each in panels of its own; missing
// outputs of a part's last panel are zero. The form is one that suits all parts.
PackedMatrix PackMatrix(std::span<const LinearWeights> parts);
inline PackedMatrix PackMatrix(const Tensor& weight, const Tensor& bias = {}) {
  const LinearWeights part{weight, bias};
  return PackMatrix(std::span(&part, 1));
}

// Bytes that this takes, but for strays, judged by a sample of the panels.
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
