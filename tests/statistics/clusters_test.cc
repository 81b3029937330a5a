#include "reports/statistics/clusters.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "reports/statistics/summaries.h"
#include "tests/statistics/near.h"

namespace fullband {
namespace {

using Items = std::vector<ItemSamples>;

TEST(ClusteredMean, IsThatOfTheItemsMeansWhereAllHaveAsManySamples) {
  const Items items = {{1, 1, 0}, {0, 0, 0}, {1, 1, 1}, {0, 1, 0}};
  const std::vector<double> means = {2.0 / 3, 0, 1, 1.0 / 3};
  const Estimate estimate = ClusteredMean(items);
  EXPECT_EQ(estimate.items, 4);
  EXPECT_NEAR(*estimate.value, 0.5, 1e-15);
  EXPECT_NEAR(*estimate.error, *StandardError(means), 1e-15);
}

// What repeats would make of it if they passed for independent items.
TEST(ClusteredMean, GainsNothingByRepeats) {
  const Items once = {{1}, {0}, {1}, {1}, {0}};
  const Items repeated = {{1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
  EXPECT_NEAR(*ClusteredMean(once).error, *ClusteredMean(repeated).error, 1e-15);
}

TEST(ClusteredMean, OfLittle) {
  EXPECT_EQ(ClusteredMean(Items{}).items, 0);
  EXPECT_FALSE(ClusteredMean(Items{}).value);
  EXPECT_FALSE(ClusteredMean(Items{{}, {}}).value);
  const Estimate one = ClusteredMean(Items{{}, {1, 0}});
  EXPECT_EQ(one.items, 1);
  EXPECT_EQ(one.value, 0.5);
  EXPECT_FALSE(one.error);
  EXPECT_FALSE(one.interval);
  const Estimate all_right = ClusteredMean(Items{{1, 1}, {1, 1}});
  EXPECT_EQ(all_right.error, 0);
  EXPECT_THAT(all_right.interval, IntervalNear(1, 1, 0));
}

TEST(ClusteredDifference, TakesItemsOfBoth) {
  const Items a = {{0, 1}, {1}, {}, {0, 0}}, b = {{1, 1}, {1, 0, 1}, {1}, {}};
  const Estimate estimate = ClusteredDifference(a, b);
  EXPECT_EQ(estimate.items, 2);
  EXPECT_NEAR(*estimate.value, (0.5 - 1.0 / 3) / 2, 1e-15);
  EXPECT_NEAR(*estimate.error, (0.5 + 1.0 / 3) / 2, 1e-15);
  // Student's t of one degree of freedom reaches 12.706 errors far.
  EXPECT_THAT(estimate.interval, IntervalNear(*estimate.value - 12.7062047 * *estimate.error,
                                              *estimate.value + 12.7062047 * *estimate.error, 1e-6));
}

TEST(ClusteredDifference, OfLittle) {
  EXPECT_FALSE(ClusteredDifference(Items{}, Items{}).value);
  const Estimate one = ClusteredDifference(Items{{1, 0}}, Items{{1}});
  EXPECT_EQ(one.value, 0.5);
  EXPECT_FALSE(one.interval);
  EXPECT_THROW(ClusteredDifference(Items{{1}}, Items{}), std::invalid_argument);
}

TEST(ClusteredDifferenceP, OfLittle) {
  const Items once = {{1, 0}}, right = {{1, 1}, {1, 1}, {1, 1}}, half = {{1, 0}, {0, 1}, {1, 0}};
  EXPECT_FALSE(ClusteredDifferenceP(ClusteredDifference(once, once)));
  EXPECT_EQ(ClusteredDifferenceP(ClusteredDifference(right, right)), 1);
  EXPECT_FALSE(ClusteredDifferenceP(ClusteredDifference(half, right)));  // all differ alike
  const Items mixed = {{1, 0}, {1, 1}, {0, 0}};
  const double p = *ClusteredDifferenceP(ClusteredDifference(mixed, right));
  EXPECT_NEAR(p, 0.2254033307585166, 1e-12);  // SciPy's ttest_rel
  EXPECT_EQ(ClusteredDifferenceP(ClusteredDifference(right, mixed)), p);
}

}  // namespace
}  // namespace fullband
