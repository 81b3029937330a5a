// Where traces of one item part, for any two of many, in space that grows with their number only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fullband {

// Traces in order of their tokens, and how many tokens each shares with the next in that order. Two traces,
// wherever they stand, share the least of the numbers between them.
struct SharedBeginnings {
  std::vector<size_t> order;   // indices of traces
  std::vector<size_t> shared;  // one less than `order`; of order[i] and order[i + 1]
};

SharedBeginnings ShareBeginnings(const std::vector<std::span<const int32_t>>& traces);

// At which tokens the trace at `place` of the order parts from any other; ascending, each once. One of its
// own length says that it ends where another goes on.
std::vector<size_t> Partings(const SharedBeginnings& beginnings, size_t place,
                             const std::vector<std::span<const int32_t>>& traces);

}  // namespace fullband
