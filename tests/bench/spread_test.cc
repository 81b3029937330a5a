#include "bench/spread.h"

#include <gtest/gtest.h>

#include <numeric>

namespace fullband {
namespace {

std::vector<double> UpTo(int n) {
  std::vector<double> values(n);
  std::iota(values.rbegin(), values.rend(), 1);  // n .. 1: order must not matter
  return values;
}

TEST(SpreadOf, KnowsMedianAndEnds) {
  const Spread odd = SpreadOf({3, 9, 1});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.least, 1);
  EXPECT_EQ(odd.most, 9);
  EXPECT_EQ(SpreadOf({4, 1, 2, 9}).median, 3);
  EXPECT_EQ(SpreadOf({7}).median, 7);
}

// Coverages from tables of the sign test: 1 - 2 * sum of C(n, i) / 2^n for i below the order statistic.
TEST(MedianIntervalOf, IsTheSignTests) {
  const MedianInterval ten = MedianIntervalOf(UpTo(10));
  EXPECT_EQ(ten.low, 2);
  EXPECT_EQ(ten.high, 9);
  EXPECT_NEAR(ten.confidence, 1 - 22.0 / 1024, 1e-12);

  const MedianInterval twenty = MedianIntervalOf(UpTo(20));
  EXPECT_EQ(twenty.low, 6);
  EXPECT_EQ(twenty.high, 15);
  EXPECT_NEAR(twenty.confidence, 0.9586, 1e-4);

  const MedianInterval forty = MedianIntervalOf(UpTo(40));
  EXPECT_EQ(forty.low, 14);
  EXPECT_EQ(forty.high, 27);
  EXPECT_NEAR(forty.confidence, 0.9615, 1e-4);

  const MedianInterval loose = MedianIntervalOf(UpTo(10), 0.85);
  EXPECT_EQ(loose.low, 3);
  EXPECT_EQ(loose.high, 8);
}

TEST(MedianIntervalOf, SaysWhatTooFewValuesAreWorth) {
  const MedianInterval five = MedianIntervalOf(UpTo(5));
  EXPECT_EQ(five.low, 1);
  EXPECT_EQ(five.high, 5);
  EXPECT_NEAR(five.confidence, 1 - 2.0 / 32, 1e-12);
  EXPECT_EQ(MedianIntervalOf({3}).confidence, 0);
  // 2^-2000 is no double.
  EXPECT_GT(MedianIntervalOf(UpTo(2000)).confidence, 0.95);
  EXPECT_NEAR(MedianIntervalOf(UpTo(2000)).low, 956, 1);
}

}  // namespace
}  // namespace fullband
