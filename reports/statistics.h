// The statistics of reports. Every result is the same on every machine: nothing here depends on the
// platform's random numbers, and sums are taken in one order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fullband {

struct Interval {
  double low = 0, high = 0;
};

// Wilson's score interval (1927) for a proportion of `successes` among `trials`, without continuity
// correction. `successes` may be fractional (means over samples). No trials: 0 to 1.
Interval WilsonInterval(double successes, int64_t trials, double level = 0.95);

// Exact two-sided McNemar test: p of a split of b + c discordant pairs at least this uneven under a fair
// coin. 1 where there are none. Throws std::invalid_argument for negative counts.
double McNemarExact(int64_t only_a, int64_t only_b);

// Nothing where there are no values.
std::optional<double> Mean(std::span<const double> values);
std::optional<double> Median(std::span<const double> values);
// Linear between order statistics (type 7 of Hyndman and Fan 1996, NumPy's default); `q` in 0 .. 1.
std::optional<double> Quantile(std::span<const double> values, double q);

// Of the values as a sample (n - 1); nothing for fewer than two.
std::optional<double> StandardDeviation(std::span<const double> values);

// Standard error of the mean, from the sample's deviation; nothing for fewer than two values. Repeats of one
// item are no independent values: average them first.
std::optional<double> StandardError(std::span<const double> values);

struct BootstrapOptions {
  double level = 0.95;
  int resamples = 10'000;
  uint64_t seed = 0;
};

// Percentile bootstrap interval of the mean: values are drawn with replacement as often as there are values.
// Nothing for fewer than two values or no resamples. For a paired difference pass the items' differences. The
// k-th draw of all is a function of (seed, k) alone, by Mix64. At most 2^32 - 1 values.
std::optional<Interval> BootstrapMean(std::span<const double> values, const BootstrapOptions& options = {});

}  // namespace fullband
