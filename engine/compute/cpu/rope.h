// Rotary position embedding, half-split layout (Su et al. 2021), with the scalings of the Llama families.
#pragma once

#include <vector>

#include "engine/checkpoint/config.h"

namespace fullband {

// Radians per position of each of the head_dim / 2 pairs. Computed and rounded in float32 where Hugging Face
// transformers does so, since at long positions the rounding of a frequency shows.
std::vector<float> InverseFrequencies(const RopeConfig& rope, int head_dim);

// Cosines and sines for positions 0 .. covered() - 1.
class RopeTable {
 public:
  RopeTable(const RopeConfig& rope, int head_dim);
  // Extends the table to `positions` at least. Not to be called while others read.
  void Cover(int positions);
  static int64_t Bytes(int head_dim, int64_t positions) {
    return positions * head_dim * static_cast<int64_t>(sizeof(float));
  }
  int covered() const { return static_cast<int>(cosines_.size() / frequencies_.size()); }

  // Rotates one head's numbers x [head_dim] to `position` and multiplies them by `scale`.
  void Rotate(int position, float scale, float* x) const;

 private:
  std::vector<float> frequencies_;
  std::vector<float> cosines_, sines_;  // [positions, head_dim / 2]
};

}  // namespace fullband
