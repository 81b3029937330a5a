#include "reports/statistics.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <stdexcept>

#include "common/hash.h"

namespace fullband {

namespace {

double QuantileOfSorted(std::span<const double> sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(std::floor(place));
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Interval WilsonInterval(double successes, int64_t trials, double level) {
  if (trials <= 0) return {0, 1};
  const double n = static_cast<double>(trials);
  const double z = boost::math::quantile(boost::math::complement(boost::math::normal(), (1 - level) / 2));
  const double p = successes / n, z2 = z * z;
  const double centre = p + z2 / (2 * n);
  const double reach = z * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  Interval interval{(centre - reach) / (1 + z2 / n), (centre + reach) / (1 + z2 / n)};
  // Exactly at the ends, where rounding would leave a remainder.
  if (successes <= 0) interval.low = 0;
  if (successes >= n) interval.high = 1;
  return interval;
}

double McNemarExact(int64_t only_a, int64_t only_b) {
  if (only_a < 0 || only_b < 0) throw std::invalid_argument("McNemarExact: a count is negative");
  const int64_t discordant = only_a + only_b;
  if (discordant == 0) return 1;
  const boost::math::binomial coin(static_cast<double>(discordant), 0.5);
  return std::min(1.0, 2 * boost::math::cdf(coin, static_cast<double>(std::min(only_a, only_b))));
}

std::optional<double> Mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::optional<double> Median(std::span<const double> values) { return Quantile(values, 0.5); }

std::optional<double> Quantile(std::span<const double> values, double q) {
  if (values.empty()) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return QuantileOfSorted(sorted, q);
}

namespace {

// The values' variance as a sample.
std::optional<double> Variance(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const double mean = *Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / (static_cast<double>(values.size()) - 1);
}

}  // namespace

std::optional<double> StandardDeviation(std::span<const double> values) {
  const std::optional<double> variance = Variance(values);
  return variance ? std::optional(std::sqrt(*variance)) : std::nullopt;
}

std::optional<double> StandardError(std::span<const double> values) {
  const std::optional<double> variance = Variance(values);
  return variance ? std::optional(std::sqrt(*variance / static_cast<double>(values.size()))) : std::nullopt;
}

std::optional<Interval> BootstrapMean(std::span<const double> values, const BootstrapOptions& options) {
  if (values.size() < 2 || options.resamples < 1) return std::nullopt;
  const uint64_t count = values.size();
  const uint64_t stream = Mix64(options.seed);
  uint64_t draw = 0;
  std::vector<double> means(static_cast<size_t>(options.resamples));
  for (double& mean : means) {
    double sum = 0;
    for (uint64_t i = 0; i < count; ++i) {
      // The upper 32 random bits as a fraction of `count`.
      sum += values[((Mix64(stream + draw++) >> 32) * count) >> 32];
    }
    mean = sum / static_cast<double>(count);
  }
  std::sort(means.begin(), means.end());
  const double tail = (1 - options.level) / 2;
  return Interval{QuantileOfSorted(means, tail), QuantileOfSorted(means, 1 - tail)};
}

}  // namespace fullband
