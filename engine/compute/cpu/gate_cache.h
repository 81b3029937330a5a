// Gates sigmoid(W^G e) of tokens that have been fused before: they depend on the token alone.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compute/cpu/aligned_buffer.h"

namespace fullband {

// Rows of `width` numbers, taken up as they are added, `bytes` in all at most. The tokens that come first
// stay: frequent ones are soon among them, and what finds no room is computed each time.
class GateCache {
 public:
  GateCache(int64_t vocab_size, int64_t width, int64_t bytes);
  // Bytes of the rows of `tokens` different tokens.
  static int64_t Bytes(int64_t width, int64_t bytes, int64_t tokens);

  // A token's row, or null.
  const float* Find(int32_t token) const { return rows_[token]; }
  // Copies a token's row [width], unless it is there already or there is no room left. Rows stay where they
  // are.
  void Add(int32_t token, const float* gate);

 private:
  int64_t width_, room_;  // numbers a row, rows that may still be added
  int64_t used_ = 0;      // rows in all
  std::vector<AlignedBuffer<float>> blocks_;
  std::vector<const float*> rows_;  // [V]
};

}  // namespace fullband
