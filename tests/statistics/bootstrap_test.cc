#include "reports/statistics/bootstrap.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "tests/statistics/near.h"

namespace fullband {
namespace {

const std::vector<double> kDifferences = {3, -5, 0, 12, 7, -1, 0, 2, -9, 4};

// The same draws, made by an independent implementation of the counter and numpy.quantile.
TEST(Bootstrap, IsTheSameEverywhere) {
  const std::optional<Interval> interval = BootstrapMean(kDifferences);
  EXPECT_NEAR(interval->low, -2.1, 1e-12);
  EXPECT_NEAR(interval->high, 4.7, 1e-12);
  const std::optional<Interval> other = BootstrapMean(kDifferences, {0.95, 200, 7});
  EXPECT_NEAR(other->low, -2.405, 1e-12);
  EXPECT_NEAR(other->high, 4.7025, 1e-12);
}

// SciPy 1.17's bootstrap with 200,000 resamples gives -2.1 to 4.8.
TEST(Bootstrap, ConvergesToThePeers) {
  const std::optional<Interval> interval = BootstrapMean(kDifferences, {0.95, 200'000, 1});
  EXPECT_NEAR(interval->low, -2.1, 0.11);
  EXPECT_NEAR(interval->high, 4.8, 0.11);
}

TEST(Bootstrap, OfLittle) {
  EXPECT_FALSE(BootstrapMean(std::vector<double>{}));
  EXPECT_FALSE(BootstrapMean(std::vector<double>{1}));
  EXPECT_FALSE(BootstrapMean(kDifferences, {0.95, 0, 0}));
  const std::optional<Interval> same = BootstrapMean(std::vector<double>{4, 4, 4});
  EXPECT_EQ(same->low, 4);
  EXPECT_EQ(same->high, 4);
}

TEST(Bootstrap, OfAnyStatisticEqualsThatOfTheMean) {
  const auto mean = [](std::span<const uint32_t> times) {
    double sum = 0;
    for (size_t i = 0; i < times.size(); ++i) sum += times[i] * kDifferences[i];
    return std::optional(sum / static_cast<double>(times.size()));
  };
  const std::optional<Interval> special = BootstrapMean(kDifferences, {0.9, 500, 3});
  EXPECT_THAT(Bootstrap(kDifferences.size(), mean, {0.9, 500, 3}),
              IntervalNear(special->low, special->high, 1e-12));
}

TEST(Bootstrap, LeavesOutWhatHasNoStatistic) {
  int left_out = 0, asked = 0;
  const auto every = [&](int nth) {
    asked = left_out = 0;
    return [&, nth](std::span<const uint32_t> times) -> std::optional<double> {
      if (++asked % nth == 0) {
        ++left_out;
        return std::nullopt;
      }
      return times[0];
    };
  };
  EXPECT_TRUE(Bootstrap(5, every(20), {0.95, 1000, 0}));
  EXPECT_EQ(left_out, 50);
  EXPECT_FALSE(Bootstrap(5, every(19), {0.95, 1000, 0}));
}

TEST(Bootstrap, OfQuantilesAndRatiosOfLittle) {
  const std::vector<double> none, one = {3}, zeros = {0, 0, 0}, threes = {3, 3, 3};
  EXPECT_FALSE(BootstrapQuantile(none, 0.5));
  EXPECT_FALSE(BootstrapQuantile(one, 0.5));
  EXPECT_THAT(BootstrapQuantile(threes, 0.9), IntervalNear(3, 3, 0));
  EXPECT_FALSE(BootstrapRatio(one, one));
  EXPECT_FALSE(BootstrapRatio(zeros, threes));
  EXPECT_THAT(BootstrapRatio(threes, zeros), IntervalNear(0, 0, 0));
  EXPECT_THAT(BootstrapRatio(threes, threes), IntervalNear(1, 1, 0));
}

TEST(Bootstrap, OfManyIsThatOfEachAlone) {
  const std::vector<double> lengths = {10, 25, 3, 70, 41, 8, 8, 90, 33, 12};
  // The items that count: of the differences only these are summed.
  const std::vector<double> counts = {1, 0, 1, 1, 0, 1, 1, 0, 1, 1};
  std::vector<double> counted = kDifferences;
  for (size_t i = 0; i < counted.size(); ++i) counted[i] *= counts[i];
  const std::vector<RatioOfSums> ratios = {{kDifferences, {}}, {kDifferences, lengths}, {counted, counts}};
  const BootstrapOptions options{0.9, 500, 5};
  const std::vector<std::optional<Interval>> intervals = BootstrapRatios(10, ratios, options);
  ASSERT_EQ(intervals.size(), 3u);
  const Interval mean = *BootstrapMean(kDifferences, options);
  EXPECT_THAT(intervals[0], IntervalNear(mean.low, mean.high, 0));
  const Interval ratio = *BootstrapRatio(lengths, kDifferences, options);
  EXPECT_THAT(intervals[1], IntervalNear(ratio.low, ratio.high, 0));
  const auto by_hand = [&](std::span<const uint32_t> times) -> std::optional<double> {
    double sum = 0, items = 0;
    for (size_t i = 0; i < times.size(); ++i) {
      if (counts[i] == 0) continue;
      sum += times[i] * kDifferences[i];
      items += times[i];
    }
    return items > 0 ? std::optional(sum / items) : std::nullopt;
  };
  const Interval some = *Bootstrap(10, by_hand, options);
  EXPECT_THAT(intervals[2], IntervalNear(some.low, some.high, 1e-12));
}

TEST(Bootstrap, TakesAway) {
  const std::vector<double> a = {10, 25, 3, 70, 41}, b = {12, 20, 3, 75, 40}, less = {2, -5, 0, 5, -1};
  const BootstrapOptions options{0.9, 500, 5};
  const RatioOfSums difference{b, {}, a};
  const Interval expected = *BootstrapMean(less, options);
  EXPECT_THAT(BootstrapRatios(5, {&difference, 1}, options)[0], IntervalNear(expected.low, expected.high, 0));
}

// Whole numbers are summed as such, others are not; values beyond 16 bits, too, are doubles.
TEST(Bootstrap, OfWholeNumbersIsThatOfOthers) {
  const std::vector<double> whole = {3, -5, 0, 12, 7, -1, 0, 2, -9, 4};
  for (const double scale : {0.5, 4096.0}) {
    std::vector<double> scaled = whole;
    for (double& value : scaled) value *= scale;
    const Interval one = *BootstrapMean(whole), other = *BootstrapMean(scaled);
    EXPECT_EQ(other.low, scale * one.low);
    EXPECT_EQ(other.high, scale * one.high);
  }
}

// The number of resamples is no multiple of those that are drawn at a time.
TEST(Bootstrap, DrawsAsManyAsAsked) {
  const std::vector<double> values = {1, 2};
  for (const int resamples : {1, 15, 16, 17, 33}) {
    const auto mean = [&](std::span<const uint32_t> times) {
      return std::optional((times[0] * 1.0 + times[1] * 2.0) / 2);
    };
    const BootstrapOptions options{0.5, resamples, 9};
    const Interval expected = *Bootstrap(2, mean, options);
    EXPECT_THAT(BootstrapMean(values, options), IntervalNear(expected.low, expected.high, 0)) << resamples;
  }
}

TEST(Bootstrap, OfManyWithoutAny) {
  EXPECT_TRUE(BootstrapRatios(5, {}).empty());
  const std::vector<double> two = {1, 2}, none = {0, 0}, one = {1};
  const std::vector<std::optional<Interval>> intervals =
      BootstrapRatios(2, std::vector<RatioOfSums>{{two, {}}, {two, none}}, {0.95, 100, 0});
  EXPECT_TRUE(intervals[0]);
  EXPECT_FALSE(intervals[1]);
  EXPECT_FALSE(BootstrapRatios(1, std::vector<RatioOfSums>{{one, {}}})[0]);
  EXPECT_THROW(BootstrapRatios(2, std::vector<RatioOfSums>{{one, {}}}), std::invalid_argument);
  EXPECT_THROW(BootstrapRatios(2, std::vector<RatioOfSums>{{two, one}}), std::invalid_argument);
}

TEST(Bootstrap, RefusesWrongInput) {
  EXPECT_THROW(BootstrapMean(kDifferences, {1, 100, 0}), std::invalid_argument);
  EXPECT_THROW(BootstrapQuantile(kDifferences, 1.5), std::invalid_argument);
  EXPECT_THROW(BootstrapRatio(kDifferences, std::vector<double>{1}), std::invalid_argument);
}

}  // namespace
}  // namespace fullband
