// Counter-based random numbers, equal on every backend.
#pragma once

#include <array>
#include <cstdint>

namespace fullband {

// The key of one sample's random stream; items are identified by a hash so that a stream depends on nothing
// else.
uint64_t RandomKey(uint64_t seed, uint64_t item, uint64_t sample);

// Philox4x32-10 (Salmon et al., SC'11): four random words from a counter and a key.
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// Uniform in [0, 1) with 24 bits, from the first word of Philox.
float Uniform(uint64_t key, uint64_t counter);

}  // namespace fullband
