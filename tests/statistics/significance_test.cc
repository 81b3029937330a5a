#include "reports/statistics/significance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace fullband {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

// SciPy 1.17's binomtest(b, b + c).pvalue; 71, 153 and 61, 231 are also published by the open reproduction.
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

// Worked by hand: 4 × 0.005; 3 × 0.01; 2 × 0.03; 1 × 0.04 is less than the one before.
TEST(Holm, CorrectsStepByStep) {
  EXPECT_THAT(HolmAdjusted(std::vector<double>{0.01, 0.04, 0.03, 0.005}),
              ElementsAre(DoubleNear(0.03, 1e-15), DoubleNear(0.06, 1e-15), DoubleNear(0.06, 1e-15),
                          DoubleNear(0.02, 1e-15)));
}

TEST(Holm, OfLittle) {
  EXPECT_THAT(HolmAdjusted({}), IsEmpty());
  EXPECT_THAT(HolmAdjusted(std::vector<double>{0.2}), ElementsAre(0.2));
  EXPECT_THAT(HolmAdjusted(std::vector<double>{1, 1, 0.9}), ElementsAre(1, 1, 1));
  EXPECT_THAT(HolmAdjusted(std::vector<double>{0.02, 0.02}), ElementsAre(0.04, 0.04));
  EXPECT_THROW(HolmAdjusted(std::vector<double>{0.2, 1.01}), std::invalid_argument);
  EXPECT_THROW(HolmAdjusted(std::vector<double>{std::numeric_limits<double>::quiet_NaN()}),
               std::invalid_argument);
}

}  // namespace
}  // namespace fullband
