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

  // Those of one position, [head_dim / 2] each. Pair i of a head's numbers x [head_dim] is x[i] and
  // x[i + head_dim / 2]; it becomes (x[i] cos - x[i + half] sin, x[i + half] cos + x[i] sin).
  const float* cosines(int position) const { return cosines_.data() + position * frequencies_.size(); }
  const float* sines(int position) const { return sines_.data() + position * frequencies_.size(); }

 private:
  std::vector<float> frequencies_;
  std::vector<float> cosines_, sines_;  // [positions, head_dim / 2]
};

}  // namespace fullband
