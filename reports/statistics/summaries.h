// What describes a list of values: means, quantiles, deviations. Results have the values' unit. Sums are
// taken in the order of the values, so that they are the same on every machine.
#pragma once

#include <optional>
#include <span>

namespace fullband {

// Nothing where there are no values.
std::optional<double> Mean(std::span<const double> values);
std::optional<double> Median(std::span<const double> values);
// Linear between order statistics (type 7 of Hyndman and Fan, The American Statistician 50, 1996, 361-365;
// NumPy's default): of one value, that value. Throws std::invalid_argument unless 0 <= q <= 1.
std::optional<double> Quantile(std::span<const double> values, double q);

// Of the values as a sample (n - 1); nothing for fewer than two.
std::optional<double> StandardDeviation(std::span<const double> values);

// Standard error of the mean, from the sample's deviation; nothing for fewer than two values. Repeats of one
// item are no independent values: average them first, or see clusters.h.
std::optional<double> StandardError(std::span<const double> values);

}  // namespace fullband
