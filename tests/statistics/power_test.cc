#include "reports/statistics/power.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "reports/statistics/significance.h"

namespace fullband {
namespace {

// Chow, Shao and Wang, Sample Size Calculations in Clinical Research, section 6.4: 59 pairs. Connor's formula
// as two public calculators give it: 155 pairs; 23 of a one-sided test (half the level).
TEST(ConnorItems, EqualsPublishedValues) {
  EXPECT_EQ(std::ceil(*ConnorItems({0.2, 0.5})), 59);
  EXPECT_EQ(std::ceil(*ConnorItems({0.5, 0.2})), 59);
  EXPECT_EQ(std::ceil(*ConnorItems({0.15, 0.30})), 155);
  EXPECT_EQ(std::ceil(*ConnorItems({0.05, 0.45}, 0.1, 0.9)), 23);
}

TEST(ConnorItems, WithoutADifference) {
  EXPECT_FALSE(ConnorItems({0, 0}));
  EXPECT_FALSE(ConnorItems({0.2, 0.2}));
}

// Six items that all go one way are significant (p = 1/32), five are not (1/16).
TEST(McNemarPower, IsSeenByHand) {
  EXPECT_EQ(McNemarPower(0, {0, 1}), 0);
  EXPECT_EQ(McNemarPower(100, {0, 0}), 0);
  EXPECT_EQ(McNemarPower(5, {0, 1}), 0);
  EXPECT_EQ(McNemarPower(6, {0, 1}), 1);
  EXPECT_EQ(McNemarPower(6, {1, 0}), 1);
  EXPECT_NEAR(McNemarPower(6, {0, 0.5}), 1.0 / 64, 1e-15);
  EXPECT_NEAR(McNemarPower(6, {0.5, 0.5}), 2.0 / 64, 1e-15);
}

// All splits of up to 60 items, each asked for its p-value.
TEST(McNemarPower, EqualsTheSumOverAllTables) {
  for (const int items : {1, 8, 29, 60}) {
    for (const double alpha : {0.05, 0.3, 0.001}) {
      const double a = 0.13, b = 0.31, rest = 1 - a - b;
      double power = 0;
      for (int only_a = 0; only_a <= items; ++only_a) {
        for (int only_b = 0; only_a + only_b <= items; ++only_b) {
          if (McNemarExact(only_a, only_b) > alpha) continue;
          const double concordant = items - only_a - only_b;
          power += std::exp(std::lgamma(items + 1.0) - std::lgamma(only_a + 1.0) - std::lgamma(only_b + 1.0) -
                            std::lgamma(concordant + 1) + only_a * std::log(a) + only_b * std::log(b) +
                            concordant * std::log(rest));
        }
      }
      EXPECT_NEAR(McNemarPower(items, {a, b}, alpha), power, 1e-12) << items << " items, alpha " << alpha;
    }
  }
}

TEST(ItemsNeeded, IsWhereThePowerIsReached) {
  for (const DiscordantShares& shares :
       {DiscordantShares{0, 1}, {0, 0.01}, {0.2, 0.5}, {0.15, 0.3}, {0.116, 0.1}}) {
    const std::optional<int64_t> items = ItemsNeeded(shares);
    ASSERT_TRUE(items);
    EXPECT_GE(McNemarPower(*items, shares), 0.8);
    EXPECT_LT(McNemarPower(*items - 1, shares), 0.8);
    // The exact test never needs fewer than the formula says, and not many more.
    const double normal = *ConnorItems(shares), gap = std::abs(shares.only_b - shares.only_a);
    EXPECT_GT(static_cast<double>(*items), normal - 1);
    EXPECT_LT(static_cast<double>(*items), normal + 4 / gap + 8);
    EXPECT_EQ(ItemsNeeded({shares.only_b, shares.only_a}), items);
  }
  EXPECT_EQ(ItemsNeeded({0, 1}), 6);
}

TEST(ItemsNeeded, OfDifferencesTooSmallOrNone) {
  EXPECT_FALSE(ItemsNeeded({0, 0}));
  EXPECT_FALSE(ItemsNeeded({0.1, 0.1}));
  EXPECT_FALSE(ItemsNeeded({0.1, 0.1 + 1e-9}));
  // One flip more one way among 1,319 items, a hundred and one to a hundred.
  const std::optional<int64_t> items = ItemsNeeded({100.0 / 1319, 101.0 / 1319});
  EXPECT_NEAR(static_cast<double>(*items) / *ConnorItems({100.0 / 1319, 101.0 / 1319}), 1, 0.01);
}

TEST(Power, RefusesWrongInput) {
  EXPECT_THROW(McNemarPower(-1, {0.1, 0.2}), std::invalid_argument);
  EXPECT_THROW(McNemarPower(10, {-0.1, 0.2}), std::invalid_argument);
  EXPECT_THROW(McNemarPower(10, {0.6, 0.5}), std::invalid_argument);
  EXPECT_THROW(McNemarPower(10, {0.1, 0.2}, 0), std::invalid_argument);
  EXPECT_THROW(ItemsNeeded({0.1, 0.2}, 0.05, 1), std::invalid_argument);
  EXPECT_THROW(ItemsForMeanDifference(-1, 1), std::invalid_argument);
}

// By hand: (1.959964 + 0.841621)² / 9 / 0.03².
TEST(ItemsForMeanDifference, OfTheNormalApproximation) {
  EXPECT_NEAR(*ItemsForMeanDifference(1.0 / 3, 0.03), 968.998, 1e-2);
  EXPECT_EQ(ItemsForMeanDifference(0, 1), 0);
  EXPECT_FALSE(ItemsForMeanDifference(1, 0));
}

}  // namespace
}  // namespace fullband
