#include "evals/graders/numbers.h"

#include <gtest/gtest.h>

namespace fullband {
namespace {

using Texts = std::vector<std::string>;

Texts Scan(std::string_view text) {
  Texts found;
  for (const NumberToken& number : ScanNumbers(text))
    found.push_back(number.text + (number.value ? "" : "?"));
  return found;
}

TEST(ScanNumbers, Separators) {
  EXPECT_EQ(Scan("1,234,567 8{,}000 8\\,000 8\\!000 8,\\!000 8'000 8_000 8\xE2\x80\xAF"
                 "000"),
            (Texts{"1234567", "8000", "8000", "8000", "8000", "8000", "8000", "8000"}));
  EXPECT_EQ(Scan("1, 2, 3"), (Texts{"1", "2", "3"}));
  EXPECT_EQ(Scan("1234,567"), (Texts{"1234,567?"}));
  EXPECT_EQ(Scan("1,2345"), (Texts{"1,2345?"}));
  EXPECT_EQ(Scan("0,500"), (Texts{"0,500?"}));
  EXPECT_EQ(Scan("1,234.50"), (Texts{"1234.50"}));
}

TEST(ScanNumbers, Signs) {
  EXPECT_EQ(Scan("5-3"), (Texts{"5", "3"}));
  EXPECT_EQ(Scan("5 - 3"), (Texts{"5", "3"}));
  EXPECT_EQ(Scan("5 -3"), (Texts{"5", "3"}));
  EXPECT_EQ(Scan("x = - 3, (-4), minus -5"), (Texts{"-3", "-4", "-5"}));
  EXPECT_EQ(Scan("(2+3)-4 and y-6"), (Texts{"2", "3", "4", "6"}));
  EXPECT_EQ(Scan("3*-4"), (Texts{"3", "-4"}));
  EXPECT_EQ(Scan("\xE2\x82\xAC-5, -\xE2\x82\xAC"
                 "6, -\\$7 - $8"),
            (Texts{"-5", "-6", "-7", "8"}));
  EXPECT_EQ(Scan("pages 10\xE2\x80\x93"
                 "12"),
            (Texts{"10", "12"}));
  EXPECT_EQ(Scan("--5"), (Texts{"5"}));
}

TEST(ScanNumbers, Fractions) {
  EXPECT_EQ(Scan("3/4 \\frac{3}{4} \\dfrac34 \xC2\xBE"), (Texts{"3/4", "3/4", "3/4", "3/4"}));
  EXPECT_EQ(Scan("2 1/2, 2\\frac{1}{2}, 5 12/3"), (Texts{"2 1/2", "2 1/2", "5", "12/3"}));
  EXPECT_EQ(Scan("-\\frac{3}{4} \\frac{-3}{4}"), (Texts{"-3/4", "-3/4"}));
  EXPECT_EQ(Scan("12/25/2020"), (Texts{"12/25/2020?"}));
  EXPECT_EQ(Scan("18km/h 5/day"), (Texts{"18", "5"}));
}

TEST(ScanNumbers, WhatIsNoValue) {
  EXPECT_EQ(Scan("3:30 1.2.3 10^6 10^{6} 2\\pi"), (Texts{"3:30?", "1.2.3?", "10^6?", "10^{6}?", "2?"}));
  EXPECT_EQ(Scan("x1 a_2 H2O"), (Texts{}));
  EXPECT_EQ(Scan("USD18 step2"), (Texts{"18", "2"}));
}

TEST(ScanNumbers, PointsAndPowersOfTen) {
  EXPECT_EQ(Scan("72. 72... 0.5. .5 ...5 p.18"), (Texts{"72", "72", "0.5", ".5", "5", "18"}));
  EXPECT_EQ(Scan("1e3 1.5E-2 3eggs 4e"), (Texts{"1e3", "1.5E-2", "3", "4"}));
}

TEST(ScanNumbers, Places) {
  const std::string text = "owes -$5.00 now";
  const std::vector<NumberToken> numbers = ScanNumbers(text);
  ASSERT_EQ(numbers.size(), 1u);
  EXPECT_EQ(text.substr(numbers[0].begin, numbers[0].end - numbers[0].begin), "-$5.00");
}

TEST(SameNumber, ExactValues) {
  for (const auto& [a, b] : std::vector<std::pair<const char*, const char*>>{{"72", "72.00"},
                                                                             {"072", "72"},
                                                                             {"144/2", "72"},
                                                                             {"-0", "0"},
                                                                             {"2 1/2", "2.5"},
                                                                             {"-2 1/2", "-2.5"},
                                                                             {"1e3", "1000"},
                                                                             {"1.5e-2", "0.015"},
                                                                             {"3/4", "0.75"},
                                                                             {"6/8", "3/4"},
                                                                             {"0.5/0.25", "2"},
                                                                             {"08/010", "4/5"},
                                                                             {".5", "1/2"}}) {
    EXPECT_TRUE(SameNumber(a, b)) << a << " " << b;
    EXPECT_TRUE(SameNumber(b, a)) << a << " " << b;
  }
  for (const auto& [a, b] :
       std::vector<std::pair<const char*, const char*>>{{"72", "-72"},
                                                        {"0.333333333333333333", "1/3"},
                                                        {"12345678901234567890", "12345678901234567891"},
                                                        {"0.1", "0.10000000000000000001"},
                                                        {"1/0", "1/0"},
                                                        {"3:30", "3:30"},
                                                        {"", ""},
                                                        {"3/4", "3"}}) {
    EXPECT_FALSE(SameNumber(a, b)) << a << " " << b;
  }
}

TEST(SameNumber, LongNumbers) {
  const std::string nines(100'000, '9');
  EXPECT_TRUE(SameNumber(nines, nines + ".0"));
  EXPECT_FALSE(SameNumber(nines, nines + ".1"));
  EXPECT_TRUE(SameNumber(nines + "/7", nines + "/7"));
  EXPECT_FALSE(SameNumber(nines + "/7", nines + "/9"));
}

}  // namespace
}  // namespace fullband
