#include "reports/statistics/bootstrap.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <vector>

#include "common/hash.h"
#include "reports/statistics/sorted.h"

namespace fullband {

namespace {

class Draws {
 public:
  Draws(uint64_t seed, uint64_t count) : stream_(Mix64(seed)), count_(count) {
    if (count > std::numeric_limits<uint32_t>::max())
      throw std::invalid_argument("Bootstrap: too many items");
  }
  // The upper 32 random bits as a fraction of the count.
  size_t Next() { return ((Mix64(stream_ + draw_++) >> 32) * count_) >> 32; }

 private:
  uint64_t stream_, count_, draw_ = 0;
};

void CheckLevel(const BootstrapOptions& options) {
  if (!(options.level > 0 && options.level < 1))
    throw std::invalid_argument("Bootstrap: the level is between 0 and 1");
}

Interval Percentiles(std::vector<double>& results, double level) {
  std::sort(results.begin(), results.end());
  const auto at = [&](double q) {
    const Place place = PlaceOf(q, results.size());
    return Between(results[place.below], results[place.above], place.fraction);
  };
  const double tail = (1 - level) / 2;
  return {at(tail), at(1 - tail)};
}

// Of the resamples that had a result.
std::optional<Interval> IntervalOf(std::vector<double>& results, const BootstrapOptions& options) {
  if (results.size() * 20 < static_cast<size_t>(options.resamples) * 19) return std::nullopt;
  return Percentiles(results, options.level);
}

// In eight sums side by side, since one sum would wait for every addition; the same eight on every machine.
double WeightedSum(std::span<const double> weights, std::span<const double> values) {
  constexpr size_t kSums = 8;
  std::array<double, kSums> sums = {};
  size_t i = 0;
  for (; i + kSums <= weights.size(); i += kSums) {
    for (size_t j = 0; j < kSums; ++j) sums[j] += weights[i + j] * values[i + j];
  }
  for (; i < weights.size(); ++i) sums[0] += weights[i] * values[i];
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

}  // namespace

std::optional<Interval> Bootstrap(size_t count, const ResampledStatistic& statistic,
                                  const BootstrapOptions& options) {
  CheckLevel(options);
  if (count < 2 || options.resamples < 1) return std::nullopt;
  Draws draws(options.seed, count);
  std::vector<uint32_t> times(count);
  std::vector<double> results;
  for (int resample = 0; resample < options.resamples; ++resample) {
    std::fill(times.begin(), times.end(), 0);
    for (size_t i = 0; i < count; ++i) ++times[draws.Next()];
    if (const std::optional<double> result = statistic(times)) results.push_back(*result);
  }
  return IntervalOf(results, options);
}

std::optional<Interval> BootstrapQuantile(std::span<const double> values, double q,
                                          const BootstrapOptions& options) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const Place place = PlaceOf(q, sorted.size());
  return Bootstrap(
      sorted.size(),
      [&](std::span<const uint32_t> times) {
        // The rank in `sorted` of the value that lies at a rank of the resample.
        size_t rank = 0, passed = times[0];
        const auto advance = [&](size_t wanted) {
          while (passed <= wanted) passed += times[++rank];
          return sorted[rank];
        };
        const double below = advance(place.below);
        return std::optional(Between(below, advance(place.above), place.fraction));
      },
      options);
}

std::vector<std::optional<Interval>> BootstrapRatios(size_t count, std::span<const RatioOfSums> ratios,
                                                     const BootstrapOptions& options) {
  for (const RatioOfSums& ratio : ratios) {
    if (ratio.above.size() != count || (!ratio.below.empty() && ratio.below.size() != count))
      throw std::invalid_argument("BootstrapRatios: a list is not as long as there are items");
  }
  std::vector<std::vector<double>> results(ratios.size());
  std::vector<double> weights(count);
  const auto add = [&](std::span<const uint32_t> times) -> std::optional<double> {
    std::copy(times.begin(), times.end(), weights.begin());
    for (size_t i = 0; i < ratios.size(); ++i) {
      const double below =
          ratios[i].below.empty() ? static_cast<double>(count) : WeightedSum(weights, ratios[i].below);
      if (below != 0) results[i].push_back(WeightedSum(weights, ratios[i].above) / below);
    }
    return 0;
  };
  std::vector<std::optional<Interval>> intervals(ratios.size());
  if (!Bootstrap(count, add, options)) return intervals;
  for (size_t i = 0; i < ratios.size(); ++i) intervals[i] = IntervalOf(results[i], options);
  return intervals;
}

std::optional<Interval> BootstrapMean(std::span<const double> values, const BootstrapOptions& options) {
  const RatioOfSums mean{values, {}};
  return BootstrapRatios(values.size(), {&mean, 1}, options).front();
}

std::optional<Interval> BootstrapRatio(std::span<const double> a, std::span<const double> b,
                                       const BootstrapOptions& options) {
  if (a.size() != b.size()) throw std::invalid_argument("BootstrapRatio: the lists are of different lengths");
  const RatioOfSums ratio{b, a};
  return BootstrapRatios(a.size(), {&ratio, 1}, options).front();
}

}  // namespace fullband
