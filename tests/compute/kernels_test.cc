// Each kernel against plain double-precision code, for every target of this machine, and the targets against
// each other, bit for bit.
#include "engine/compute/cpu/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <numeric>

#include "common/error.h"
#include "common/hash.h"
#include "engine/compute/cpu/pages.h"
#include "engine/compute/sampling.h"

namespace fullband {
namespace {

using Floats = std::vector<float>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr double kEpsilon = 0x1p-24;  // relative error of one rounding

// Uneven numbers in (-1, 1), some of them tiny.
Floats Numbers(int64_t count, uint64_t seed) {
  Floats numbers;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits = Mix64(seed << 32 | i);
    const float uniform = static_cast<float>(static_cast<int64_t>(bits) * 0x1p-63);
    numbers.push_back(bits % 7 == 0 ? uniform * 1e-3f : uniform);
  }
  return numbers;
}

AlignedBuffer<float> Aligned(const Floats& numbers) {
  AlignedBuffer<float> buffer(Padded(numbers.size()));
  std::copy(numbers.begin(), numbers.end(), buffer.data());
  return buffer;
}

// The targets that have fused multiply-add: their results must be equal.
std::vector<std::string> FusedTargets() {
  std::vector<std::string> names = KernelTargets();
  std::erase(names, "SCALAR");
  std::erase(names, "EMU128");
  return names;
}

bool SameBits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// ------------------------------------------------------------------------------------------------ products

// A matrix as it lies in a file, and its numbers.
struct StoredMatrix {
  std::vector<std::byte> bytes;
  Tensor tensor;
  StoredMatrix(int64_t rows, int64_t cols, DType dtype, uint64_t seed) {
    const Floats numbers = Numbers(rows * cols, seed);
    const size_t width = dtype == DType::kF32 ? 4 : 2;
    bytes.resize(numbers.size() * width + 1);
    for (size_t i = 0; i < numbers.size(); ++i) {
      uint32_t bits;
      std::memcpy(&bits, &numbers[i], 4);
      // Any bits will do for half-width numbers, as long as they are finite and of sensible size.
      const uint16_t half = dtype == DType::kBF16 ? bits >> 16 : (bits >> 16 & 0x8000) | (bits >> 3 & 0x3bff);
      std::memcpy(bytes.data() + 1 + i * width, width == 4 ? static_cast<const void*>(&bits) : &half, width);
    }
    tensor = {bytes.data() + 1, dtype, rows, cols};  // at an odd address, as files may have it
  }
};

struct ProductCase {
  int64_t rows, outputs, inputs;
  DType dtype;
  bool bias, add;
};

// Rows of activations, as the backend has them; their padding is NaN, which must not show.
AlignedBuffer<float> PaddedRows(const Floats& x, int64_t rows) {
  const int64_t size = x.size() / rows, stride = Padded(size);
  AlignedBuffer<float> padded(rows * stride);
  std::fill_n(padded.data(), rows * stride, kNan);
  for (int64_t r = 0; r < rows; ++r) std::copy_n(&x[r * size], size, &padded[r * stride]);
  return padded;
}

// Row-major [rows, outputs].
Floats RunProduct(const Kernels& kernels, const ProductCase& c, const PackedMatrix& packed, const Floats& x,
                  const Floats& before, int64_t panels_at_once) {
  const int64_t stride = packed.outputs();
  AlignedBuffer<float> out(c.rows * stride), packed_x(c.rows * c.inputs), padded_x = PaddedRows(x, c.rows);
  for (int64_t r = 0; r < c.rows; ++r) std::copy_n(&before[r * c.outputs], c.outputs, &out[r * stride]);
  kernels.pack({padded_x.data(), Padded(c.inputs), c.rows, c.inputs}, 0, kernels.pack_items(c.rows, c.inputs),
               packed_x.data());
  const Product product = {&packed, packed_x.data(), c.rows, out.data(), stride, c.add};
  for (int64_t p = 0; p < packed.panels; p += panels_at_once) {
    kernels.multiply(product, p, std::min(p + panels_at_once, packed.panels));
  }
  Floats result(c.rows * c.outputs);
  for (int64_t r = 0; r < c.rows; ++r) std::copy_n(&out[r * stride], c.outputs, &result[r * c.outputs]);
  return result;
}

// The largest error in units of what `inputs` roundings of terms of this size may add up to.
double ProductError(const ProductCase& c, const Tensor& w, const Tensor& bias, const Floats& x,
                    const Floats& before, const Floats& got) {
  double worst = 0;
  for (int64_t r = 0; r < c.rows; ++r) {
    for (int64_t o = 0; o < c.outputs; ++o) {
      double sum = (c.bias ? ElementAsFloat(bias, o) : 0) + (c.add ? before[r * c.outputs + o] : 0);
      double size = std::abs(sum);
      for (int64_t k = 0; k < c.inputs; ++k) {
        const double term = double{x[r * c.inputs + k]} * ElementAsFloat(w, o * c.inputs + k);
        sum += term;
        size += std::abs(term);
      }
      const double error = std::abs(got[r * c.outputs + o] - sum) / (size * kEpsilon * (c.inputs + 2));
      worst = error <= worst ? worst : error;
    }
  }
  return worst;
}

TEST(Multiply, AgreesWithPlainProducts) {
  std::vector<ProductCase> cases;
  for (int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 25}) {
    const DType dtype = rows % 3 == 0 ? DType::kF32 : rows % 3 == 1 ? DType::kBF16 : DType::kF16;
    cases.push_back({rows, 32 * (rows % 6) + 7, 20 + rows, dtype, rows % 2 == 0, rows % 4 < 2});
  }
  cases.push_back({3, 300, 64, DType::kBF16, false, false});
  cases.push_back({1, 300, 64, DType::kF32, true, true});
  for (const ProductCase& c : cases) {
    const StoredMatrix w(c.outputs, c.inputs, c.dtype, 1), bias(c.outputs, 1, c.dtype, 2);
    const PackedMatrix packed = PackMatrix(w.tensor, c.bias ? bias.tensor : Tensor{});
    EXPECT_EQ(packed.form == WeightForm::kF32, c.dtype != DType::kBF16);
    const Floats x = Numbers(c.rows * c.inputs, 3), before = Numbers(c.rows * c.outputs, 4);
    for (const std::string& target : KernelTargets()) {
      const Kernels& kernels = KernelsFor(target);
      Floats got = RunProduct(kernels, c, packed, x, before, 100);
      EXPECT_LT(ProductError(c, w.tensor, bias.tensor, x, before, got), 1) << target << " rows " << c.rows;
      // Shares of any size give the same.
      EXPECT_TRUE(SameBits(got, RunProduct(kernels, c, packed, x, before, 1)))
          << target << " rows " << c.rows;
      // The comparison notices one wrong weight of average size.
      got[c.outputs / 2] += x[0] * 1e-2f;
      EXPECT_GT(ProductError(c, w.tensor, bias.tensor, x, before, got), 1);
    }
  }
}

TEST(Multiply, ARowDoesNotDependOnTheOthersNorOnTheTarget) {
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    const ProductCase all = {29, 200, 77, dtype, false, false};
    const StoredMatrix w(all.outputs, all.inputs, dtype, 5);
    const PackedMatrix packed = PackMatrix(w.tensor);
    const Floats x = Numbers(all.rows * all.inputs, 6), zeros(all.rows * all.outputs);
    const Floats expected = RunProduct(KernelsFor(""), all, packed, x, zeros, 100);
    for (const std::string& target : FusedTargets()) {
      EXPECT_TRUE(SameBits(RunProduct(KernelsFor(target), all, packed, x, zeros, 3), expected)) << target;
      for (int64_t rows = 1; rows < 14; ++rows) {
        ProductCase some = all;
        some.rows = rows;
        const Floats last(x.end() - rows * all.inputs, x.end());
        const Floats expected_last(expected.end() - rows * all.outputs, expected.end());
        EXPECT_TRUE(SameBits(RunProduct(KernelsFor(target), some, packed, last, zeros, 100), expected_last));
      }
    }
  }
}

TEST(PackMatrix, PutsPartsIntoPanelsOfTheirOwn) {
  const StoredMatrix first(40, 5, DType::kBF16, 1), second(3, 5, DType::kF32, 2), bias(3, 1, DType::kF32, 3);
  const LinearWeights parts[] = {{first.tensor, {}}, {second.tensor, bias.tensor}};
  const PackedMatrix packed = PackMatrix(parts);
  EXPECT_THAT(packed.offsets, testing::ElementsAre(0, 64));
  EXPECT_EQ(packed.outputs(), 96);
  EXPECT_EQ(packed.form, WeightForm::kF32);
  EXPECT_EQ(packed.f32[(1 * 5 + 2) * 32 + 7], ElementAsFloat(first.tensor, 39 * 5 + 2));
  EXPECT_EQ(packed.f32[(1 * 5 + 2) * 32 + 8], 0);
  EXPECT_EQ(packed.f32[(2 * 5 + 4) * 32 + 2], ElementAsFloat(second.tensor, 2 * 5 + 4));
  EXPECT_EQ(packed.bias[10], 0);
  EXPECT_EQ(packed.bias[64 + 1], ElementAsFloat(bias.tensor, 1));
}

TEST(WidenRow, IsExactForAllHalves) {
  std::vector<uint16_t> halves;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7c00) != 0x7c00) halves.push_back(bits);
  }
  const Tensor tensor = {reinterpret_cast<const std::byte*>(halves.data()), DType::kF16, 1,
                         static_cast<int64_t>(halves.size())};
  Floats widened(halves.size());
  WidenRow(tensor, 0, widened.data());
  for (size_t i = 0; i < halves.size(); ++i) {
    const int exponent = halves[i] >> 10 & 0x1f, fraction = halves[i] & 0x3ff;
    const double size =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    ASSERT_EQ(widened[i], halves[i] & 0x8000 ? -size : size);
  }
}

// ------------------------------------------------------------------------------------------------
// elementwise

TEST(Exp, IsAccurateOverItsRange) {
  Floats x;
  for (int i = -1100; i <= 930; ++i) x.push_back(i * 0.1f + 0.0123f);
  x.resize(Padded(x.size()));
  for (const std::string& target : KernelTargets()) {
    Floats got(x.size());
    KernelsFor(target).exp(x.data(), x.size(), got.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = std::exp(double{x[i]});
      if (expected > 3.4028235e38) {
        EXPECT_EQ(got[i], kInf);
      } else {
        // Two units in the last place, or of the smallest number there is.
        EXPECT_NEAR(got[i], expected, std::max(expected * 4 * kEpsilon, 0x1p-148)) << target << " " << x[i];
      }
    }
  }
}

TEST(Exp, HandlesTheEnds) {
  Floats x = {0, -0.0f, kInf, -kInf, kNan, 1e30f, -1e30f, -105, 88.8f, 0, 0, 0, 0, 0, 0, 0};
  for (const std::string& target : KernelTargets()) {
    Floats got(16);
    KernelsFor(target).exp(x.data(), 16, got.data());
    EXPECT_EQ(got[0], 1) << target;
    EXPECT_EQ(got[1], 1) << target;
    EXPECT_EQ(got[2], kInf) << target;
    EXPECT_EQ(got[3], 0) << target;
    EXPECT_TRUE(std::isnan(got[4])) << target;
    EXPECT_EQ(got[5], kInf) << target;
    EXPECT_EQ(got[6], 0) << target;
    EXPECT_EQ(got[7], 0) << target;
    EXPECT_EQ(got[8], kInf) << target;
  }
}

TEST(RmsNorm, AgreesWithPlainCode) {
  for (int64_t size : {6, 16, 100, 576}) {
    const AlignedBuffer<float> x = Aligned(Numbers(size, 1)), w = Aligned(Numbers(size, 2));
    double mean = 0;
    for (int64_t i = 0; i < size; ++i) mean += double{x[i]} * x[i] / size;
    Floats first;
    for (const std::string& target : KernelTargets()) {
      Floats out(Padded(size));
      const float rms = KernelsFor(target).rms_norm(x.data(), w.data(), size, 1e-5f, out.data());
      EXPECT_NEAR(rms, std::sqrt(mean), std::sqrt(mean) * kEpsilon * (size / 16 + 8));
      for (int64_t i = 0; i < size; ++i) {
        const double expected = x[i] / std::sqrt(mean + 1e-5) * w[i];
        ASSERT_NEAR(out[i], expected, std::abs(expected) * kEpsilon * (size / 16 + 12)) << target;
      }
      for (int64_t i = size; i < Padded(size); ++i) ASSERT_EQ(out[i], 0);
      if (target == FusedTargets().front()) first = out;
      if (std::ranges::count(FusedTargets(), target) > 0) {
        EXPECT_TRUE(SameBits(out, first)) << target;
      }
    }
  }
}

TEST(RmsNorm, ShowsBrokenStates) {
  for (float broken : {kNan, kInf}) {
    AlignedBuffer<float> x = Aligned(Numbers(40, 1)), w = Aligned(Numbers(40, 2));
    x[17] = broken;
    for (const std::string& target : KernelTargets()) {
      Floats out(64);
      EXPECT_FALSE(std::isfinite(KernelsFor(target).rms_norm(x.data(), w.data(), 40, 1e-5f, out.data())));
    }
  }
}

TEST(Sigmoid, AgreesWithPlainCode) {
  Floats x = Numbers(64, 1);
  for (float& v : x) v *= 20;
  x[5] = 300, x[6] = -300;
  for (const std::string& target : KernelTargets()) {
    Floats got(64);
    KernelsFor(target).sigmoid(x.data(), 64, got.data());
    for (int i = 0; i < 64; ++i) {
      const double s = 1 / (1 + std::exp(-double{x[i]}));
      EXPECT_NEAR(got[i], s, s * 9 * kEpsilon + 1e-44) << target;
    }
  }
}

TEST(Rotate, AgreesWithPlainCode) {
  for (int64_t half : {1, 3, 4, 16, 21, 32}) {
    const Floats x = Numbers(2 * half, 1), angles = Numbers(half, 2);
    Floats cosines, sines;
    for (float angle : angles) cosines.push_back(std::cos(3 * angle)), sines.push_back(std::sin(3 * angle));
    for (const std::string& target : KernelTargets()) {
      Floats got = x;
      KernelsFor(target).rotate(cosines.data(), sines.data(), half, 0.3f, got.data());
      for (int64_t i = 0; i < half; ++i) {
        const double c = cosines[i], s = sines[i], a = x[i], b = x[i + half], scale = 0.3f;
        const double size = (std::abs(a) + std::abs(b)) * scale * 3 * kEpsilon;
        EXPECT_NEAR(got[i], (a * c - b * s) * scale, size) << target << " half " << half;
        EXPECT_NEAR(got[i + half], (b * c + a * s) * scale, size) << target << " half " << half;
      }
      Floats first = x;
      KernelsFor("").rotate(cosines.data(), sines.data(), half, 0.3f, first.data());
      EXPECT_TRUE(SameBits(got, first)) << target;
    }
  }
}

// ------------------------------------------------------------------------------------------------ packing

// All of an input, row-major again, packed `at_once` items at a time. Between rows of a block the packed form
// is [inputs][rows of the block]; where blocks begin follows from what a product of one-hot weights gives.
Floats Unpacked(const Kernels& kernels, const ProductInput& in, int64_t at_once) {
  const int64_t items = kernels.pack_items(in.rows, in.inputs), end = in.rows * in.inputs;
  AlignedBuffer<float> packed(end + 1), out(in.rows * Padded(in.inputs));
  packed[end] = 77;
  for (int64_t i = 0; i < items; i += at_once)
    kernels.pack(in, i, std::min(i + at_once, items), packed.data());
  EXPECT_EQ(packed[end], 77);
  Floats identity(in.inputs * in.inputs);
  for (int64_t k = 0; k < in.inputs; ++k) identity[k * in.inputs + k] = 1;
  const Tensor tensor = {reinterpret_cast<const std::byte*>(identity.data()), DType::kF32, in.inputs,
                         in.inputs};
  const PackedMatrix weights = PackMatrix(tensor);
  const Product product = {&weights, packed.data(), in.rows, out.data(), Padded(in.inputs), false};
  kernels.multiply(product, 0, weights.panels);
  Floats rows;
  for (int64_t r = 0; r < in.rows; ++r)
    rows.insert(rows.end(), &out[r * Padded(in.inputs)], &out[r * Padded(in.inputs)] + in.inputs);
  return rows;
}

struct PackCase {
  int64_t rows, inputs;
};
const PackCase kPackCases[] = {{1, 70},  {2, 5},   {3, 64},  {4, 3},  {5, 130},
                               {11, 66}, {12, 64}, {13, 65}, {29, 33}};

// Each kind of input: the same in every share, on every target, and for a row whatever rows are beside it.
void ExpectOneResult(const ProductInput& in, const Floats& expected) {
  for (const std::string& target : FusedTargets()) {
    const Kernels& kernels = KernelsFor(target);
    EXPECT_TRUE(SameBits(Unpacked(kernels, in, 1), expected)) << target << " rows " << in.rows;
    EXPECT_TRUE(SameBits(Unpacked(kernels, in, 100), expected)) << target << " rows " << in.rows;
    ProductInput last = in;
    last.rows = 1;
    last.x += (in.rows - 1) * in.stride;
    if (in.up != nullptr) last.up += (in.rows - 1) * in.stride;
    if (in.scales != nullptr) last.scales += in.rows - 1;
    EXPECT_TRUE(SameBits(Unpacked(kernels, last, 100), Floats(expected.end() - in.inputs, expected.end())))
        << target;
  }
}

TEST(Pack, LeavesPlainNumbersAsTheyAre) {
  for (const PackCase& c : kPackCases) {
    const Floats x = Numbers(c.rows * c.inputs, 4);
    const AlignedBuffer<float> padded = PaddedRows(x, c.rows);
    ExpectOneResult({padded.data(), Padded(c.inputs), c.rows, c.inputs}, x);
  }
}

TEST(Pack, NormsRowsAsRmsNormDoes) {
  for (const PackCase& c : kPackCases) {
    const Floats x = Numbers(c.rows * c.inputs, 4), w = Numbers(c.inputs, 5);
    AlignedBuffer<float> padded = PaddedRows(x, c.rows);
    const AlignedBuffer<float> weight = Aligned(w);
    const int64_t stride = Padded(c.inputs);
    Floats scales, expected;
    for (int64_t r = 0; r < c.rows; ++r) {
      std::fill_n(&padded[r * stride + c.inputs], stride - c.inputs, 0.0f);
      scales.push_back(KernelsFor("").norm_scale(&padded[r * stride], c.inputs, 1e-5f));
      double mean = 0;
      for (int64_t i = 0; i < c.inputs; ++i)
        mean += double{x[r * c.inputs + i]} * x[r * c.inputs + i] / c.inputs;
      EXPECT_NEAR(scales[r], 1 / std::sqrt(mean + 1e-5), scales[r] * kEpsilon * (c.inputs / 16 + 10));
      Floats normed(stride);
      KernelsFor("").rms_norm(&padded[r * stride], weight.data(), c.inputs, 1e-5f, normed.data());
      expected.insert(expected.end(), normed.begin(), normed.begin() + c.inputs);
    }
    ExpectOneResult({padded.data(), stride, c.rows, c.inputs, scales.data(), weight.data()}, expected);
  }
}

TEST(Pack, GatesRows) {
  for (const PackCase& c : kPackCases) {
    const int64_t stride = Padded(c.inputs);
    Floats gate = Numbers(c.rows * c.inputs, 6);
    for (float& g : gate) g *= 20;
    gate[0] = -300, gate[c.inputs / 2] = 300;
    const Floats up = Numbers(c.rows * c.inputs, 7);
    const AlignedBuffer<float> padded = PaddedRows(gate, c.rows), padded_up = PaddedRows(up, c.rows);
    const ProductInput in = {padded.data(), stride, c.rows, c.inputs, nullptr, nullptr, padded_up.data()};
    for (const std::string& target : KernelTargets()) {
      const Floats got = Unpacked(KernelsFor(target), in, 100);
      for (size_t i = 0; i < got.size(); ++i) {
        const double expected = gate[i] / (1 + std::exp(-double{gate[i]})) * up[i];
        EXPECT_NEAR(got[i], expected, std::abs(expected) * 12 * kEpsilon + 1e-41) << target;
      }
    }
    ExpectOneResult(in, Unpacked(KernelsFor(""), in, 100));
  }
}

double LogSumExp(const std::string& target, const Floats& x) {
  Floats maxima(x.size() / kLogitBlock + 1);
  return KernelsFor(target).log_sum_exp(x.data(), x.size(), maxima.data());
}

TEST(LogSumExp, AgreesWithPlainCode) {
  for (int64_t size : {1, 5, 67, 1024, 5000}) {
    Floats x = Numbers(size, 9);
    for (float& v : x) v = v * 30 + 100;
    double sum = 0;
    for (float v : x) sum += std::exp(v - 100.0);
    for (const std::string& target : KernelTargets()) {
      EXPECT_NEAR(LogSumExp(target, x), 100 + std::log(sum), 80 * kEpsilon) << target;
    }
    for (const std::string& target : FusedTargets()) {
      EXPECT_EQ(LogSumExp(target, x), LogSumExp("", x));
    }
  }
}

TEST(LogSumExp, ShowsNan) {
  for (int place : {0, 40, 66}) {
    Floats x = Numbers(67, 9);
    x[place] = kNan;
    for (const std::string& target : KernelTargets()) {
      EXPECT_TRUE(std::isnan(LogSumExp(target, x))) << target;
    }
  }
}

TEST(LogSumExp, FindsTheLargestOfEachBlock) {
  for (int64_t size : {1, 63, 64, 65, 1000}) {
    Floats x = Numbers(size, 9);
    for (int64_t i = 0; i < size; i += 5) x[i] = kNan;
    std::fill_n(x.begin() + size / 2, std::min<int64_t>(150, size - size / 2), kNan);  // whole blocks
    const int64_t blocks = (size + kLogitBlock - 1) / kLogitBlock;
    Floats expected(blocks, -kInf);
    for (int64_t i = 0; i < size; ++i) {
      if (x[i] > expected[i / kLogitBlock]) expected[i / kLogitBlock] = x[i];
    }
    for (const std::string& target : KernelTargets()) {
      Floats maxima(blocks + 1, 77);
      KernelsFor(target).log_sum_exp(x.data(), size, maxima.data());
      EXPECT_EQ(maxima.back(), 77);
      maxima.pop_back();
      EXPECT_EQ(maxima, expected) << target << " " << size;
    }
  }
}

// ------------------------------------------------------------------------------------------------ attention

// A row of a tile: which sequence's pages it reads, and how many positions it sees.
struct AttentionRow {
  int sequence;
  int64_t positions;
};

struct AttentionCase {
  int64_t heads, head_dim;
  std::vector<AttentionRow> rows;
  int64_t shared_pages = 0;  // that all sequences begin with
  bool bf16 = false;         // pages
};

// Pages whose unused places hold NaN, which must not show. Numbers of bfloat16 pages are rounded when they
// are set, and read as what was kept.
struct AttentionData {
  int64_t heads, head_dim, stride;
  bool bf16;
  std::vector<Floats> queries;  // of each row
  std::deque<AlignedBuffer<std::byte>> blocks;
  std::vector<std::vector<std::byte*>> pages;  // of each sequence
  explicit AttentionData(const AttentionCase& c)
      : heads(c.heads), head_dim(c.head_dim), stride(ValueStride(c.head_dim)), bf16(c.bf16) {
    for (size_t row = 0; row < c.rows.size(); ++row) {
      queries.push_back(Numbers(heads * head_dim, 10 + row));
      for (float& q : queries.back()) q *= 8 / std::sqrt(static_cast<float>(head_dim));
      const int sequence = c.rows[row].sequence;
      if (sequence >= static_cast<int>(pages.size())) pages.resize(sequence + 1);
    }
    for (size_t s = 0; s < pages.size(); ++s) Fill(c, s);
  }
  void Fill(const AttentionCase& c, int sequence) {
    int64_t end = 0;
    for (const AttentionRow& row : c.rows)
      if (row.sequence == sequence || c.shared_pages > 0) end = std::max(end, row.positions);
    const Floats keys = Numbers(end * head_dim, 1000 + sequence),
                 values = Numbers(end * head_dim, 2000 + sequence);
    for (int64_t begin = 0; begin < end; begin += kPageSize) {
      if (sequence > 0 && begin / kPageSize < c.shared_pages) {
        pages[sequence].push_back(pages[0][begin / kPageSize]);
        continue;
      }
      const int64_t numbers = kPageSize * (head_dim + stride);
      pages[sequence].push_back(blocks.emplace_back(numbers * (bf16 ? 2 : 4)).data());
      for (int64_t i = 0; i < numbers; ++i) Set(sequence, begin, i, kNan);
      for (int64_t p = begin; p < std::min(begin + kPageSize, end); ++p) {
        for (int64_t i = 0; i < stride; ++i)
          SetValue(sequence, p, i, i < head_dim ? values[p * head_dim + i] : 0);
        for (int64_t i = 0; i < head_dim; ++i) SetKey(sequence, p, i, keys[p * head_dim + i]);
      }
    }
  }
  void Set(int sequence, int64_t p, int64_t index, float number) const {
    std::byte* page = pages[sequence][p / kPageSize];
    if (bf16) {
      reinterpret_cast<uint16_t*>(page)[index] = RoundToBf16(number);
    } else {
      reinterpret_cast<float*>(page)[index] = number;
    }
  }
  float Get(int sequence, int64_t p, int64_t index) const {
    const std::byte* page = pages[sequence][p / kPageSize];
    if (!bf16) return reinterpret_cast<const float*>(page)[index];
    return std::bit_cast<float>(uint32_t{reinterpret_cast<const uint16_t*>(page)[index]} << 16);
  }
  int64_t KeyAt(int64_t p, int64_t i) const { return KeyIndex(bf16, i, p % kPageSize); }
  int64_t ValueAt(int64_t p, int64_t i) const {
    return kPageSize * head_dim + ValueIndex(bf16, stride, p % kPageSize, i);
  }
  void SetKey(int sequence, int64_t p, int64_t i, float number) const {
    Set(sequence, p, KeyAt(p, i), number);
  }
  void SetValue(int sequence, int64_t p, int64_t i, float number) const {
    Set(sequence, p, ValueAt(p, i), number);
  }
  float Key(int sequence, int64_t p, int64_t i) const { return Get(sequence, p, KeyAt(p, i)); }
  float Value(int sequence, int64_t p, int64_t i) const { return Get(sequence, p, ValueAt(p, i)); }
};

// A tile of the rows `which` and the heads `first` .. first + heads - 1. By blocks in descending order, or
// whole.
std::vector<Floats> RunAttention(const Kernels& kernels, const AttentionCase& c, const AttentionData& data,
                                 const std::vector<int>& which, int64_t first, int64_t heads,
                                 bool by_blocks = false) {
  std::vector<Floats> outs(which.size(), Floats(c.heads * c.head_dim));
  std::vector<const float*> queries;
  std::vector<float*> out;
  std::vector<int64_t> positions;
  std::vector<PageRun> runs;
  std::vector<int32_t> run_begins = {0};
  for (size_t i = 0; i < which.size(); ++i) {
    queries.push_back(data.queries[which[i]].data());
    out.push_back(outs[i].data());
    positions.push_back(c.rows[which[i]].positions);
  }
  const int64_t pages = (std::ranges::max(positions) + kPageSize - 1) / kPageSize;
  for (int64_t p = 0; p < pages; ++p) {
    for (int32_t i = 0; i < static_cast<int32_t>(which.size()); ++i) {
      if (positions[i] <= p * kPageSize) continue;
      const void* page = data.pages[c.rows[which[i]].sequence][p];
      const bool goes_on = run_begins.back() < static_cast<int32_t>(runs.size()) &&
                           runs.back().page == page && runs.back().first + runs.back().rows == i;
      if (!goes_on) runs.push_back({page, i, 0});
      ++runs.back().rows;
    }
    run_begins.push_back(runs.size());
  }
  AlignedBuffer<float> scratch(AttentionScratchSize(which.size() * heads, c.head_dim));
  std::fill_n(scratch.data(), scratch.size(), kNan);
  const AttentionTile tile = {.rows = static_cast<int64_t>(which.size()),
                              .heads = heads,
                              .head_dim = c.head_dim,
                              .first_number = first * c.head_dim,
                              .queries = queries.data(),
                              .outs = out.data(),
                              .positions = positions.data(),
                              .pages = pages,
                              .runs = runs.data(),
                              .run_begins = run_begins.data(),
                              .bf16 = c.bf16,
                              .key_offset = 0,
                              .value_offset = kPageSize * c.head_dim,
                              .scratch = scratch.data()};
  if (by_blocks) {
    const int64_t blocks = AttentionBlocks(pages), size = AttentionPartSize(tile.rows * heads, c.head_dim);
    AlignedBuffer<float> parts(blocks * size);
    std::fill_n(parts.data(), parts.size(), kNan);
    for (int64_t b = blocks - 1; b >= 0; --b) kernels.attend_block(tile, b, parts.data() + b * size);
    kernels.join_blocks(tile, parts.data());
  } else {
    kernels.attend(tile);
  }
  return outs;
}

std::vector<Floats> RunAttention(const Kernels& kernels, const AttentionCase& c, const AttentionData& data) {
  std::vector<int> all(c.rows.size());
  std::iota(all.begin(), all.end(), 0);
  return RunAttention(kernels, c, data, all, 0, c.heads);
}

bool SameBits(const std::vector<Floats>& a, const std::vector<Floats>& b) {
  return std::ranges::equal(a, b, [](const Floats& x, const Floats& y) { return SameBits(x, y); });
}

double AttentionError(const AttentionCase& c, const AttentionData& data, const std::vector<Floats>& got) {
  double worst = 0;
  for (size_t row = 0; row < c.rows.size(); ++row) {
    const auto [sequence, positions] = c.rows[row];
    for (int64_t h = 0; h < c.heads; ++h) {
      std::vector<double> mixed(c.head_dim);
      double sum = 0;
      for (int64_t p = 0; p < positions; ++p) {
        double score = 0;
        for (int64_t i = 0; i < c.head_dim; ++i)
          score += double{data.queries[row][h * c.head_dim + i]} * data.Key(sequence, p, i);
        sum += std::exp(score);
        for (int64_t i = 0; i < c.head_dim; ++i) mixed[i] += std::exp(score) * data.Value(sequence, p, i);
      }
      for (int64_t i = 0; i < c.head_dim; ++i) {
        const double error = std::abs(got[row][h * c.head_dim + i] - mixed[i] / sum);
        worst = error <= worst ? worst : error;
      }
    }
  }
  return worst;
}

// One row; rows that follow each other, as in prefill; sequences with a common beginning; with none.
std::vector<AttentionCase> AttentionCases() {
  std::vector<AttentionCase> cases = {{1, 6, {{0, 1}}},    {3, 64, {{0, 31}}},  {4, 64, {{0, 32}}},
                                      {2, 80, {{0, 33}}},  {7, 20, {{0, 100}}}, {5, 128, {{0, 65}}},
                                      {3, 64, {{0, 513}}}, {1, 16, {{0, 256}}}, {14, 48, {{0, 257}}}};
  AttentionCase chunk = {3, 64, {}};
  for (int64_t p = 240; p < 275; ++p) chunk.rows.push_back({0, p});
  cases.push_back(chunk);
  cases.push_back({3, 64, {{0, 590}, {1, 577}, {2, 610}, {3, 577}, {3, 578}, {4, 800}}, 17});
  cases.push_back({1, 36, {{0, 90}, {0, 91}, {1, 300}, {2, 40}}, 1});
  cases.push_back({4, 16, {{0, 300}, {1, 20}, {2, 256}}});
  for (size_t i = 0, count = cases.size(); i < count; ++i) {
    cases.push_back(cases[i]);
    cases.back().bf16 = true;
  }
  return cases;
}

TEST(Attend, AgreesWithPlainSoftmax) {
  for (const AttentionCase& c : AttentionCases()) {
    const AttentionData data(c);
    // A score is a sum of head_dim terms whose sizes add up to about 2 sqrt(head_dim), and of roundings that
    // add up as randomly; weights are off by as much relatively, twice with the sum they are divided by.
    // Values are below 1.
    const double tolerance = 4 * c.head_dim * kEpsilon + 1e-6;
    for (const std::string& target : KernelTargets()) {
      EXPECT_LT(AttentionError(c, data, RunAttention(KernelsFor(target), c, data)), tolerance)
          << target << " positions " << c.rows[0].positions;
    }
    // Forgetting the last position of one row is noticed, and so is a row that reads another's page.
    AttentionCase other = c;
    if (--other.rows.back().positions == 0) continue;
    EXPECT_GT(AttentionError(c, data, RunAttention(KernelsFor(""), other, data)), tolerance);
    if (c.shared_pages == 0) continue;
    other = c;
    other.rows.back().sequence = 0;
    EXPECT_GT(AttentionError(c, data, RunAttention(KernelsFor(""), other, data)), tolerance);
  }
}

TEST(Attend, ARowDoesNotDependOnTileBlocksOrTarget) {
  for (const AttentionCase& c : AttentionCases()) {
    const AttentionData data(c);
    const std::vector<Floats> expected = RunAttention(KernelsFor(""), c, data);
    std::vector<int> all(c.rows.size());
    std::iota(all.begin(), all.end(), 0);
    for (const std::string& target : KernelTargets()) {
      const Kernels& kernels = KernelsFor(target);
      const std::vector<Floats> whole = RunAttention(kernels, c, data);
      if (std::ranges::count(FusedTargets(), target) > 0) {
        EXPECT_TRUE(SameBits(whole, expected)) << target;
      }
      EXPECT_TRUE(SameBits(RunAttention(kernels, c, data, all, 0, c.heads, true), whole)) << target;
      for (int row : all) {
        EXPECT_TRUE(SameBits(RunAttention(kernels, c, data, {row}, 0, c.heads)[0], whole[row])) << target;
        for (int64_t h = 0; h < c.heads; h += 5) {
          const Floats alone = RunAttention(kernels, c, data, {row}, h, 1, row % 2 == 0)[0];
          EXPECT_EQ(
              std::memcmp(&alone[h * c.head_dim], &whole[row][h * c.head_dim], c.head_dim * sizeof(float)),
              0);
        }
      }
      std::ranges::reverse(all);
      std::vector<Floats> reversed = RunAttention(kernels, c, data, all, 0, c.heads);
      std::ranges::reverse(reversed);
      std::ranges::reverse(all);
      EXPECT_TRUE(SameBits(reversed, whole)) << target;
    }
    // The comparison notices a value that is a little off.
    data.SetValue(0, 0, 0, data.Value(0, 0, 0) + 1e-2f);
    EXPECT_FALSE(SameBits(RunAttention(KernelsFor(""), c, data), expected));
  }
}

// NaN at position 37 shows in all rows that see it, and in no other bit of the tile.
TEST(Attend, ShowsNanWhereItIsSeen) {
  AttentionCase c = {2, 16, {}};
  for (int64_t p = 30; p < 45; ++p) c.rows.push_back({0, p});
  for (int kind = 0; kind < 4; ++kind) {
    const bool in_key = kind % 2 == 0;
    c.bf16 = kind / 2 == 1;
    const AttentionData clean(c), data(c);
    in_key ? data.SetKey(0, 37, 3, kNan) : data.SetValue(0, 37, 3, kNan);
    for (const std::string& target : KernelTargets()) {
      const std::vector<Floats> out = RunAttention(KernelsFor(target), c, data);
      const std::vector<Floats> expected = RunAttention(KernelsFor(target), c, clean);
      for (size_t row = 0; row < c.rows.size(); ++row) {
        if (c.rows[row].positions <= 37) {
          EXPECT_TRUE(SameBits(out[row], expected[row])) << target << " " << c.rows[row].positions;
        } else {
          EXPECT_TRUE(std::isnan(out[row][3])) << target;
          EXPECT_EQ(std::isnan(out[row][4]), in_key) << target;
        }
      }
    }
  }
}

TEST(RoundToBf16, TakesTheNearestAndTiesToEven) {
  const auto rounded = [](uint32_t bits) { return RoundToBf16(std::bit_cast<float>(bits)); };
  EXPECT_EQ(rounded(0x3f800000), 0x3f80);
  EXPECT_EQ(rounded(0x3f807fff), 0x3f80);
  EXPECT_EQ(rounded(0x3f808000), 0x3f80);
  EXPECT_EQ(rounded(0x3f808001), 0x3f81);
  EXPECT_EQ(rounded(0x3f818000), 0x3f82);
  EXPECT_EQ(rounded(0xbf818000), 0xbf82);
  EXPECT_EQ(rounded(0x80000000), 0x8000);
  EXPECT_EQ(rounded(0x00000001), 0x0000);
  EXPECT_EQ(rounded(0x7f7fffff), 0x7f80);  // beyond the largest: infinity
  EXPECT_EQ(rounded(0xff800000), 0xff80);
  for (uint32_t nan : {0x7f800001u, 0xffffffffu, 0x7fffffffu, 0x7fc00000u}) {
    EXPECT_TRUE(std::isnan(std::bit_cast<float>(uint32_t{rounded(nan)} << 16)));
  }
}

TEST(KernelsFor, RefusesUnknownTargets) {
  EXPECT_THROW(KernelsFor("AVX9"), Error);
  for (const std::string& target : KernelTargets()) EXPECT_EQ(KernelsFor(target).target, target);
  EXPECT_EQ(KernelsFor("").target, KernelTargets().front());
}

}  // namespace
}  // namespace fullband
