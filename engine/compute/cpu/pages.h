// Where the CPU keeps keys and values, in float32 or rounded to bfloat16.
//
// A page holds 32 positions of every layer and key/value head, laid out as KeyIndex and ValueIndex say
// (compute/cpu/kernels.h).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/checkpoint/config.h"
#include "engine/compute/backend.h"
#include "engine/compute/cpu/aligned_buffer.h"
#include "engine/compute/cpu/kernels.h"
#include "engine/compute/step.h"

namespace fullband {

class Pages {
 public:
  Pages(const ModelConfig& config, KvDtype dtype);

  // Makes room for `count` pages in all. Pages stay where they are.
  void Reserve(int count);
  int count() const { return static_cast<int>(pages_.size()); }
  int64_t page_bytes() const { return page_size_ * number_bytes(); }
  bool bf16() const { return bf16_; }

  void* page(int32_t id) const { return pages_[id]; }
  // Offsets within a page, in numbers.
  int64_t KeyOffset(int layer, int head) const { return (int64_t{layer} * heads_ + head) * head_size_; }
  int64_t ValueOffset(int layer, int head) const { return KeyOffset(layer, head) + keys_size_; }

  // Writes one head's key and value [head_dim] of one position, rounded to the nearest numbers that pages can
  // hold, ties to even; NaN stays NaN.
  void Write(void* page, int layer, int head, int64_t place, const float* key, const float* value) const;
  void Copy(const PageCopy& copy) const;

 private:
  template <class T>
  void WriteAs(T* page, int layer, int head, int64_t place, const float* key, const float* value) const;
  template <class T>
  void CopyAs(const PageCopy& copy) const;
  int64_t number_bytes() const { return bf16_ ? 2 : 4; }

  bool bf16_;
  int layers_, heads_, head_dim_;
  int64_t keys_size_, head_size_, page_size_;  // numbers of one head's keys, of its keys and values, of all
  std::vector<AlignedBuffer<std::byte>> blocks_;
  std::vector<std::byte*> pages_;
};

// Rounds to nearest, ties to even. NaN stays NaN.
uint16_t RoundToBf16(float number);

}  // namespace fullband
