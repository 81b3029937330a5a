// The order in which samples are asked.
#include "evals/order.h"

#include <gtest/gtest.h>

namespace fullband {
namespace {

// Questions in the order in which they are asked, two samples each.
std::vector<size_t> Order(const std::vector<ExpectedLength>& expected, size_t tail) {
  std::vector<Wanted> wanted;
  for (size_t question = 0; question < expected.size(); ++question)
    for (const int sample : {0, 1}) wanted.push_back({question, sample});
  LongestFirstAtTail(expected, tail, &wanted);
  std::vector<size_t> order;
  for (size_t i = 0; i < wanted.size(); i += 2) {
    order.push_back(wanted[i].question);
    EXPECT_EQ(wanted[i + 1].question, wanted[i].question);
    EXPECT_EQ(wanted[i].sample, 0);
  }
  return order;
}

TEST(Order, LongestExpectedFirst) {
  EXPECT_EQ(Order({{5, 1}, {9, 1}, {7, 1}, {9, 1}}, 100), (std::vector<size_t>{1, 3, 2, 0}));
}

TEST(Order, OnlyTheTailIsOrdered) {
  EXPECT_EQ(Order({{1, 1}, {2, 1}, {3, 1}, {9, 1}}, 4), (std::vector<size_t>{0, 1, 3, 2}));
  EXPECT_EQ(Order({{1, 1}, {2, 1}}, 0), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(Order({}, 10), (std::vector<size_t>{}));
}

TEST(Order, WithoutTracesByPromptAndBetweenThoseThatHaveSome) {
  EXPECT_EQ(Order({{{}, 3}, {{}, 8}, {{}, 5}}, 100), (std::vector<size_t>{1, 2, 0}));
  // The unknown one is taken for 6 tokens long.
  EXPECT_EQ(Order({{{}, 3}, {4, 1}, {8, 1}}, 100), (std::vector<size_t>{2, 0, 1}));
}

}  // namespace
}  // namespace fullband
