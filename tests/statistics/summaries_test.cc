#include "reports/statistics/summaries.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

namespace fullband {
namespace {

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

TEST(Quantiles, RefuseWhatIsNoShare) {
  const std::vector<double> values = {1, 2};
  EXPECT_THROW(Quantile(values, -0.01), std::invalid_argument);
  EXPECT_THROW(Quantile(values, 1.01), std::invalid_argument);
  EXPECT_THROW(Quantile(values, std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
}

}  // namespace
}  // namespace fullband
