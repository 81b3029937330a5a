#include "reports/statistics/proportions.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "reports/statistics/critical.h"

namespace fullband {

Interval WilsonInterval(double successes, int64_t trials, double level) {
  const double n = static_cast<double>(trials);
  if (!(successes >= 0 && successes <= n))
    throw std::invalid_argument("WilsonInterval: successes are not among 0 .. trials");
  const double z = NormalReach(level);
  if (trials == 0) return {0, 1};
  const double p = successes / n, z2 = z * z;
  const double centre = p + z2 / (2 * n);
  const double reach = z * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  Interval interval{(centre - reach) / (1 + z2 / n), (centre + reach) / (1 + z2 / n)};
  // Exactly at the ends, where rounding would leave a remainder.
  if (successes <= 0) interval.low = 0;
  if (successes >= n) interval.high = 1;
  return interval;
}

PairedCounts& PairedCounts::operator+=(const PairedCounts& other) {
  both += other.both;
  only_a += other.only_a;
  only_b += other.only_b;
  neither += other.neither;
  return *this;
}

namespace {

// The correlation of the two verdicts; what speaks for a positive one is lessened by half an item.
double CorrectedCorrelation(const PairedCounts& counts) {
  const double both = static_cast<double>(counts.both), only_a = static_cast<double>(counts.only_a),
               only_b = static_cast<double>(counts.only_b), neither = static_cast<double>(counts.neither);
  const double half = (both + only_a + only_b + neither) / 2;
  // Roots one by one: the product of four counts may exceed what a double holds exactly.
  const double scale =
      std::sqrt((both + only_a) * (only_b + neither)) * std::sqrt((both + only_b) * (only_a + neither));
  if (scale == 0) return 0;  // one run has all right or all wrong
  double product = both * neither - only_a * only_b;
  if (product > 0) product = std::max(product - half, 0.0);
  return product / scale;
}

}  // namespace

Estimate PairedProportionDifference(const PairedCounts& counts, double level) {
  if (counts.both < 0 || counts.only_a < 0 || counts.only_b < 0 || counts.neither < 0)
    throw std::invalid_argument("PairedProportionDifference: a count is negative");
  Estimate estimate;
  estimate.items = counts.Items();
  if (estimate.items == 0) return estimate;
  const double n = static_cast<double>(estimate.items);
  const double right_a = static_cast<double>(counts.both + counts.only_a);
  const double right_b = static_cast<double>(counts.both + counts.only_b);
  const Interval a = WilsonInterval(right_a, estimate.items, level);
  const Interval b = WilsonInterval(right_b, estimate.items, level);
  const double below_a = right_a / n - a.low, above_a = a.high - right_a / n;
  const double below_b = right_b / n - b.low, above_b = b.high - right_b / n;
  const double correlation = CorrectedCorrelation(counts);
  const auto reach = [&](double x, double y) {
    return std::sqrt(std::max(x * x + y * y - 2 * correlation * (x * y), 0.0));
  };
  const double difference = static_cast<double>(counts.only_b - counts.only_a) / n;
  estimate.value = difference;
  estimate.interval = Interval{std::max(difference - reach(below_b, above_a), -1.0),
                               std::min(difference + reach(above_b, below_a), 1.0)};
  return estimate;
}

}  // namespace fullband
