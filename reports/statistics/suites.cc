#include "reports/statistics/suites.h"

#include <cmath>
#include <stdexcept>

namespace fullband {

namespace {

// `weight` of each suite that has items, before they are made to sum to 1.
template <typename Weight>
SuitesEstimate Weighted(std::span<const Estimate> suites, Weight weight) {
  SuitesEstimate result;
  double weights = 0;
  for (const Estimate& suite : suites) {
    if (suite.items == 0) continue;
    if (!suite.value) throw std::invalid_argument("a suite with items has no value");
    ++result.suites;
    result.of.items += suite.items;
    weights += weight(suite);
  }
  if (result.suites == 0) return result;
  double value = 0, below = 0, above = 0;
  bool intervals = true;
  for (const Estimate& suite : suites) {
    if (suite.items == 0) continue;
    const double share = weight(suite) / weights;
    value += share * *suite.value;
    intervals = intervals && suite.interval;
    if (!suite.interval) continue;
    const double low = share * (*suite.value - suite.interval->low);
    const double high = share * (suite.interval->high - *suite.value);
    below += low * low;
    above += high * high;
  }
  result.of.value = value;
  if (intervals) result.of.interval = Interval{value - std::sqrt(below), value + std::sqrt(above)};
  return result;
}

}  // namespace

SuitesEstimate MacroMean(std::span<const Estimate> suites) {
  return Weighted(suites, [](const Estimate&) { return 1.0; });
}

SuitesEstimate MicroMean(std::span<const Estimate> suites) {
  return Weighted(suites, [](const Estimate& suite) { return static_cast<double>(suite.items); });
}

}  // namespace fullband
