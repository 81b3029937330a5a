#include "reports/document/cells.h"

#include <gtest/gtest.h>

#include "reports/spelling.h"

namespace fullband {
namespace {

using Further = std::vector<std::pair<std::string, double>>;

Further FurtherOf(const Cell& cell) {
  Further further;
  for (const NamedNumber& number : cell.further) further.emplace_back(number.name, number.value);
  return further;
}

TEST(Cells, HoldTheFullNumber) {
  const double third = 1.0 / 3;
  EXPECT_EQ(CountCell(1234).text, "1,234");
  EXPECT_EQ(CountCell(1234).number, 1234);
  EXPECT_EQ(FixedCell(third, 1).text, "0.3");
  EXPECT_EQ(FixedCell(third, 1).number, third);
  EXPECT_EQ(PercentCell(third).text, "33.3 %");
  EXPECT_EQ(PercentCell(third).number, third);
  EXPECT_EQ(PValueCell(third * 1e-8).number, third * 1e-8);
  EXPECT_EQ(BytesCell(int64_t{3} << 29).number, 3.0 * (1 << 29));
}

TEST(Cells, NameFurtherNumbers) {
  const Cell interval = PercentIntervalCell(Interval{0.25, 0.5});
  EXPECT_EQ(interval.text, "25.0 – 50.0");
  EXPECT_EQ(interval.number, std::nullopt);
  EXPECT_EQ(FurtherOf(interval), (Further{{"low", 0.25}, {"high", 0.5}}));
  const Cell error = PercentErrorCell(0.5, 0.125);
  EXPECT_EQ(error.text, "50.0 % ± 12.5");
  EXPECT_EQ(FurtherOf(error), (Further{{"error", 0.125}}));
  const Cell points = DifferenceCell(-0.5, Interval{-0.75, 0.25}, 100);
  EXPECT_EQ(points.text, "-50.0 (-75.0 … +25.0)");
  EXPECT_EQ(points.number, -50);
  EXPECT_EQ(FurtherOf(points), (Further{{"low", -75}, {"high", 25}}));
}

TEST(Cells, OfNothingAreADash) {
  for (const Cell& cell :
       {FixedCell(std::nullopt, 1), PercentCell(std::nullopt), PercentIntervalCell(std::nullopt),
        PercentErrorCell(std::nullopt, std::nullopt), DifferenceCell(std::nullopt, std::nullopt),
        BytesCell(0), PValueCell(std::nullopt)}) {
    EXPECT_EQ(cell.text, kNoValue);
    EXPECT_EQ(cell.number, std::nullopt);
    EXPECT_TRUE(cell.further.empty());
  }
}

}  // namespace
}  // namespace fullband
