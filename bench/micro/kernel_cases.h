// One kernel at one size, with its inputs: what the microbenchmarks time, and what says first that the kernel
// is right. Sizes are those of SmolLM2-135M (D 576, F 1536, 9 heads on 3 of width 64, vocabulary 49152).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/compute/cpu/kernels.h"

namespace fullband {

class KernelWork {
 public:
  virtual ~KernelWork() = default;
  virtual void Run() = 0;
  // Runs and compares with plain code in double precision. Throws Error naming the first number that is off.
  virtual void Check() = 0;
  double flops = 0;  // of one run; 0: not counted
  double bytes = 0;  // read and written by one run, each once
};

struct KernelCase {
  std::string name;  // "multiply/head/bf16/8"
  std::function<std::unique_ptr<KernelWork>()> make;
};

std::vector<KernelCase> ProductCases(const Kernels& kernels);
std::vector<KernelCase> AttentionCases(const Kernels& kernels);
std::vector<KernelCase> RowCases(const Kernels& kernels);  // norms, gates, exp, rotation
inline std::vector<KernelCase> AllKernelCases(const Kernels& kernels) {
  std::vector<KernelCase> cases = ProductCases(kernels);
  for (const auto& more : {AttentionCases(kernels), RowCases(kernels)})
    cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

// Uneven numbers in (-size, size), the same for the same seed.
void FillUneven(float* x, int64_t count, uint64_t seed, float size = 1);

// Throws Error where |got - expected| > tolerance or either is no number.
void CheckClose(const std::string& name, int64_t index, double got, double expected, double tolerance);

inline constexpr double kRounding = 0x1p-24;  // relative error of one float32 rounding

}  // namespace fullband
