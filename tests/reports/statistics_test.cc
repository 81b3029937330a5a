#include "reports/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

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

// SciPy 1.17's binomtest(b, b + c).pvalue.
TEST(McNemar, EqualsPublishedValues) {
  const auto near = [](double p, double expected) { EXPECT_NEAR(p / expected, 1, 1e-9); };
  near(McNemarExact(71, 153), 4.4527407850771095e-08);
  near(McNemarExact(153, 71), 4.4527407850771095e-08);
  near(McNemarExact(61, 231), 1.9162856950591988e-24);
  near(McNemarExact(78, 166), 1.807171686056395e-08);
  near(McNemarExact(2000, 2300), 5.079935568924055e-06);
  near(McNemarExact(5, 15), 0.04138946533203125);
  near(McNemarExact(0, 6), 0.03125);
  near(McNemarExact(0, 1000), std::pow(2.0, -999));
}

TEST(McNemar, IsOneWhereNothingSpeaksAgainstChance) {
  EXPECT_EQ(McNemarExact(0, 0), 1);
  EXPECT_EQ(McNemarExact(10, 10), 1);
  EXPECT_EQ(McNemarExact(1, 0), 1);
  EXPECT_NEAR(McNemarExact(3, 4), 1, 1e-12);
  EXPECT_THROW(McNemarExact(-1, 3), std::invalid_argument);
}

// NumPy's quantile on the same values.
TEST(Quantiles, EqualNumPys) {
  const std::vector<double> values = {300, 60, 512, 100};
  EXPECT_EQ(Median(values), 200);
  EXPECT_EQ(Quantile(values, 0), 60);
  EXPECT_EQ(Quantile(values, 1), 512);
  EXPECT_EQ(Quantile(values, 0.25), 90);
  EXPECT_NEAR(*Quantile(values, 0.9), 448.4, 1e-9);
  EXPECT_EQ(Mean(values), 243);
  EXPECT_NEAR(*StandardError(values), 103.90219760268147, 1e-9);
}

TEST(Quantiles, OfLittle) {
  const std::vector<double> none, one = {5}, odd = {3, 1, 2};
  EXPECT_FALSE(Mean(none));
  EXPECT_FALSE(Median(none));
  EXPECT_EQ(Median(one), 5);
  EXPECT_EQ(Median(odd), 2);
  EXPECT_FALSE(StandardError(one));
}

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

}  // namespace
}  // namespace fullband
