#include "bench/spread.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace fullband {

Spread SpreadOf(std::vector<double> values) {
  if (values.empty()) throw std::logic_error("a spread of nothing");
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

MedianInterval MedianIntervalOf(std::vector<double> values, double confidence) {
  if (values.empty()) throw std::logic_error("an interval of nothing");
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  // How many values lie below the median is binomial (n, 1/2). Leaving out `cut` values at either end misses
  // the median with twice the probability of at most `cut` there; probabilities as logarithms, since 2^-n
  // underflows.
  double missed = 0;
  MedianInterval interval;
  for (size_t cut = 0; 2 * cut < n; ++cut) {
    const double log_choose = std::lgamma(n + 1.0) - std::lgamma(cut + 1.0) - std::lgamma(n - cut + 1.0);
    missed += 2 * std::exp(log_choose - static_cast<double>(n) * std::log(2.0));
    if (cut > 0 && 1 - missed < confidence) break;
    interval = {values[cut], values[n - 1 - cut], std::max(1 - missed, 0.0)};
  }
  return interval;
}

}  // namespace fullband
