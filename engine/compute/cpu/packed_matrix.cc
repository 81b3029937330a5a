#include "engine/compute/cpu/packed_matrix.h"

#include <algorithm>
#include <atomic>
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

// `count` elements from `first` on as bfloat16; whether this loses nothing.
bool Narrow(const Tensor& tensor, int64_t first, int64_t count, uint16_t* out) {
  if (tensor.dtype == DType::kBF16) {
    std::memcpy(out, tensor.data + first * sizeof(uint16_t), count * sizeof(uint16_t));
    return true;
  }
  if (tensor.dtype != DType::kF32) return false;
  const std::byte* source = tensor.data + first * sizeof(uint32_t);
  uint32_t lost = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, source + i * sizeof(bits), sizeof(bits));
    lost |= bits;
    out[i] = static_cast<uint16_t>(bits >> 16);
  }
  return (lost & 0xffff) == 0;
}

// A panel of a matrix: outputs `row` to `row` + 31, as far as there are any.
struct PanelSource {
  const Tensor* matrix;
  int64_t row;
  int64_t present() const { return std::min(kPanel, matrix->rows - row); }
};

std::vector<PanelSource> PanelsOf(std::span<const LinearWeights> parts) {
  std::vector<PanelSource> panels;
  for (const LinearWeights& part : parts) {
    for (int64_t row = 0; row < part.weight.rows; row += kPanel) panels.push_back({&part.weight, row});
  }
  return panels;
}

// The panel as bfloat16 [32][inputs], missing outputs zero; whether this loses nothing.
bool NarrowPanel(const PanelSource& source, std::vector<uint16_t>& narrow) {
  const int64_t inputs = source.matrix->cols, present = source.present();
  narrow.resize(kPanel * inputs);
  std::fill(narrow.begin() + present * inputs, narrow.end(), uint16_t{0});
  return Narrow(*source.matrix, source.row * inputs, present * inputs, narrow.data());
}

// Strays that a coded matrix may have, at one for so many weights: each costs as much as dozens of others.
constexpr int64_t kWeightsPerStray = 512;

// The form for these panels, judged by at most `kSample` of them. Only bfloat16 files are known to hold what
// the sample does.
WeightForm ChooseForm(std::span<const PanelSource> panels) {
  constexpr int64_t kSample = 8;
  const int64_t count = static_cast<int64_t>(panels.size()), sample = std::min(count, kSample);
  const int64_t inputs = panels.front().matrix->cols;
  std::vector<uint16_t> narrow;
  int64_t strays = 0;
  for (int64_t i = 0; i < sample; ++i) {
    if (!NarrowPanel(panels[count * i / sample], narrow)) return WeightForm::kF32;
    strays += ChooseCode(narrow).strays;
  }
  const bool few = strays * kWeightsPerStray <= sample * kPanel * inputs;
  return few && inputs % kCodedGroup == 0 ? WeightForm::kCoded : WeightForm::kBF16;
}

void PackF32(std::span<const PanelSource> panels, PackedMatrix& packed) {
  const int64_t inputs = packed.inputs;
  packed.f32 = AlignedBuffer<float>(packed.panels * inputs * kPanel);
#pragma omp parallel
  {
    std::vector<float> row(inputs);
#pragma omp for schedule(static)
    for (int64_t p = 0; p < packed.panels; ++p) {
      float* out = packed.f32.data() + p * inputs * kPanel;
      for (int64_t j = 0; j < panels[p].present(); ++j) {
        Widen(*panels[p].matrix, (panels[p].row + j) * inputs, inputs, row.data());
        for (int64_t k = 0; k < inputs; ++k) out[k * kPanel + j] = row[k];
      }
    }
  }
}

// False where some number is no bfloat16.
bool PackBF16(std::span<const PanelSource> panels, PackedMatrix& packed) {
  const int64_t inputs = packed.inputs;
  packed.b16 = AlignedBuffer<uint16_t>(packed.panels * inputs * kPanel);
  std::atomic<bool> exact = true;
#pragma omp parallel
  {
    std::vector<uint16_t> narrow;
#pragma omp for schedule(static)
    for (int64_t p = 0; p < packed.panels; ++p) {
      if (!NarrowPanel(panels[p], narrow)) exact = false;
      if (!exact) continue;
      uint16_t* out = packed.b16.data() + p * inputs * kPanel;
      for (int64_t j = 0; j < kPanel; ++j) {
        const int64_t place = j < kHalfPanel ? 2 * j : 2 * (j - kHalfPanel) + 1;
        for (int64_t k = 0; k < inputs; ++k) out[k * kPanel + place] = narrow[j * inputs + k];
      }
    }
  }
  return exact;
}

// False where some number is no bfloat16 or there are too many strays.
bool PackCoded(std::span<const PanelSource> panels, PackedMatrix& packed) {
  const int64_t inputs = packed.inputs, panel_bytes = CodedPanelBytes(inputs);
  packed.coded = AlignedBuffer<uint8_t>(packed.panels * panel_bytes);
  packed.upper = AlignedBuffer<uint8_t>(packed.panels * kCodes);
  std::vector<std::vector<StrayWeight>> strays(packed.panels);
  std::atomic<bool> fits = true;
  std::atomic<int64_t> room =
      packed.panels * kPanel * inputs / kWeightsPerStray * 2;  // the sample may have had fewer
#pragma omp parallel
  {
    std::vector<uint16_t> narrow;
#pragma omp for schedule(static)
    for (int64_t p = 0; p < packed.panels; ++p) {
      if (!NarrowPanel(panels[p], narrow)) fits = false;
      if (!fits) continue;
      const PanelCode code = ChooseCode(narrow);
      if ((room -= code.strays) < 0) fits = false;
      std::copy_n(code.upper, kCodes, packed.upper.data() + p * kCodes);
      EncodePanel(narrow.data(), inputs, code, packed.coded.data() + p * panel_bytes, strays[p]);
    }
  }
  if (!fits) return false;
  packed.stray_begins.assign(1, 0);
  for (const auto& some : strays) {
    packed.strays.insert(packed.strays.end(), some.begin(), some.end());
    packed.stray_begins.push_back(static_cast<int64_t>(packed.strays.size()));
  }
  if (packed.strays.empty()) packed.stray_begins.clear();
  return true;
}

void PackBiases(std::span<const LinearWeights> parts, PackedMatrix& packed) {
  if (std::ranges::none_of(parts, [](const LinearWeights& part) { return bool(part.bias); })) return;
  packed.bias = AlignedBuffer<float>(packed.outputs());
  for (size_t i = 0; i < parts.size(); ++i) {
    const Tensor& bias = parts[i].bias;
    if (bias) Widen(bias, 0, bias.size(), packed.bias.data() + packed.offsets[i]);
  }
}

int64_t PanelBytes(WeightForm form, int64_t inputs) {
  switch (form) {
    case WeightForm::kF32:
      return inputs * kPanel * static_cast<int64_t>(sizeof(float));
    case WeightForm::kBF16:
      return inputs * kPanel * static_cast<int64_t>(sizeof(uint16_t));
    case WeightForm::kCoded:
      return CodedPanelBytes(inputs) + kCodes;
  }
  return 0;
}

}  // namespace

PackedMatrix PackMatrix(std::span<const LinearWeights> parts) {
  PackedMatrix packed;
  packed.inputs = parts.front().weight.cols;
  for (const LinearWeights& part : parts) {
    packed.offsets.push_back(packed.outputs());
    packed.panels += Padded(part.weight.rows) / kPanel;
  }
  const std::vector<PanelSource> panels = PanelsOf(parts);
  packed.form = ChooseForm(panels);
  // The sample may have been a lucky one.
  if (packed.form == WeightForm::kCoded && !PackCoded(panels, packed)) {
    packed.form = WeightForm::kBF16;
    packed.coded = {};
    packed.upper = {};
  }
  if (packed.form == WeightForm::kBF16 && !PackBF16(panels, packed)) {
    packed.form = WeightForm::kF32;
    packed.b16 = {};
  }
  if (packed.form == WeightForm::kF32) PackF32(panels, packed);
  PackBiases(parts, packed);
  return packed;
}

int64_t PackedBytes(std::span<const LinearWeights> parts) {
  const std::vector<PanelSource> panels = PanelsOf(parts);
  const bool bias = std::ranges::any_of(parts, [](const LinearWeights& part) { return bool(part.bias); });
  const int64_t panel = PanelBytes(ChooseForm(panels), parts.front().weight.cols);
  return static_cast<int64_t>(panels.size()) * (panel + (bias ? kPanel * sizeof(float) : 0));
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
