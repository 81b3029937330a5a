#include "reports/statistics/proportions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/statistics/near.h"

namespace fullband {
namespace {

struct Proportion {
  int successes, trials;
  double low, high;
};

// SciPy 1.17's binomtest(k, n).proportion_ci(0.95, "wilson"); the first three are also published to five
// digits by the open reproduction (GSM8K, five-shot).
TEST(Wilson, EqualsPublishedValues) {
  for (const Proportion& row :
       {Proportion{278, 1319, 0.18961115385897265, 0.23360015017725688},
        Proportion{360, 1319, 0.24957891812946917, 0.29760793785703343},
        Proportion{448, 1319, 0.3145916594113954, 0.36564213037540044},
        Proportion{61, 200, 0.2453641563073503, 0.37198552097978366},
        Proportion{5, 10, 0.236593090512564, 0.7634069094874361}, Proportion{0, 10, 0.0, 0.27753279986288926},
        Proportion{10, 10, 0.7224672001371109, 1.0}, Proportion{1, 1, 0.20654931437723745, 1.0}}) {
    const Interval interval = WilsonInterval(row.successes, row.trials);
    EXPECT_NEAR(interval.low, row.low, 1e-12) << row.successes << "/" << row.trials;
    EXPECT_NEAR(interval.high, row.high, 1e-12) << row.successes << "/" << row.trials;
  }
}

TEST(Wilson, Ends) {
  EXPECT_EQ(WilsonInterval(0, 0).low, 0);
  EXPECT_EQ(WilsonInterval(0, 0).high, 1);
  EXPECT_EQ(WilsonInterval(0, 7).low, 0);
  EXPECT_EQ(WilsonInterval(7, 7).high, 1);
  EXPECT_LT(WilsonInterval(5, 10, 0.99).low, WilsonInterval(5, 10, 0.95).low);
}

TEST(Wilson, RefusesWhatIsNoProportion) {
  EXPECT_THROW(WilsonInterval(-0.1, 7), std::invalid_argument);
  EXPECT_THROW(WilsonInterval(7.1, 7), std::invalid_argument);
  EXPECT_THROW(WilsonInterval(std::numeric_limits<double>::quiet_NaN(), 7), std::invalid_argument);
  EXPECT_THROW(WilsonInterval(0, -1), std::invalid_argument);
  EXPECT_THROW(WilsonInterval(1, 7, 1), std::invalid_argument);
  EXPECT_THROW(WilsonInterval(1, 7, 0), std::invalid_argument);
}

// Airway hyper-responsiveness before and after transplantation (Bentur et al. 2009), as Fagerland, Lydersen
// and Laake (2014) give Newcombe's interval: 1 child with it both times, 1 before alone, 7 after alone, 12
// never.
TEST(PairedProportions, EqualsAPublishedInterval) {
  const Estimate after_less_before = PairedProportionDifference({1, 1, 7, 12});
  EXPECT_EQ(after_less_before.items, 21);
  EXPECT_NEAR(*after_less_before.value, 6.0 / 21, 1e-15);
  EXPECT_THAT(after_less_before.interval, IntervalNear(0.026, 0.507, 5e-4));
}

TEST(PairedProportions, TurnWithTheRuns) {
  const Estimate ab = PairedProportionDifference({207, 71, 153, 888}, 0.9);
  const Estimate ba = PairedProportionDifference({207, 153, 71, 888}, 0.9);
  EXPECT_EQ(*ab.value, -*ba.value);
  EXPECT_EQ(ab.interval->low, -ba.interval->high);
  EXPECT_EQ(ab.interval->high, -ba.interval->low);
}

TEST(PairedProportions, WithoutDiscordantItems) {
  EXPECT_EQ(PairedProportionDifference({}).items, 0);
  EXPECT_FALSE(PairedProportionDifference({}).value);
  EXPECT_FALSE(PairedProportionDifference({}).interval);
  // All right: as far as one Wilson interval reaches, to both sides.
  const Estimate all_right = PairedProportionDifference({20, 0, 0, 0});
  const double reach = 1 - WilsonInterval(20, 20).low;
  EXPECT_EQ(all_right.value, 0);
  EXPECT_THAT(all_right.interval, IntervalNear(-reach, reach, 1e-15));
  // The same verdicts, some right: of a spread that is not zero.
  const Estimate same = PairedProportionDifference({12, 0, 0, 8});
  EXPECT_EQ(same.value, 0);
  EXPECT_LT(same.interval->low, -0.05);
  EXPECT_EQ(same.interval->low, -same.interval->high);
}

TEST(PairedProportions, OfLittle) {
  const Estimate one = PairedProportionDifference({0, 0, 1, 0});
  EXPECT_EQ(one.value, 1);
  EXPECT_EQ(one.interval->high, 1);
  EXPECT_LT(one.interval->low, 0);
  for (const PairedCounts& counts : {PairedCounts{0, 30, 0, 0}, PairedCounts{0, 0, 30, 0}}) {
    const Estimate estimate = PairedProportionDifference(counts);
    EXPECT_GE(estimate.interval->low, -1);
    EXPECT_LE(estimate.interval->high, 1);
  }
  EXPECT_THROW(PairedProportionDifference({1, -1, 1, 1}), std::invalid_argument);
  EXPECT_THROW(PairedProportionDifference({1, 1, 1, 1}, 1.5), std::invalid_argument);
}

TEST(PairedProportions, OfManyItems) {
  // Products of these counts are far beyond 2^53.
  const Estimate many = PairedProportionDifference({400'000'000, 10'000'000, 20'000'000, 300'000'000});
  const double n = 730e6, difference = 10e6 / n;
  const double error = std::sqrt((30e6 / n - difference * difference) / n);
  EXPECT_NEAR(many.interval->low, difference - 1.959964 * error, 1e-3 * error);
  EXPECT_NEAR(many.interval->high, difference + 1.959964 * error, 1e-3 * error);
}

TEST(PairedCounts, AddUp) {
  PairedCounts sum{1, 2, 3, 4};
  sum += {10, 20, 30, 40};
  EXPECT_EQ(sum.both, 11);
  EXPECT_EQ(sum.only_a, 22);
  EXPECT_EQ(sum.only_b, 33);
  EXPECT_EQ(sum.neither, 44);
  EXPECT_EQ(sum.Items(), 110);
}

}  // namespace
}  // namespace fullband
