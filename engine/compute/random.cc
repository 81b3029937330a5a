#include "engine/compute/random.h"

#include "common/hash.h"

namespace fullband {
namespace {

constexpr int kRounds = 10;
constexpr uint32_t kMultiplier0 = 0xd2511f53, kMultiplier1 = 0xcd9e8d57;
constexpr uint32_t kWeyl0 = 0x9e3779b9, kWeyl1 = 0xbb67ae85;

}  // namespace

uint64_t RandomKey(uint64_t seed, uint64_t item, uint64_t sample) {
  // Mixed after each part: neighbouring seeds, items and samples share no streams.
  return Mix64(Mix64(Mix64(seed) ^ item) ^ sample);
}

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t product0 = uint64_t{kMultiplier0} * counter[0];
    const uint64_t product1 = uint64_t{kMultiplier1} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

float Uniform(uint64_t key, uint64_t counter) {
  const std::array<uint32_t, 4> words =
      Philox4x32({static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0},
                 {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
  return static_cast<float>(words[0] >> 8) * 0x1p-24f;
}

}  // namespace fullband
