// Where the CPU keeps keys and values (float32).
//
// A page holds 32 positions of every layer and key/value head: keys as [head_dim][32], so that scores have
// positions in lanes, and values as [32][ValueStride(head_dim)], so that mixing them has dimensions in lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/checkpoint/config.h"
#include "engine/compute/cpu/aligned_buffer.h"
#include "engine/compute/cpu/kernels.h"
#include "engine/compute/step.h"

namespace fullband {

class Pages {
 public:
  explicit Pages(const ModelConfig& config);

  // Makes room for `count` pages in all. Pages stay where they are.
  void Reserve(int count);
  int count() const { return static_cast<int>(pages_.size()); }
  int64_t page_bytes() const { return page_size_ * static_cast<int64_t>(sizeof(float)); }

  float* page(int32_t id) const { return pages_[id]; }
  // Offsets within a page, in floats.
  int64_t KeyOffset(int layer, int head) const { return (int64_t{layer} * heads_ + head) * head_size_; }
  int64_t ValueOffset(int layer, int head) const { return KeyOffset(layer, head) + keys_size_; }

  // Writes one head's key and value [head_dim] of one position.
  void Write(float* page, int layer, int head, int64_t place, const float* key, const float* value) const;
  void Copy(const PageCopy& copy) const;

 private:
  int layers_, heads_, head_dim_;
  int64_t keys_size_, head_size_, page_size_;  // floats of one head's keys, of its keys and values, of all
  std::vector<AlignedBuffer<float>> blocks_;
  std::vector<float*> pages_;
};

}  // namespace fullband
