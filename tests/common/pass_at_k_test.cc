#include "common/pass_at_k.h"

#include <gtest/gtest.h>

#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace fullband {
namespace {

// The share of all subsets of k that hold one of the first `correct` samples.
double BySubsets(int samples, int correct, int k) {
  int all = 0, with = 0;
  for (uint32_t set = 0; set < (1u << samples); ++set) {
    if (std::popcount(set) != k) continue;
    ++all;
    with += (set & ((1u << correct) - 1)) != 0;
  }
  return static_cast<double>(with) / all;
}

// human-eval's estimator as it is published: 1 - prod(1 - k / arange(n - c + 1, n + 1)).
double ByProduct(int n, int c, int k) {
  if (n - c < k) return 1;
  double none = 1;
  for (int i = n - c + 1; i <= n; ++i) none *= 1 - static_cast<double>(k) / i;
  return 1 - none;
}

// 1 - C(n-c, k) / C(n, k) in whole numbers.
double Exactly(int n, int c, int k) {
  using boost::multiprecision::cpp_int;
  const auto choose = [](int from, int count) {
    cpp_int ways = count > from ? 0 : 1;
    for (int i = 0; i < count && ways != 0; ++i) ways = ways * (from - i) / (i + 1);
    return ways;
  };
  const cpp_int all = choose(n, k);
  return boost::multiprecision::cpp_rational(all - choose(n - c, k), all).convert_to<double>();
}

TEST(PassAtK, EqualsTheShareOfAllSubsets) {
  for (int n = 1; n <= 12; ++n)
    for (int c = 0; c <= n; ++c)
      for (int k = 1; k <= n; ++k) {
        EXPECT_NEAR(*PassAtK(n, c, k), BySubsets(n, c, k), 1e-14) << n << ' ' << c << ' ' << k;
        EXPECT_NEAR(*PassAtK(n, c, k), ByProduct(n, c, k), 1e-14) << n << ' ' << c << ' ' << k;
      }
}

TEST(PassAtK, KeepsItsDigitsForManySamples) {
  for (const int c : {1, 2, 7, 100, 399, 400})
    for (const int k : {1, 2, 10, 100, 399, 400})
      EXPECT_NEAR(*PassAtK(400, c, k) / Exactly(400, c, k), 1, 1e-13) << c << ' ' << k;
  EXPECT_NEAR(*PassAtK(1'000'000'000, 1, 10), 1e-8, 1e-20);
}

TEST(PassAtK, TheEnds) {
  EXPECT_EQ(PassAtK(5, 0, 5), 0.0);
  EXPECT_EQ(PassAtK(5, 5, 1), 1.0);
  EXPECT_EQ(PassAtK(5, 1, 5), 1.0);
  EXPECT_EQ(PassAtK(1, 1, 1), 1.0);
  EXPECT_EQ(PassAtK(3, 1, 1), 1.0 / 3);
}

TEST(PassAtK, IsNotDefinedForMoreThanThereAre) {
  EXPECT_FALSE(PassAtK(5, 5, 6));
  EXPECT_FALSE(PassAtK(0, 0, 1));
  EXPECT_THROW(PassAtK(5, 6, 1), std::invalid_argument);
  EXPECT_THROW(PassAtK(5, -1, 1), std::invalid_argument);
  EXPECT_THROW(PassAtK(-1, 0, 1), std::invalid_argument);
  EXPECT_THROW(PassAtK(5, 1, 0), std::invalid_argument);
}

// As reported of other harnesses: k > n gives 1, or problems are counted as samples.
TEST(PassAtK, ReportedFault) {
  std::ifstream file(std::string(FULLBAND_TEST_DATA) + "/faults/statistics.jsonl");
  nlohmann::json fault;
  for (std::string line; std::getline(file, line);)
    if (const auto read = nlohmann::json::parse(line); read.at("id") == "S04") fault = read;
  const auto& cases = fault.at("input").at("cases");
  const auto& expected = fault.at("expected").at("pass_at_k");
  ASSERT_EQ(cases.size(), 4u);
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::optional<double> pass = PassAtK(cases[i][0], cases[i][1], cases[i][2]);
    ASSERT_EQ(pass.has_value(), !expected[i].is_null()) << i;
    if (pass) {
      EXPECT_NEAR(*pass, expected[i].get<double>(), 1e-7) << i;
    }
  }
}

}  // namespace
}  // namespace fullband
