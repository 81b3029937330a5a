#include "reports/statistics/clusters.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <stdexcept>

#include "reports/statistics/critical.h"
#include "reports/statistics/summaries.h"

namespace fullband {

namespace {

void AddInterval(double level, Estimate* estimate) {
  if (!estimate->error) return;
  const double reach = StudentReach(level, static_cast<double>(estimate->items - 1)) * *estimate->error;
  estimate->interval = Interval{*estimate->value - reach, *estimate->value + reach};
}

}  // namespace

Estimate ClusteredMean(std::span<const ItemSamples> items, double level) {
  Estimate estimate;
  double sum = 0, samples = 0;
  for (const ItemSamples& item : items) {
    estimate.items += !item.empty();
    samples += static_cast<double>(item.size());
    for (const double value : item) sum += value;
  }
  if (estimate.items == 0) return estimate;
  const double mean = sum / samples;
  estimate.value = mean;
  if (estimate.items < 2) return estimate;
  double squares = 0;
  for (const ItemSamples& item : items) {
    double off = 0;
    for (const double value : item) off += value - mean;
    squares += off * off;
  }
  const double count = static_cast<double>(estimate.items);
  estimate.error = std::sqrt(squares * count / (count - 1)) / samples;
  AddInterval(level, &estimate);
  return estimate;
}

Estimate ClusteredDifference(std::span<const ItemSamples> a, std::span<const ItemSamples> b, double level) {
  if (a.size() != b.size())
    throw std::invalid_argument("ClusteredDifference: the lists are of different lengths");
  std::vector<double> differences;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].empty() && !b[i].empty()) differences.push_back(*Mean(b[i]) - *Mean(a[i]));
  }
  Estimate estimate{
      static_cast<int64_t>(differences.size()), Mean(differences), StandardError(differences), {}};
  AddInterval(level, &estimate);
  return estimate;
}

std::optional<double> ClusteredDifferenceP(const Estimate& difference) {
  if (!difference.error) return std::nullopt;
  if (*difference.value == 0) return 1;
  if (*difference.error == 0) return std::nullopt;
  const boost::math::students_t distribution(static_cast<double>(difference.items - 1));
  const double t = std::abs(*difference.value) / *difference.error;
  return 2 * boost::math::cdf(boost::math::complement(distribution, t));
}

}  // namespace fullband
