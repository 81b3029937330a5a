#include "reports/statistics/sorted.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace fullband {

Place PlaceOf(double q, size_t count) {
  if (!(q >= 0 && q <= 1)) throw std::invalid_argument("a quantile is of 0 .. 1");
  if (count == 0) return {};
  const double place = q * static_cast<double>(count - 1);
  const size_t below = std::min(static_cast<size_t>(std::floor(place)), count - 1);
  return {below, std::min(below + 1, count - 1), place - static_cast<double>(below)};
}

}  // namespace fullband
