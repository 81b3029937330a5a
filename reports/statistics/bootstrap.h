// Percentile bootstrap (Efron, Annals of Statistics 7, 1979, 1-26): items are drawn with replacement as often
// as there are items, again and again; the interval leaves the same share of what comes out at both ends. The
// k-th draw of all is a function of (seed, k) alone, by Mix64: intervals are the same on every machine. The
// interval of fewer than some 30 items, or of a skewed mean of fewer than some 100, is narrow
// (scripts/simulate_coverage prints by how much).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "reports/statistics/estimate.h"

namespace fullband {

struct BootstrapOptions {
  double level = 0.95;
  int resamples = 10'000;
  uint64_t seed = 0;
};

// All of these: nothing for fewer than two items or no resamples; equal values give a point; at most 2^32 - 1
// items; std::invalid_argument unless 0 < level < 1.

// Of the mean, in the values' unit. For a paired difference pass the items' differences.
std::optional<Interval> BootstrapMean(std::span<const double> values, const BootstrapOptions& options = {});

// Of the quantile as Quantile defines it (0.5: the median), in the values' unit; drawn from the sorted
// values, so that the order of the items is no matter.
std::optional<Interval> BootstrapQuantile(std::span<const double> values, double q,
                                          const BootstrapOptions& options = {});

// Of B's mean over A's mean, both drawn item by item; a ratio (1.1: B's traces are a tenth longer). As long
// as each other. Resamples in which A's mean is 0 are left out, as Bootstrap does it.
std::optional<Interval> BootstrapRatio(std::span<const double> a, std::span<const double> b,
                                       const BootstrapOptions& options = {});

// Sums over the same items: (above - less) / below. An empty `below` stands for 1 of each item: a mean. Of
// the items that count (both got them right) it is a mean with their values above and 0 for the others, 1 and
// 0 below. B's mean less A's is B above, A less.
struct RatioOfSums {
  std::span<const double> above, below = {}, less = {};
};
// Many at once: one drawing serves them all, and a list that several ratios have (the same memory) is summed
// once. In their order, each as if it were alone; resamples in which a ratio's sum below is 0 are left out
// for it, as Bootstrap does it. Throws std::invalid_argument for lists that are not `count` long.
std::vector<std::optional<Interval>> BootstrapRatios(size_t count, std::span<const RatioOfSums> ratios,
                                                     const BootstrapOptions& options = {});

// Of any statistic of `count` items, which is told how often each is drawn and may say that there is none:
// such a resample is left out, and where more than one in twenty is, there is no interval.
using ResampledStatistic = std::function<std::optional<double>(std::span<const uint32_t> times)>;
std::optional<Interval> Bootstrap(size_t count, const ResampledStatistic& statistic,
                                  const BootstrapOptions& options = {});

// The interval that such results of resamples make, for who keeps several of each. Leaves them in another
// order.
std::optional<Interval> PercentileInterval(std::vector<double>& results,
                                           const BootstrapOptions& options = {});

}  // namespace fullband
