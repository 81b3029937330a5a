#include "reports/statistics/summaries.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "reports/statistics/sorted.h"

namespace fullband {

std::optional<double> Mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::optional<double> Median(std::span<const double> values) { return Quantile(values, 0.5); }

std::optional<double> Quantile(std::span<const double> values, double q) {
  const Place place = PlaceOf(q, values.size());
  if (values.empty()) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return Between(sorted[place.below], sorted[place.above], place.fraction);
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

}  // namespace fullband
