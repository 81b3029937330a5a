#include "engine/compute/cpu/packed_matrix.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace fullband {
namespace {

float WidenHalf(uint16_t half) {
  const uint32_t sign = uint32_t{half} >> 15 << 31;
  const uint32_t exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
  if (exponent == 0) return std::bit_cast<float>(std::bit_cast<uint32_t>(fraction * 0x1p-24f) | sign);
  const uint32_t widened = exponent == 0x1f ? 0xff : exponent + (127 - 15);
  return std::bit_cast<float>(sign | widened << 23 | fraction << 13);
}

// `count` elements from `first` on. Sources may be unaligned, hence the copies.
void Widen(const Tensor& tensor, int64_t first, int64_t count, float* out) {
  if (tensor.dtype == DType::kF32) {
    std::memcpy(out, tensor.data + first * sizeof(float), count * sizeof(float));
    return;
  }
  const std::byte* source = tensor.data + first * sizeof(uint16_t);
  for (int64_t i = 0; i < count; ++i) {
    uint16_t half;
    std::memcpy(&half, source + i * sizeof(half), sizeof(half));
    out[i] = tensor.dtype == DType::kBF16 ? std::bit_cast<float>(uint32_t{half} << 16) : WidenHalf(half);
  }
}

// Where output j of a panel lies within the 32 weights of an input.
int64_t PlaceF32(int64_t j) { return j; }
int64_t PlaceB16(int64_t j) { return j < kHalfPanel ? 2 * j : 2 * (j - kHalfPanel) + 1; }

// Packs one panel of `matrix`, whose first output is `row`. `row_buffer` has room for one row.
void PackPanel(const Tensor& matrix, int64_t row, std::vector<float>& row_buffer, float* f32, uint16_t* b16) {
  const int64_t inputs = matrix.cols, present = std::min(kPanel, matrix.rows - row);
  row_buffer.resize(inputs);
  for (int64_t j = 0; j < present; ++j) {
    Widen(matrix, (row + j) * inputs, inputs, row_buffer.data());
    if (b16 != nullptr) {
      // Widened from bfloat16 just now, so the upper half is the stored number.
      for (int64_t k = 0; k < inputs; ++k) {
        b16[k * kPanel + PlaceB16(j)] = std::bit_cast<uint32_t>(row_buffer[k]) >> 16;
      }
    } else {
      for (int64_t k = 0; k < inputs; ++k) f32[k * kPanel + PlaceF32(j)] = row_buffer[k];
    }
  }
}

void PackBiases(std::span<const LinearWeights> parts, PackedMatrix& packed) {
  if (std::ranges::none_of(parts, [](const LinearWeights& part) { return bool(part.bias); })) return;
  packed.bias = AlignedBuffer<float>(packed.outputs());
  for (size_t i = 0; i < parts.size(); ++i) {
    const Tensor& bias = parts[i].bias;
    if (bias) Widen(bias, 0, bias.size(), packed.bias.data() + packed.offsets[i]);
  }
}

}  // namespace

PackedMatrix PackMatrix(std::span<const LinearWeights> parts) {
  PackedMatrix packed;
  packed.inputs = parts.front().weight.cols;
  packed.bf16 = true;
  std::vector<std::pair<const Tensor*, int64_t>> panels;  // matrix and first output
  for (const LinearWeights& part : parts) {
    packed.offsets.push_back(packed.outputs());
    packed.bf16 = packed.bf16 && part.weight.dtype == DType::kBF16;
    for (int64_t row = 0; row < part.weight.rows; row += kPanel) panels.emplace_back(&part.weight, row);
    packed.panels = panels.size();
  }
  const int64_t panel_size = packed.inputs * kPanel;
  if (packed.bf16) {
    packed.b16 = AlignedBuffer<uint16_t>(packed.panels * panel_size);
  } else {
    packed.f32 = AlignedBuffer<float>(packed.panels * panel_size);
  }
#pragma omp parallel
  {
    std::vector<float> row_buffer;
#pragma omp for schedule(static)
    for (int64_t p = 0; p < packed.panels; ++p) {
      const auto [matrix, row] = panels[p];
      PackPanel(*matrix, row, row_buffer, packed.bf16 ? nullptr : packed.f32.data() + p * panel_size,
                packed.bf16 ? packed.b16.data() + p * panel_size : nullptr);
    }
  }
  PackBiases(parts, packed);
  return packed;
}

int64_t PackedBytes(std::span<const LinearWeights> parts) {
  int64_t panels = 0;
  bool bf16 = true, bias = false;
  for (const LinearWeights& part : parts) {
    panels += (part.weight.rows + kPanel - 1) / kPanel;
    bf16 = bf16 && part.weight.dtype == DType::kBF16;
    bias = bias || part.bias;
  }
  const int64_t number = bf16 ? sizeof(uint16_t) : sizeof(float);
  return panels * kPanel * (parts.front().weight.cols * number + (bias ? sizeof(float) : 0));
}

AlignedBuffer<float> PackVector(const Tensor& vector) {
  if (!vector) return {};
  AlignedBuffer<float> packed(Padded(vector.size()));
  Widen(vector, 0, vector.size(), packed.data());
  return packed;
}

void WidenRow(const Tensor& matrix, int64_t row, float* out) {
  Widen(matrix, row * matrix.cols, matrix.cols, out);
}

}  // namespace fullband
