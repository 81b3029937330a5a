#include "reports/statistics/suites.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "tests/statistics/near.h"

namespace fullband {
namespace {

const Estimate kSmall{10, 0.2, {}, Interval{0.1, 0.5}}, kLarge{90, 0.8, {}, Interval{0.76, 0.83}}, kEmpty;

TEST(Suites, MacroCountsSuitesAndMicroItems) {
  const std::vector<Estimate> suites = {kSmall, kEmpty, kLarge};
  const SuitesEstimate macro = MacroMean(suites), micro = MicroMean(suites);
  EXPECT_EQ(macro.suites, 2);
  EXPECT_EQ(macro.of.items, 100);
  EXPECT_NEAR(*macro.of.value, 0.5, 1e-15);
  EXPECT_NEAR(*micro.of.value, 0.74, 1e-15);
  // Halves of the distances 0.1 and 0.04, 0.3 and 0.03; then tenths and nine tenths of them.
  EXPECT_THAT(macro.of.interval, IntervalNear(0.5 - 0.0538516480713, 0.5 + 0.150748134317, 1e-12));
  EXPECT_THAT(micro.of.interval, IntervalNear(0.74 - 0.0373630833845, 0.74 + 0.0403608721, 1e-10));
}

TEST(Suites, OfOneIsItsOwn) {
  for (const SuitesEstimate& of : {MacroMean(std::vector{kSmall}), MicroMean(std::vector{kEmpty, kSmall})}) {
    EXPECT_EQ(of.suites, 1);
    EXPECT_NEAR(*of.of.value, 0.2, 1e-15);
    EXPECT_THAT(of.of.interval, IntervalNear(0.1, 0.5, 1e-15));
  }
}

TEST(Suites, OfLittle) {
  EXPECT_EQ(MacroMean({}).suites, 0);
  EXPECT_FALSE(MacroMean({}).of.value);
  EXPECT_FALSE(MicroMean(std::vector{kEmpty}).of.value);
  const Estimate no_interval{1, 0.3, {}, {}};
  EXPECT_NEAR(*MacroMean(std::vector{kLarge, no_interval}).of.value, 0.55, 1e-15);
  EXPECT_FALSE(MacroMean(std::vector{kLarge, no_interval}).of.interval);
  EXPECT_THROW(MacroMean(std::vector{Estimate{3, {}, {}, {}}}), std::invalid_argument);
}

}  // namespace
}  // namespace fullband
