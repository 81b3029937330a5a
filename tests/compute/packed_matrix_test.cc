// The forms that weights are kept in: which is chosen, that none loses anything, and that products do not
// depend on it.
#include "engine/compute/cpu/packed_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "engine/compute/cpu/kernels.h"

namespace fullband {
namespace {

using Floats = std::vector<float>;
using Halves = std::vector<uint16_t>;

float Wide(uint16_t half) { return std::bit_cast<float>(uint32_t{half} << 16); }
uint16_t Half(float wide) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(wide) >> 16); }

// Normally distributed, as trained weights are, rounded to bfloat16.
Halves Trained(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.03f);
  Halves halves(count);
  for (uint16_t& half : halves) half = Half(normal(random));
  return halves;
}

Tensor AsTensor(const Halves& halves, int64_t rows) {
  return {reinterpret_cast<const std::byte*>(halves.data()), DType::kBF16, rows, std::ssize(halves) / rows};
}

Floats Widened(const Halves& halves) {
  Floats floats;
  for (uint16_t half : halves) floats.push_back(Wide(half));
  return floats;
}

Tensor AsTensor(const Floats& floats, int64_t rows) {
  return {reinterpret_cast<const std::byte*>(floats.data()), DType::kF32, rows, std::ssize(floats) / rows};
}

// ------------------------------------------------------------------------------------------------ coded
// panels

// The weight of output `j` and input `k`, read as coded_panel.h says.
uint16_t Decoded(const std::vector<uint8_t>& coded, const PanelCode& code, int64_t k, int64_t j) {
  const uint8_t* group = coded.data() + k / 4 * 192;
  const int64_t pair = k % 4 / 2, at = j % 16 / 4 * 16 + k % 2 * 8 + j % 4 * 2 + j / 16;
  const int number = group[128 + at] >> (pair == 0 ? 0 : 4) & 15;
  return static_cast<uint16_t>(code.upper[number] << 8 | group[pair * 64 + at]);
}

struct EncodedPanel {
  PanelCode code;
  std::vector<uint8_t> coded;
  std::vector<StrayWeight> strays;
  explicit EncodedPanel(const Halves& weights)
      : code(ChooseCode(weights)), coded(CodedPanelBytes(std::ssize(weights) / 32)) {
    EncodePanel(weights.data(), std::ssize(weights) / 32, code, coded.data(), strays);
  }
};

// Coded weights and strays together must be the panel again, each stray once and zero in the code.
void ExpectLossless(const Halves& weights) {
  const EncodedPanel panel(weights);
  const int64_t inputs = std::ssize(weights) / 32;
  EXPECT_EQ(std::ssize(panel.strays), panel.code.strays);
  Halves found(weights.size());
  for (int64_t j = 0; j < 32; ++j) {
    for (int64_t k = 0; k < inputs; ++k) found[j * inputs + k] = Decoded(panel.coded, panel.code, k, j);
  }
  int32_t last = 0;
  for (const StrayWeight& stray : panel.strays) {
    uint16_t& weight = found[stray.output * inputs + stray.input];
    EXPECT_EQ(weight, 0);
    EXPECT_LE(last, stray.input);
    last = stray.input;
    weight = stray.bf16;
  }
  EXPECT_EQ(found, weights);
}

TEST(EncodePanel, LosesNothing) {
  ExpectLossless(Trained(32 * 64, 1));
  ExpectLossless(Halves(32 * 4));
  Halves every;  // all numbers there are, NaN and infinity too, in several panels
  for (uint32_t bits = 0; bits < 0x10000; ++bits) every.push_back(static_cast<uint16_t>(bits * 40503));
  for (size_t at = 0; at < every.size(); at += 32 * 128)
    ExpectLossless(Halves(every.begin() + at, every.begin() + at + 32 * 128));
}

TEST(ChooseCode, TakesTheMostFrequent) {
  Halves weights;
  for (int upper = 1; upper <= 17; ++upper) weights.insert(weights.end(), upper + 10, upper << 8 | 5);
  // Seventeen are one too many, and zero needs a place as well.
  const PanelCode some = ChooseCode(weights);
  EXPECT_EQ(some.strays, 11 + 12);
  EXPECT_THAT(some.upper, testing::Contains(0));
  EXPECT_THAT(some.upper, testing::Contains(17));
  // Sixteen fit, without it.
  weights.erase(weights.begin(), weights.begin() + 11);
  const PanelCode all = ChooseCode(weights);
  EXPECT_EQ(all.strays, 0);
  EXPECT_THAT(all.upper, testing::Not(testing::Contains(0)));
}

TEST(ChooseCode, LeavesFewTrainedWeightsOver) {
  // Of a normal distribution that spans 5 deviations, 15 upper bytes miss what is below 2^-14 of that.
  const Halves weights = Trained(32 * 4096, 2);
  EXPECT_LT(static_cast<double>(ChooseCode(weights).strays) / static_cast<double>(weights.size()), 1e-3);
}

// ------------------------------------------------------------------------------------------------ forms

WeightForm FormOf(const Tensor& tensor) { return PackMatrix(tensor).form; }

int64_t BufferBytes(const PackedMatrix& m) {
  return m.f32.size() * 4 + m.b16.size() * 2 + m.coded.size() + m.upper.size() + m.bias.size() * 4;
}

TEST(PackMatrix, ChoosesTheSmallestFormThatLosesNothing) {
  const Halves trained = Trained(96 * 64, 3);
  Floats wide = Widened(trained);
  EXPECT_EQ(FormOf(AsTensor(trained, 96)), WeightForm::kCoded);
  EXPECT_EQ(FormOf(AsTensor(wide, 96)), WeightForm::kCoded);
  // A row's length that groups do not divide.
  const Halves odd = Trained(96 * 63, 3);
  EXPECT_EQ(FormOf(AsTensor(odd, 96)), WeightForm::kBF16);
  // Exponents all over the place.
  Halves strays = trained;
  for (size_t i = 0; i < strays.size(); ++i) strays[i] = static_cast<uint16_t>(i * 40503);
  EXPECT_EQ(FormOf(AsTensor(strays, 96)), WeightForm::kBF16);
  // One number that needs more bits.
  wide[50 * 64 + 3] = std::bit_cast<float>(std::bit_cast<uint32_t>(wide[50 * 64 + 3]) | 1);
  EXPECT_EQ(FormOf(AsTensor(wide, 96)), WeightForm::kF32);
}

// Panels are judged by a sample; here what matters is in one that is not among it.
TEST(PackMatrix, NoticesWhatTheSampleDoesNotShow) {
  constexpr int64_t kRows = 64 * 32, kInputs = 8, kOdd = 33 * 32 * kInputs;
  Halves trained = Trained(kRows * kInputs, 4);
  Floats wide = Widened(trained);
  ASSERT_EQ(FormOf(AsTensor(wide, kRows)), WeightForm::kCoded);
  wide[kOdd] = 0.1f;
  EXPECT_EQ(FormOf(AsTensor(wide, kRows)), WeightForm::kF32);
  for (int64_t i = 0; i < 32 * kInputs; ++i) trained[kOdd + i] = static_cast<uint16_t>(i << 8);
  EXPECT_EQ(FormOf(AsTensor(trained, kRows)), WeightForm::kBF16);
}

TEST(PackMatrix, TakesTheStatedBytes) {
  const Halves trained = Trained(100 * 64, 5);
  const Floats wide = Widened(trained), bias(100, 1.0f), full(100 * 63, 0.1f);
  const Halves odd = Trained(100 * 63, 6);
  for (const Tensor& matrix :
       {AsTensor(trained, 100), AsTensor(wide, 100), AsTensor(odd, 100), AsTensor(full, 100)}) {
    EXPECT_EQ(PackedBytes(matrix), BufferBytes(PackMatrix(matrix)));
    const Tensor biases = AsTensor(bias, 100);
    EXPECT_EQ(PackedBytes(matrix, biases), BufferBytes(PackMatrix(matrix, biases)));
  }
  const PackedMatrix coded = PackMatrix(AsTensor(trained, 100));
  EXPECT_EQ(BufferBytes(coded), 128 * 64 * 3 / 2 + 4 * 16);
  EXPECT_EQ(coded.b16.size() + coded.f32.size(), 0);
}

// ------------------------------------------------------------------------------------------------ products

// The same numbers in plain float32.
PackedMatrix PlainF32(const Halves& weights, int64_t rows) {
  PackedMatrix plain;
  plain.inputs = std::ssize(weights) / rows;
  plain.panels = Padded(rows) / kPanel;
  plain.f32 = AlignedBuffer<float>(plain.outputs() * plain.inputs);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t k = 0; k < plain.inputs; ++k)
      plain.f32[(row / 32 * plain.inputs + k) * 32 + row % 32] = Wide(weights[row * plain.inputs + k]);
  }
  return plain;
}

struct ProductOf {
  const Kernels& kernels;
  const PackedMatrix& weights;
  const Floats& x;  // [rows, inputs]
  bool widen = false;

  // [rows, outputs], added to ones.
  Floats Run() const {
    const int64_t inputs = weights.inputs, rows = std::ssize(x) / inputs;
    AlignedBuffer<float> padded(rows * Padded(inputs)), packed(rows * inputs),
        widened(widen ? inputs * 32 : 0);
    for (int64_t r = 0; r < rows; ++r) std::copy_n(&x[r * inputs], inputs, &padded[r * Padded(inputs)]);
    kernels.pack({.x = padded.data(), .stride = Padded(inputs), .rows = rows, .inputs = inputs}, 0,
                 kernels.pack_items(rows, inputs), packed.data());
    Floats out(rows * weights.outputs(), 1.0f);
    AlignedBuffer<float> aligned(std::ssize(out));
    std::copy(out.begin(), out.end(), aligned.data());
    kernels.multiply({.weights = &weights,
                      .x = packed.data(),
                      .rows = rows,
                      .out = aligned.data(),
                      .stride = weights.outputs(),
                      .add = true,
                      .widened = widen ? widened.data() : nullptr},
                     0, weights.panels);
    std::copy_n(aligned.data(), out.size(), out.begin());
    return out;
  }
};

bool SameBits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

constexpr int64_t kOutputs = 96, kInputs = 200;
constexpr int64_t kRowCounts[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 24, 29, 40, 49, 61};

Floats Activations(int64_t rows) { return Widened(Trained(rows * kInputs, 7)); }

TEST(Multiply, GivesTheSameForAllForms) {
  Halves weights = Trained(kOutputs * kInputs, 8);
  for (uint16_t& half : weights) {  // none so small that it is a stray
    if (std::abs(Wide(half)) < 1e-4f) half = 0;
  }
  const PackedMatrix coded = PackMatrix(AsTensor(weights, kOutputs)), plain = PlainF32(weights, kOutputs);
  ASSERT_EQ(coded.form, WeightForm::kCoded);
  ASSERT_TRUE(coded.strays.empty());
  for (const std::string& target : KernelTargets()) {
    const Kernels& kernels = KernelsFor(target);
    for (int64_t rows : kRowCounts) {
      const Floats x = Activations(rows), expected = ProductOf{kernels, plain, x}.Run();
      EXPECT_TRUE(SameBits(ProductOf{kernels, coded, x}.Run(), expected)) << target << " rows " << rows;
      EXPECT_TRUE(SameBits(ProductOf{kernels, coded, x, true}.Run(), expected)) << target << " rows " << rows;
    }
  }
  // One bit of one code shows.
  const Floats x = Activations(3);
  const Floats before = ProductOf{KernelsFor(""), coded, x}.Run();
  coded.coded[130] ^= 1;
  EXPECT_FALSE(SameBits(ProductOf{KernelsFor(""), coded, x}.Run(), before));
}

TEST(Multiply, AddsStraysAfterAllOthers) {
  Halves weights = Trained(kOutputs * kInputs, 9);
  // Large ones and tiny ones, more kinds than the code has room for, some in the same output.
  const float rare[] = {3e4f, -2e-20f, 1e10f, -1e10f, 5e-30f, -3e4f};
  for (int64_t i = 0; i < 6; ++i) weights[(40 + i % 2) * kInputs + 17 + 30 * i] = Half(rare[i]);
  const PackedMatrix coded = PackMatrix(AsTensor(weights, kOutputs));
  ASSERT_EQ(coded.form, WeightForm::kCoded);
  ASSERT_GE(coded.strays.size(), 2);
  Halves others = weights;
  struct Stray {
    int64_t output, input;
    float weight;
  };
  std::vector<Stray> strays;
  for (int64_t panel = 0; panel < coded.panels; ++panel) {
    for (int64_t i = coded.stray_begins[panel]; i < coded.stray_begins[panel + 1]; ++i) {
      const StrayWeight& s = coded.strays[i];
      strays.push_back({panel * 32 + s.output, s.input, Wide(s.bf16)});
      uint16_t& own = others[strays.back().output * kInputs + s.input];
      EXPECT_EQ(own, s.bf16);
      own = 0;
    }
  }
  const PackedMatrix plain = PlainF32(others, kOutputs);
  for (const std::string& target : KernelTargets()) {
    const Kernels& kernels = KernelsFor(target);
    if (target == "EMU128" || target == "SCALAR") continue;  // may round twice
    for (int64_t rows : kRowCounts) {
      const Floats x = Activations(rows);
      Floats expected = ProductOf{kernels, plain, x}.Run();
      for (const Stray& s : strays) {
        for (int64_t r = 0; r < rows; ++r) {
          float& sum = expected[r * kOutputs + s.output];
          sum = std::fma(x[r * kInputs + s.input], s.weight, sum);
        }
      }
      EXPECT_TRUE(SameBits(ProductOf{kernels, coded, x}.Run(), expected)) << target << " rows " << rows;
      EXPECT_TRUE(SameBits(ProductOf{kernels, coded, x, true}.Run(), expected)) << target << " rows " << rows;
    }
  }
}

TEST(Multiply, BringsNanOfAWeightThrough) {
  Halves weights = Trained(kOutputs * kInputs, 10);
  weights[5 * kInputs + 60] = Half(std::numeric_limits<float>::quiet_NaN());
  const PackedMatrix coded = PackMatrix(AsTensor(weights, kOutputs));
  ASSERT_EQ(coded.form, WeightForm::kCoded);
  const Floats got = ProductOf{KernelsFor(""), coded, Activations(2)}.Run();
  for (int64_t i = 0; i < std::ssize(got); ++i) EXPECT_EQ(std::isnan(got[i]), i % kOutputs == 5) << i;
}

}  // namespace
}  // namespace fullband
