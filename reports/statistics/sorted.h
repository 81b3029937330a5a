// Where a quantile of type 7 lies among sorted values.
#pragma once

#include <cstddef>

namespace fullband {

struct Place {
  size_t below = 0, above = 0;  // ranks from 0
  double fraction = 0;          // of the way from the one to the other
};

// Throws std::invalid_argument unless 0 <= q <= 1. Meaningless for a count of 0.
Place PlaceOf(double q, size_t count);

inline double Between(double below, double above, double fraction) {
  return below + fraction * (above - below);
}

}  // namespace fullband
