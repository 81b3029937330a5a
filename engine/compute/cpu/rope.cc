#include "engine/compute/cpu/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fullband {
namespace {

// Llama 3.1's scaling: long waves are stretched by `factor`, short ones kept, those between interpolated.
float ScaleAsLlama3(const RopeConfig& rope, float frequency) {
  const float context = static_cast<float>(rope.original_max_positions);
  const float low = static_cast<float>(rope.low_freq_factor),
              high = static_cast<float>(rope.high_freq_factor);
  const float factor = static_cast<float>(rope.factor);
  const float wavelength = 2 * std::numbers::pi_v<float> / frequency;
  if (wavelength > context / low) return frequency / factor;
  if (wavelength < context / high) return frequency;
  const float smooth = (context / wavelength - low) / (high - low);
  return (1 - smooth) * frequency / factor + smooth * frequency;
}

}  // namespace

std::vector<float> InverseFrequencies(const RopeConfig& rope, int head_dim) {
  std::vector<float> frequencies;
  for (int i = 0; i < head_dim; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(head_dim);
    const float power = static_cast<float>(std::pow(rope.theta, static_cast<double>(exponent)));
    float frequency = 1.0f / power;
    if (rope.type == RopeType::kLinear) frequency /= static_cast<float>(rope.factor);
    if (rope.type == RopeType::kLlama3) frequency = ScaleAsLlama3(rope, frequency);
    frequencies.push_back(frequency);
  }
  return frequencies;
}

RopeTable::RopeTable(const RopeConfig& rope, int head_dim)
    : frequencies_(InverseFrequencies(rope, head_dim)) {}

void RopeTable::Cover(int positions) {
  if (positions <= covered()) return;
  const int begin = covered(), end = std::max(positions, 2 * begin);
  cosines_.reserve(end * frequencies_.size());
  sines_.reserve(end * frequencies_.size());
  for (int position = begin; position < end; ++position) {
    for (float frequency : frequencies_) {
      const double angle = static_cast<float>(position) * frequency;  // rounded to float32, as the peers' is
      cosines_.push_back(static_cast<float>(std::cos(angle)));
      sines_.push_back(static_cast<float>(std::sin(angle)));
    }
  }
}

}  // namespace fullband
