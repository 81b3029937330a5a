#include "reports/spelling.h"

#include <gtest/gtest.h>

namespace fullband {
namespace {

TEST(Spelling, OfFigures) {
  EXPECT_EQ(Fixed(-0.04, 1, true), "0.0");
  EXPECT_EQ(Fixed(-0.06, 1, true), "-0.1");
  EXPECT_EQ(Fixed(2.5, 1, true), "+2.5");
  EXPECT_EQ(Fixed(std::nullopt, 1), "–");
  EXPECT_EQ(Percent(0.25), "25.0 %");
  EXPECT_EQ(Percent(std::nullopt), "–");
  EXPECT_EQ(PercentInterval({0.1896, 0.2336}), "19.0 – 23.4");
  EXPECT_EQ(Difference(0.1, Interval{-0.05, 0.25}, 100), "+10.0 (-5.0 … +25.0)");
  EXPECT_EQ(Difference(3, std::nullopt), "+3.0");
  EXPECT_EQ(Count(0), "0");
  EXPECT_EQ(Count(-1234), "-1,234");
  EXPECT_EQ(Count(123456), "123,456");
  EXPECT_EQ(Bytes(0), "–");
  EXPECT_EQ(Bytes(300 << 20), "300 MiB");
  EXPECT_EQ(Bytes(int64_t{3} << 29), "1.5 GiB");
  EXPECT_EQ(PValue(0.03125), "0.031");
  EXPECT_EQ(PValue(4.4527407850771095e-08), "4.45e-08");
  EXPECT_EQ(PValue(1), "1.000");
  EXPECT_EQ(Joined({"a", "b"}), "a, b");
  EXPECT_EQ(Joined({}, "; "), "");
}

}  // namespace
}  // namespace fullband
