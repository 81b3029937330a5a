// Counter-based random numbers, equal on every backend.
#pragma once

#include <cstdint>

namespace fullband {

// The key of one sample's random stream; items are identified by a hash so that a stream depends on nothing else.
uint64_t RandomKey(uint64_t seed, uint64_t item, uint64_t sample);

// Philox4x32-10 (Salmon et al., SC'11): uniform in [0, 1) with 24 bits.
float Uniform(uint64_t key, uint64_t counter);

}  // namespace fullband
