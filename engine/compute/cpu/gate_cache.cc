#include "engine/compute/cpu/gate_cache.h"

#include <algorithm>

namespace fullband {
namespace {

constexpr int64_t kRowsPerBlock = 256;

}  // namespace

GateCache::GateCache(int64_t vocab_size, int64_t width, int64_t bytes)
    : width_(width),
      room_(width > 0 ? std::min(vocab_size, bytes / (width * static_cast<int64_t>(sizeof(float)))) : 0),
      rows_(vocab_size) {}

int64_t GateCache::Bytes(int64_t width, int64_t bytes, int64_t tokens) {
  const int64_t blocks = (tokens + kRowsPerBlock - 1) / kRowsPerBlock;
  return std::min(bytes, blocks * kRowsPerBlock * width * static_cast<int64_t>(sizeof(float)));
}

void GateCache::Add(int32_t token, const float* gate) {
  if (room_ == 0 || rows_[token] != nullptr) return;
  const int64_t place = used_ % kRowsPerBlock;
  if (place == 0) blocks_.emplace_back(std::min(room_, kRowsPerBlock) * width_);
  float* row = blocks_.back().data() + place * width_;
  std::copy_n(gate, width_, row);
  rows_[token] = row;
  ++used_;
  --room_;
}

}  // namespace fullband
