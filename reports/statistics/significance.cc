#include "reports/statistics/significance.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <numeric>
#include <stdexcept>

namespace fullband {

double McNemarExact(int64_t only_a, int64_t only_b) {
  if (only_a < 0 || only_b < 0) throw std::invalid_argument("McNemarExact: a count is negative");
  const int64_t discordant = only_a + only_b;
  if (discordant == 0) return 1;
  const boost::math::binomial coin(static_cast<double>(discordant), 0.5);
  return std::min(1.0, 2 * boost::math::cdf(coin, static_cast<double>(std::min(only_a, only_b))));
}

std::vector<double> HolmAdjusted(std::span<const double> p_values) {
  for (const double p : p_values) {
    if (!(p >= 0 && p <= 1)) throw std::invalid_argument("HolmAdjusted: a p-value is not among 0 .. 1");
  }
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return p_values[i] < p_values[j]; });
  std::vector<double> adjusted(p_values.size());
  double least = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    least = std::max(least, std::min(1.0, static_cast<double>(order.size() - i) * p_values[order[i]]));
    adjusted[order[i]] = least;
  }
  return adjusted;
}

}  // namespace fullband
