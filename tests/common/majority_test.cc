#include "common/majority.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <functional>
#include <stdexcept>

namespace fullband {
namespace {

using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;

// The chance that the right answer is taken where it has `right` votes and the others `wrong`.
cpp_rational Taken(int64_t right, const std::vector<int64_t>& wrong) {
  int64_t ties = 1;
  for (const int64_t other : wrong) {
    if (other > right) return 0;
    ties += other == right;
  }
  return right == 0 ? cpp_rational(0) : cpp_rational(1, ties);
}

// The mean over every subset of k samples, one subset at a time.
double BySubsets(const Votes& votes, int k) {
  std::vector<int> ballot(static_cast<size_t>(votes.right), 0);
  for (size_t i = 0; i < votes.wrong.size(); ++i)
    ballot.insert(ballot.end(), static_cast<size_t>(votes.wrong[i]), static_cast<int>(i) + 1);
  ballot.resize(ballot.size() + static_cast<size_t>(votes.none), -1);
  cpp_rational sum = 0;
  int64_t subsets = 0;
  for (uint32_t set = 0; set < (1u << ballot.size()); ++set) {
    if (std::popcount(set) != k) continue;
    int64_t right = 0;
    std::vector<int64_t> wrong(votes.wrong.size(), 0);
    for (size_t i = 0; i < ballot.size(); ++i) {
      if (!(set >> i & 1) || ballot[i] < 0) continue;
      ++(ballot[i] == 0 ? right : wrong[static_cast<size_t>(ballot[i]) - 1]);
    }
    sum += Taken(right, wrong);
    ++subsets;
  }
  return cpp_rational(sum / cpp_rational(subsets)).convert_to<double>();
}

cpp_int Choose(int64_t from, int64_t count) {
  cpp_int ways = 1;
  for (int64_t i = 0; i < count; ++i) ways = ways * (from - i) / (i + 1);
  return ways;
}

// The same in whole numbers for more samples than can be counted one by one: over every way to take so many
// of each answer, times the ways there are to do that.
double ByCounts(const Votes& votes, int64_t k) {
  std::vector<int64_t> kinds = {votes.right};
  kinds.insert(kinds.end(), votes.wrong.begin(), votes.wrong.end());
  std::vector<int64_t> taken(kinds.size(), 0);
  cpp_rational sum = 0;
  const std::function<void(size_t, int64_t, const cpp_int&)> take = [&](size_t kind, int64_t left,
                                                                        const cpp_int& ways) {
    if (kind == kinds.size()) {
      if (left > votes.none) return;
      sum += Taken(taken[0], {taken.begin() + 1, taken.end()}) * (ways * Choose(votes.none, left));
      return;
    }
    for (taken[kind] = 0; taken[kind] <= std::min(kinds[kind], left); ++taken[kind])
      take(kind + 1, left - taken[kind], ways * Choose(kinds[kind], taken[kind]));
  };
  take(0, k, 1);
  // A rational one: Boost 1.81 divides the rational number 1 by any whole number to 1.
  const cpp_rational all = Choose(votes.samples(), k);
  return cpp_rational(sum / all).convert_to<double>();
}

TEST(MajorityAtK, EqualsTheMeanOverAllSubsets) {
  int cases = 0;
  for (int right = 0; right <= 4; ++right)
    for (int none = 0; none <= 2; ++none)
      for (const std::vector<int64_t>& wrong :
           {std::vector<int64_t>{}, {1}, {3}, {1, 1}, {2, 2}, {3, 1, 1}, {2, 2, 2}, {1, 1, 1, 1}}) {
        const Votes votes{right, wrong, none};
        for (int k = 1; k <= votes.samples(); ++k, ++cases)
          EXPECT_NEAR(*MajorityAtK(votes, k), BySubsets(votes, k), 1e-12)
              << right << " right, " << none << " without, " << testing::PrintToString(wrong) << ", k " << k;
      }
  EXPECT_GT(cases, 500);
}

TEST(MajorityAtK, EqualsWholeNumbersForMoreSamples) {
  for (const Votes& votes : {Votes{12, {10, 9, 1, 1}, 7}, Votes{3, {20, 2, 2}, 5}, Votes{16, {16, 16}, 0},
                             Votes{1, {1, 1, 1, 1, 1, 1, 1, 1}, 4}, Votes{40, {30, 20}, 10}})
    for (int64_t k = 1; k <= votes.samples(); k += 3)
      EXPECT_NEAR(*MajorityAtK(votes, k), ByCounts(votes, k), 1e-11) << votes.right << ", k " << k;
}

TEST(MajorityAtK, OneSampleIsThePlainShare) {
  EXPECT_EQ(MajorityAtK({3, {2, 1}, 4}, 1), 0.3);
  EXPECT_EQ(MajorityAtK({0, {2, 1}, 4}, 1), 0.0);
}

TEST(MajorityAtK, TiesAreDrawnEvenly) {
  EXPECT_EQ(MajorityAtK({2, {2}, 0}, 4), 0.5);
  EXPECT_EQ(MajorityAtK({2, {2, 2, 1}, 3}, 10), 1.0 / 3);
  EXPECT_EQ(MajorityAtK({2, {3}, 0}, 5), 0.0);
}

TEST(MajorityAtK, WhatHasNoAnswerNeverWins) {
  EXPECT_EQ(MajorityAtK({1, {}, 9}, 10), 1.0);
  EXPECT_EQ(MajorityAtK({0, {}, 5}, 3), 0.0);
  // Of two chosen of which one has the answer, that one decides.
  EXPECT_NEAR(*MajorityAtK({1, {}, 4}, 2), 0.4, 1e-15);
}

TEST(MajorityAtK, IsNotDefinedForMoreThanThereAre) {
  EXPECT_FALSE(MajorityAtK({2, {1}, 1}, 5));
  EXPECT_FALSE(MajorityAtK({}, 1));
  EXPECT_THROW(MajorityAtK({1, {1}, 1}, 0), std::invalid_argument);
  EXPECT_THROW(MajorityAtK({-1, {1}, 1}, 1), std::invalid_argument);
  EXPECT_THROW(MajorityAtK({1, {-1}, 1}, 1), std::invalid_argument);
  EXPECT_THROW(MajorityAtK({1, {1}, -1}, 1), std::invalid_argument);
}

// Hundreds of samples, all their answers different: the most that has to be gone through.
TEST(MajorityAtK, ManySamplesTakeNoLongTime) {
  const Votes votes{16, std::vector<int64_t>(200, 1), 40};
  double before = 0;
  for (const int64_t k : {2, 16, 64, 128, 255}) {
    const double now = *MajorityAtK(votes, k);
    EXPECT_GE(now, before);
    EXPECT_LE(now, 1);
    before = now;
  }
  EXPECT_EQ(MajorityAtK(votes, 256), 1.0);
}

}  // namespace
}  // namespace fullband
