#include "engine/compute/cpu/pages.h"

#include <bit>
#include <cmath>
#include <type_traits>

namespace fullband {
namespace {

void Round(float number, float* out) { *out = number; }
void Round(float number, uint16_t* out) { *out = RoundToBf16(number); }

}  // namespace

uint16_t RoundToBf16(float number) {
  const uint32_t bits = std::bit_cast<uint32_t>(number);
  if (std::isnan(number)) return static_cast<uint16_t>(bits >> 16 | 0x40);  // whose payload may be cut off
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

Pages::Pages(const ModelConfig& config, KvDtype dtype)
    : bf16_(dtype == KvDtype::kBF16),
      layers_(config.layers),
      heads_(config.kv_heads),
      head_dim_(config.head_dim),
      keys_size_(kPageSize * config.head_dim),
      head_size_(keys_size_ + kPageSize * ValueStride(config.head_dim)),
      page_size_(int64_t{config.layers} * config.kv_heads * head_size_) {}

void Pages::Reserve(int count) {
  const int more = count - this->count();
  if (more <= 0) return;
  AlignedBuffer<std::byte> block(more * page_bytes());
  pages_.reserve(count);
  for (int i = 0; i < more; ++i) pages_.push_back(block.data() + i * page_bytes());
  blocks_.push_back(std::move(block));
}

template <class T>
void Pages::WriteAs(T* page, int layer, int head, int64_t place, const float* key, const float* value) const {
  constexpr bool kBf16 = std::is_same_v<T, uint16_t>;
  T* keys = page + KeyOffset(layer, head);
  T* values = page + ValueOffset(layer, head);
  const int64_t stride = ValueStride(head_dim_);
  for (int i = 0; i < head_dim_; ++i) Round(key[i], &keys[KeyIndex(kBf16, i, place)]);
  for (int i = 0; i < head_dim_; ++i) Round(value[i], &values[ValueIndex(kBf16, stride, place, i)]);
}

void Pages::Write(void* page, int layer, int head, int64_t place, const float* key,
                  const float* value) const {
  if (bf16_) {
    WriteAs(static_cast<uint16_t*>(page), layer, head, place, key, value);
  } else {
    WriteAs(static_cast<float*>(page), layer, head, place, key, value);
  }
}

template <class T>
void Pages::CopyAs(const PageCopy& copy) const {
  constexpr bool kBf16 = std::is_same_v<T, uint16_t>;
  const T* from = static_cast<const T*>(page(copy.from));
  T* to = static_cast<T*>(page(copy.to));
  const int64_t stride = ValueStride(head_dim_);
  for (int layer = 0; layer < layers_; ++layer) {
    for (int head = 0; head < heads_; ++head) {
      const int64_t keys = KeyOffset(layer, head), values = ValueOffset(layer, head);
      for (int64_t i = 0; i < head_dim_; ++i) {
        for (int64_t p = 0; p < copy.positions; ++p) {
          const int64_t at = keys + KeyIndex(kBf16, i, p);
          to[at] = from[at];
        }
      }
      for (int64_t p = 0; p < copy.positions; ++p) {
        for (int64_t i = 0; i < stride; ++i) {
          const int64_t at = values + ValueIndex(kBf16, stride, p, i);
          to[at] = from[at];
        }
      }
    }
  }
}

void Pages::Copy(const PageCopy& copy) const {
  if (bf16_) {
    CopyAs<uint16_t>(copy);
  } else {
    CopyAs<float>(copy);
  }
}

}  // namespace fullband
