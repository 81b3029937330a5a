#include "engine/compute/cpu/pages.h"

#include <algorithm>

namespace fullband {

Pages::Pages(const ModelConfig& config)
    : layers_(config.layers),
      heads_(config.kv_heads),
      head_dim_(config.head_dim),
      keys_size_(kPageSize * config.head_dim),
      head_size_(keys_size_ + kPageSize * ValueStride(config.head_dim)),
      page_size_(int64_t{config.layers} * config.kv_heads * head_size_) {}

void Pages::Reserve(int count) {
  const int more = count - this->count();
  if (more <= 0) return;
  AlignedBuffer<float> block(more * page_size_);
  pages_.reserve(count);
  for (int i = 0; i < more; ++i) pages_.push_back(block.data() + i * page_size_);
  blocks_.push_back(std::move(block));
}

void Pages::Write(float* page, int layer, int head, int64_t place, const float* key,
                  const float* value) const {
  float* keys = page + KeyOffset(layer, head) + place;
  for (int i = 0; i < head_dim_; ++i) keys[i * kPageSize] = key[i];
  std::copy_n(value, head_dim_, page + ValueOffset(layer, head) + place * ValueStride(head_dim_));
}

void Pages::Copy(const PageCopy& copy) const {
  const float* from = page(copy.from);
  float* to = page(copy.to);
  for (int layer = 0; layer < layers_; ++layer) {
    for (int head = 0; head < heads_; ++head) {
      const int64_t keys = KeyOffset(layer, head), values = ValueOffset(layer, head);
      for (int i = 0; i < head_dim_; ++i) {
        std::copy_n(from + keys + i * kPageSize, copy.positions, to + keys + i * kPageSize);
      }
      std::copy_n(from + values, copy.positions * ValueStride(head_dim_), to + values);
    }
  }
}

}  // namespace fullband
