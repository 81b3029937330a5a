#include "common/memory.h"

#include <gtest/gtest.h>

namespace fullband {
namespace {

TEST(ResidentBytes, SeesThisProcess) {
  EXPECT_GT(ResidentBytes(), 1 << 20);
  EXPECT_LT(ResidentBytes(), int64_t{1} << 40);
}

TEST(ParseSize, TakesWholeNumbersWithOneUnit) {
  EXPECT_EQ(ParseSize("123"), 123);
  EXPECT_EQ(ParseSize("32K"), 32 << 10);
  EXPECT_EQ(ParseSize("64M"), 64 << 20);
  EXPECT_EQ(ParseSize("2G"), int64_t{2} << 30);
  for (const char* text : {"", "K", "-1", "1.5G", "64MB", "64 M", "64m", "99999999999G"})
    EXPECT_EQ(ParseSize(text), std::nullopt) << text;
}

TEST(SizeText, HasAUnitThatFits) {
  EXPECT_EQ(SizeText(9'999), "9999 bytes");
  EXPECT_EQ(SizeText(10'240), "10.0 KiB");
  EXPECT_EQ(SizeText(int64_t{64} << 20), "64.0 MiB");
  EXPECT_EQ(SizeText(int64_t{36} << 30), "36.0 GiB");
}

}  // namespace
}  // namespace fullband
