#include "reports/html/divergence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace fullband {
namespace {

using Traces = std::vector<std::vector<int32_t>>;

std::vector<std::span<const int32_t>> Spans(const Traces& traces) { return {traces.begin(), traces.end()}; }

size_t SharedOf(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  size_t shared = 0;
  while (shared < a.size() && shared < b.size() && a[shared] == b[shared]) ++shared;
  return shared;
}

TEST(Divergence, OfFewTraces) {
  EXPECT_TRUE(ShareBeginnings({}).order.empty());
  const Traces one = {{1, 2}};
  EXPECT_THAT(ShareBeginnings(Spans(one)).order, testing::ElementsAre(0));
  EXPECT_TRUE(ShareBeginnings(Spans(one)).shared.empty());
  EXPECT_TRUE(Partings(ShareBeginnings(Spans(one)), 0, Spans(one)).empty());
}

TEST(Divergence, OneThatEndsEarlierPartsAtItsEnd) {
  const Traces traces = {{1, 2, 3}, {1, 2}, {1, 2, 3}, {}};
  const SharedBeginnings found = ShareBeginnings(Spans(traces));
  EXPECT_THAT(found.order, testing::ElementsAre(3, 1, 0, 2));
  EXPECT_THAT(found.shared, testing::ElementsAre(0, 2, 3));
  EXPECT_THAT(Partings(found, 1, Spans(traces)), testing::ElementsAre(0, 2));
  EXPECT_THAT(Partings(found, 2, Spans(traces)), testing::ElementsAre(0, 2));
}

// What is shared by any two, and where each parts from the others, against comparing them directly.
TEST(Divergence, OfAnyTwo) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Traces traces(random() % 9);
    for (auto& trace : traces) {
      trace.resize(random() % 8);
      for (int32_t& token : trace) token = random() % 3;
    }
    const SharedBeginnings found = ShareBeginnings(Spans(traces));
    for (size_t i = 0; i < traces.size(); ++i) {
      const auto& own = traces[found.order[i]];
      std::set<size_t> expected;
      for (size_t j = 0; j < traces.size(); ++j) {
        const auto& other = traces[found.order[j]];
        const size_t shared = SharedOf(own, other);
        if (shared < own.size() || shared < other.size()) expected.insert(shared);
        size_t least = own.size();
        for (size_t k = std::min(i, j); k < std::max(i, j); ++k) least = std::min(least, found.shared[k]);
        EXPECT_EQ(least, shared);
      }
      const std::vector<size_t> partings = Partings(found, i, Spans(traces));
      EXPECT_THAT(partings, testing::ElementsAreArray(expected));
    }
  }
}

}  // namespace
}  // namespace fullband
