// Matrix products and the packing of their rows.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "bench/micro/kernel_cases.h"

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

// A matrix as it lies in a file, and packed.
struct Matrix {
  std::vector<std::byte> bytes;
  Tensor stored;
  PackedMatrix packed;
  Matrix(const MatrixShape& shape, DType dtype) {
    const int64_t count = shape.outputs * shape.inputs;
    std::vector<float> numbers(count);
    FillUneven(numbers.data(), count, 1);
    bytes.resize(count * DTypeSize(dtype));
    for (int64_t i = 0; i < count; ++i) {
      const auto half = static_cast<uint16_t>(std::bit_cast<uint32_t>(numbers[i]) >> 16);
      if (dtype == DType::kF32)
        std::memcpy(bytes.data() + 4 * i, &numbers[i], 4);
      else
        std::memcpy(bytes.data() + 2 * i, &half, 2);
    }
    stored = {bytes.data(), dtype, shape.outputs, shape.inputs};
    packed = PackMatrix(stored);
  }
};

class MultiplyWork : public KernelWork {
 public:
  MultiplyWork(const Kernels& kernels, const MatrixShape& shape, DType dtype, int64_t rows)
      : kernels_(kernels),
        shape_(shape),
        rows_(rows),
        matrix_(shape, dtype),
        x_(rows * shape.inputs),
        packed_(rows * shape.inputs),
        out_(rows * matrix_.packed.outputs()) {
    FillUneven(x_.data(), x_.size(), 2);
    kernels.pack_rows(x_.data(), shape.inputs, rows, shape.inputs, 0, kernels.row_blocks(rows),
                      packed_.data());
    const auto numbers = static_cast<double>(shape.outputs * shape.inputs);
    flops = 2 * numbers * static_cast<double>(rows);
    bytes = numbers * static_cast<double>(DTypeSize(dtype)) +
            4.0 * static_cast<double>(rows * (shape.inputs + shape.outputs));
  }

  void Run() override {
    const Product product = {.weights = &matrix_.packed,
                             .x = packed_.data(),
                             .rows = rows_,
                             .out = out_.data(),
                             .stride = matrix_.packed.outputs()};
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
  AlignedBuffer<float> x_, packed_, out_;
};

class PackRowsWork : public KernelWork {
 public:
  PackRowsWork(const Kernels& kernels, int64_t rows)
      : kernels_(kernels), rows_(rows), x_(rows * kInputs), packed_(rows * kInputs) {
    FillUneven(x_.data(), x_.size(), 3);
    bytes = 2 * 4.0 * static_cast<double>(rows * kInputs);
  }

  void Run() override {
    kernels_.pack_rows(x_.data(), kInputs, rows_, kInputs, 0, kernels_.row_blocks(rows_), packed_.data());
  }

  void Check() override {
    Run();
    const int64_t blocks = kernels_.row_blocks(rows_);
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t first = rows_ * block / blocks, count = rows_ * (block + 1) / blocks - first;
      for (int64_t i = 0; i < count * kInputs; ++i)
        CheckClose("pack_rows", first * kInputs + i, packed_[first * kInputs + i],
                   x_[(first + i % count) * kInputs + i / count], 0);
    }
  }

 private:
  static constexpr int64_t kInputs = 576;
  const Kernels& kernels_;
  int64_t rows_;
  AlignedBuffer<float> x_, packed_;
};

}  // namespace

std::vector<KernelCase> ProductCases(const Kernels& kernels) {
  std::vector<KernelCase> cases;
  for (const MatrixShape& shape : kShapes) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      for (const int64_t rows : kRows)
        cases.push_back(
            {fmt::format("multiply/{}/{}/{}", shape.name, dtype == DType::kF32 ? "f32" : "bf16", rows),
             [&kernels, shape, dtype, rows] {
               return std::make_unique<MultiplyWork>(kernels, shape, dtype, rows);
             }});
    }
  }
  for (const int64_t rows : {8, 12, 32, 128})
    cases.push_back({fmt::format("pack_rows/{}", rows),
                     [&kernels, rows] { return std::make_unique<PackRowsWork>(kernels, rows); }});
  return cases;
}

}  // namespace fullband
