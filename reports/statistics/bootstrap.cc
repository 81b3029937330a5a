#include "reports/statistics/bootstrap.h"

#include <algorithm>
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

}  // namespace

std::optional<Interval> BootstrapMean(std::span<const double> values, const BootstrapOptions& options) {
  CheckLevel(options);
  if (values.size() < 2 || options.resamples < 1) return std::nullopt;
  Draws draws(options.seed, values.size());
  std::vector<double> means(static_cast<size_t>(options.resamples));
  for (double& mean : means) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += values[draws.Next()];
    mean = sum / static_cast<double>(values.size());
  }
  return Percentiles(means, options.level);
}

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
  if (results.size() * 20 < static_cast<size_t>(options.resamples) * 19) return std::nullopt;
  return Percentiles(results, options.level);
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

std::optional<Interval> BootstrapRatio(std::span<const double> a, std::span<const double> b,
                                       const BootstrapOptions& options) {
  if (a.size() != b.size()) throw std::invalid_argument("BootstrapRatio: the lists are of different lengths");
  return Bootstrap(
      a.size(),
      [&](std::span<const uint32_t> times) -> std::optional<double> {
        double sum_a = 0, sum_b = 0;
        for (size_t i = 0; i < times.size(); ++i) {
          sum_a += times[i] * a[i];
          sum_b += times[i] * b[i];
        }
        return sum_a == 0 ? std::nullopt : std::optional(sum_b / sum_a);
      },
      options);
}

}  // namespace fullband
