// Matrix products and the packing of their rows.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <utility>

#include "bench/micro/kernel_cases.h"
#include "common/error.h"

namespace fullband {
namespace {

struct MatrixShape {
  const char* name;
  int64_t outputs, inputs;
};
constexpr MatrixShape kShapes[] = {{"qkv", 960, 576},
                                   {"output", 576, 576},
                                   {"gate_up", 3072, 576},
                                   {"down", 576, 1536},
                                   {"head", 49152, 576}};
constexpr int64_t kRows[] = {1, 8, 12, 32, 128};

// A matrix whose numbers are such that it is kept in the given form.
struct Matrix {
  std::vector<uint32_t> numbers;
  Tensor stored;
  PackedMatrix packed;
  Matrix(const MatrixShape& shape, WeightForm form) : numbers(shape.outputs * shape.inputs) {
    std::vector<float> uneven(numbers.size());
    FillUneven(uneven.data(), std::ssize(uneven), 1);
    for (size_t i = 0; i < numbers.size(); ++i) {
      // Of too many binades for a code.
      if (form == WeightForm::kBF16) uneven[i] *= std::exp2(-static_cast<float>(i % 41));
      numbers[i] = std::bit_cast<uint32_t>(uneven[i]);
      if (form != WeightForm::kF32) numbers[i] &= 0xffff0000u;
    }
    stored = {reinterpret_cast<const std::byte*>(numbers.data()), DType::kF32, shape.outputs, shape.inputs};
    packed = PackMatrix(stored);
    if (packed.form != form) throw Error(shape.name, "is not kept in the form that is timed");
  }
};

constexpr std::pair<WeightForm, const char*> kForms[] = {
    {WeightForm::kF32, "f32"}, {WeightForm::kBF16, "bf16"}, {WeightForm::kCoded, "coded"}};

class MultiplyWork : public KernelWork {
 public:
  MultiplyWork(const Kernels& kernels, const MatrixShape& shape, WeightForm form, int64_t rows)
      : kernels_(kernels),
        shape_(shape),
        rows_(rows),
        matrix_(shape, form),
        x_(rows * shape.inputs),
        packed_(rows * shape.inputs),
        widened_(shape.inputs * kPanel),
        out_(rows * matrix_.packed.outputs()) {
    FillUneven(x_.data(), x_.size(), 2);
    kernels.pack({.x = x_.data(), .stride = shape.inputs, .rows = rows, .inputs = shape.inputs}, 0,
                 kernels.pack_items(rows, shape.inputs), packed_.data());
    const auto numbers = static_cast<double>(shape.outputs * shape.inputs);
    flops = 2 * numbers * static_cast<double>(rows);
    bytes = static_cast<double>(PackedBytes(matrix_.stored)) +
            4.0 * static_cast<double>(rows * (shape.inputs + shape.outputs));
  }

  void Run() override {
    const Product product = {.weights = &matrix_.packed,
                             .x = packed_.data(),
                             .rows = rows_,
                             .out = out_.data(),
                             .stride = matrix_.packed.outputs(),
                             .widened = widened_.data()};
    kernels_.multiply(product, 0, matrix_.packed.panels);
  }

  // All rows of a spread of outputs: the whole head in double precision would take longer than the timing.
  void Check() override {
    Run();
    const int64_t step = std::max<int64_t>(shape_.outputs / 97, 1);
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t output = row % step; output < shape_.outputs; output += step) {
        double sum = 0, size = 0;
        for (int64_t k = 0; k < shape_.inputs; ++k) {
          const double term = double{x_[row * shape_.inputs + k]} *
                              ElementAsFloat(matrix_.stored, output * shape_.inputs + k);
          sum += term;
          size += std::abs(term);
        }
        CheckClose("multiply", row * shape_.outputs + output, out_[row * matrix_.packed.outputs() + output],
                   sum, size * kRounding * static_cast<double>(shape_.inputs + 2));
      }
    }
  }

 private:
  const Kernels& kernels_;
  MatrixShape shape_;
  int64_t rows_;
  Matrix matrix_;
  AlignedBuffer<float> x_, packed_, widened_, out_;
};

enum class PackKind { kPlain, kNorm, kGate };

class PackWork : public KernelWork {
 public:
  PackWork(const Kernels& kernels, PackKind kind, int64_t rows)
      : kernels_(kernels),
        kind_(kind),
        rows_(rows),
        x_(rows * kInputs),
        up_(rows * kInputs),
        weight_(kInputs),
        scales_(rows),
        packed_(rows * kInputs) {
    FillUneven(x_.data(), x_.size(), 3, 4);
    FillUneven(up_.data(), up_.size(), 4);
    FillUneven(weight_.data(), kInputs, 5);
    FillUneven(scales_.data(), rows, 6);
    bytes = (kind == PackKind::kGate ? 3 : 2) * 4.0 * static_cast<double>(rows * kInputs);
  }

  void Run() override {
    ProductInput input = {.x = x_.data(), .stride = kInputs, .rows = rows_, .inputs = kInputs};
    if (kind_ == PackKind::kNorm) input.scales = scales_.data(), input.weight = weight_.data();
    if (kind_ == PackKind::kGate) input.up = up_.data();
    kernels_.pack(input, 0, kernels_.pack_items(rows_, kInputs), packed_.data());
  }

  // How rows are interleaved is the product's business: one by the identity tells them apart, exactly.
  void Check() override {
    Run();
    std::vector<float> identity(kInputs * kInputs);
    for (int64_t i = 0; i < kInputs; ++i) identity[i * kInputs + i] = 1;
    const PackedMatrix weights = PackMatrix(
        Tensor{reinterpret_cast<const std::byte*>(identity.data()), DType::kF32, kInputs, kInputs});
    AlignedBuffer<float> out(rows_ * weights.outputs());
    kernels_.multiply({.weights = &weights,
                       .x = packed_.data(),
                       .rows = rows_,
                       .out = out.data(),
                       .stride = weights.outputs()},
                      0, weights.panels);
    for (int64_t i = 0; i < rows_ * kInputs; ++i) {
      const int64_t row = i / kInputs, column = i % kInputs;
      const double expected = Expected(row, column);
      CheckClose("pack", i, out[row * weights.outputs() + column], expected,
                 kind_ == PackKind::kPlain ? 0 : std::abs(expected) * 12 * kRounding);
    }
  }

 private:
  static constexpr int64_t kInputs = 576;
  double Expected(int64_t row, int64_t column) const {
    const double x = x_[row * kInputs + column];
    if (kind_ == PackKind::kNorm) return x * scales_[row] * weight_[column];
    if (kind_ == PackKind::kGate) return x / (1 + std::exp(-x)) * up_[row * kInputs + column];
    return x;
  }

  const Kernels& kernels_;
  PackKind kind_;
  int64_t rows_;
  AlignedBuffer<float> x_, up_, weight_, scales_, packed_;
};

}  // namespace

std::vector<KernelCase> ProductCases(const Kernels& kernels) {
  std::vector<KernelCase> cases;
  for (const MatrixShape& shape : kShapes) {
    for (const auto& [form, name] : kForms) {
      for (const int64_t rows : kRows)
        cases.push_back(
            {fmt::format("multiply/{}/{}/{}", shape.name, name, rows), [&kernels, shape, form = form, rows] {
               return std::make_unique<MultiplyWork>(kernels, shape, form, rows);
             }});
    }
  }
  const std::pair<PackKind, const char*> kinds[] = {
      {PackKind::kPlain, "plain"}, {PackKind::kNorm, "norm"}, {PackKind::kGate, "gate"}};
  for (const auto& [kind, name] : kinds) {
    for (const int64_t rows : {8, 12, 32, 128})
      cases.push_back({fmt::format("pack/{}/{}", name, rows), [&kernels, kind = kind, rows] {
                         return std::make_unique<PackWork>(kernels, kind, rows);
                       }});
  }
  return cases;
}

}  // namespace fullband
