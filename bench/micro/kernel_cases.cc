#include "bench/micro/kernel_cases.h"

#include <fmt/format.h>

#include <cmath>

#include "common/error.h"
#include "common/hash.h"

namespace fullband {

void FillUneven(float* x, int64_t count, uint64_t seed, float size) {
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<int64_t>(Mix64(seed << 32 | static_cast<uint64_t>(i)));
    x[i] = size * static_cast<float>(static_cast<double>(bits) * 0x1p-63);
  }
}

void CheckClose(const std::string& name, int64_t index, double got, double expected, double tolerance) {
  if (std::abs(got - expected) <= tolerance) return;  // false for NaN
  throw Error(name,
              fmt::format("number {} is {:.9g} where {:.9g} is right (within {:.2g})", index, got, expected,
                          tolerance),
              "the kernel is wrong: its time means nothing");
}

}  // namespace fullband
