#include "engine/compute/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "common/error.h"
#include "common/hash.h"
#include "engine/compute/random.h"

namespace fullband {
namespace {

using testing::ElementsAre;
using Floats = std::vector<float>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// Shares of 20,000 draws.
std::map<int32_t, double> Shares(const Floats& logits, SampleSpec spec) {
  constexpr int kDraws = 20000;
  spec.key = RandomKey(1, 2, 3);
  std::map<int32_t, double> shares;
  for (int i = 0; i < kDraws; ++i) {
    spec.counter = i;
    shares[SampleToken(logits, spec)] += 1.0 / kDraws;
  }
  return shares;
}

// The expected probabilities of the tokens `kept` at a temperature.
std::map<int32_t, double> Softmax(const Floats& logits, double temperature,
                                  const std::vector<int32_t>& kept) {
  std::map<int32_t, double> p;
  double sum = 0;
  for (int32_t token : kept) sum += p[token] = std::exp(logits[token] / temperature);
  for (auto& [token, value] : p) value /= sum;
  return p;
}

// Many ties, NaN and infinities in places that differ with `seed`.
Floats RoughLogits(int size, uint64_t seed) {
  Floats logits;
  for (int i = 0; i < size; ++i) {
    const uint64_t bits = Mix64(seed << 32 | i);
    const float special[] = {kNan, kInf, -kInf, 0.0f, -0.0f};
    logits.push_back(bits % 11 < seed % 3 ? special[bits / 11 % 5] : static_cast<float>(bits / 64 % 40));
  }
  return logits;
}

std::vector<int32_t> BestBySorting(const Floats& logits, size_t count) {
  const auto rank = [&](int32_t token) { return std::isnan(logits[token]) ? -kInf : logits[token]; };
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return rank(a) > rank(b); });
  order.resize(std::min(count, order.size()));
  return order;
}

Floats Maxima(const Floats& logits) {
  Floats maxima((logits.size() + kLogitBlock - 1) / kLogitBlock, -kInf);
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > maxima[i / kLogitBlock]) maxima[i / kLogitBlock] = logits[i];
  }
  return maxima;
}

// Five standard deviations of a share over 20,000 draws are below 0.018.
bool Near(const std::map<int32_t, double>& got, const std::map<int32_t, double>& expected) {
  return got.size() == expected.size() && std::all_of(got.begin(), got.end(), [&](const auto& entry) {
           return expected.contains(entry.first) && std::abs(expected.at(entry.first) - entry.second) < 0.018;
         });
}

const Floats kLogits = {1.0f, 0.2f, 2.0f, -1.0f, 1.5f};

TEST(BestTokens, AgreesWithSortingWithAndWithoutMaxima) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Floats logits = RoughLogits(1 + seed * 7 % 400, seed);
    const Floats maxima = Maxima(logits);
    for (int count : {1, 2, 5, 70, 500}) {
      const std::vector<int32_t> expected = BestBySorting(logits, count);
      EXPECT_EQ(BestTokens(logits, count), expected) << seed;
      EXPECT_EQ(BestTokens(logits, count, maxima), expected) << seed;
    }
    EXPECT_EQ(SampleToken(logits, {}, maxima), BestBySorting(logits, 1).front());
  }
  const Floats broken(200, kNan);
  EXPECT_THAT(BestTokens(broken, 3, Maxima(broken)), ElementsAre(0, 1, 2));
}

TEST(BestTokens, OrdersByLogitThenId) {
  EXPECT_THAT(BestTokens(kLogits, 2), ElementsAre(2, 4));
  EXPECT_THAT(BestTokens(kLogits, 9), ElementsAre(2, 4, 0, 1, 3));
  EXPECT_THAT(BestTokens(Floats{3, 5, 5, 3, 5}, 4), ElementsAre(1, 2, 4, 0));
  EXPECT_THAT(BestTokens(Floats{-kInf, -kInf}, 1), ElementsAre(0));
  EXPECT_THAT(BestTokens(Floats(200, 1.0f), 3), ElementsAre(0, 1, 2));
}

TEST(BestTokens, EqualsAFullSort) {
  Floats logits;
  for (int i = 0; i < 1000; ++i) logits.push_back(std::floor(Uniform(5, i) * 100));
  std::vector<int32_t> order(logits.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return logits[a] > logits[b]; });
  order.resize(37);
  EXPECT_EQ(BestTokens(logits, 37), order);
}

TEST(BestTokens, RanksNanLast) {
  EXPECT_THAT(BestTokens(Floats{kNan, 1, kNan, 2}, 3), ElementsAre(3, 1, 0));
  EXPECT_THAT(BestTokens(Floats{kNan, kNan}, 2), ElementsAre(0, 1));
}

TEST(SampleToken, GreedyTakesTheLowestOfEquals) {
  EXPECT_EQ(SampleToken(Floats{0, 3, 3, 1}, {}), 1);
  EXPECT_EQ(SampleToken(Floats{kNan, 0, 3}, {}), 2);
}

TEST(SampleToken, FollowsTheSoftmax) {
  EXPECT_TRUE(Near(Shares(kLogits, {.temperature = 1}), Softmax(kLogits, 1, {0, 1, 2, 3, 4})));
  EXPECT_TRUE(Near(Shares(kLogits, {.temperature = 0.5}), Softmax(kLogits, 0.5, {0, 1, 2, 3, 4})));
  EXPECT_TRUE(Near(Shares(kLogits, {.temperature = 3}), Softmax(kLogits, 3, {0, 1, 2, 3, 4})));
  // The comparison would notice a temperature that is off by a fifth.
  EXPECT_FALSE(Near(Shares(kLogits, {.temperature = 1}), Softmax(kLogits, 1.2, {0, 1, 2, 3, 4})));
}

TEST(SampleToken, TopKKeepsTheLargest) {
  EXPECT_TRUE(Near(Shares(kLogits, {.temperature = 1, .top_k = 3}), Softmax(kLogits, 1, {0, 2, 4})));
  EXPECT_TRUE(Near(Shares(kLogits, {.temperature = 1, .top_k = 1}), Softmax(kLogits, 1, {2})));
  EXPECT_TRUE(Near(Shares(Floats{1, 1, 1}, {.temperature = 1, .top_k = 2}), {{0, 0.5}, {1, 0.5}}));
}

TEST(SampleToken, TopPKeepsTheSmallestSetThatReachesIt) {
  // Probabilities 0.5, 0.3 and 0.2.
  const Floats logits = {std::log(0.3f), std::log(0.5f), std::log(0.2f)};
  EXPECT_TRUE(Near(Shares(logits, {.temperature = 1, .top_p = 0.45f}), {{1, 1.0}}));
  EXPECT_TRUE(Near(Shares(logits, {.temperature = 1, .top_p = 0.55f}), {{0, 0.375}, {1, 0.625}}));
  EXPECT_TRUE(Near(Shares(logits, {.temperature = 1, .top_p = 0.85f}), {{0, 0.3}, {1, 0.5}, {2, 0.2}}));
  EXPECT_TRUE(Near(Shares(logits, {.temperature = 1, .top_p = 1e-6f}), {{1, 1.0}}));
  // After top-k, which comes first: 0.5 and 0.3 become 0.625 and 0.375.
  EXPECT_TRUE(Near(Shares(logits, {.temperature = 1, .top_k = 2, .top_p = 0.6f}), {{1, 1.0}}));
}

TEST(SampleToken, CutsThatRemoveNothingChangeNoDraw) {
  for (uint64_t counter = 0; counter < 200; ++counter) {
    const SampleSpec plain = {.temperature = 1, .key = 5, .counter = counter};
    SampleSpec cut = plain;
    cut.top_k = 5;
    EXPECT_EQ(SampleToken(kLogits, plain), SampleToken(kLogits, cut));
    cut.top_p = 0.9999999f;
    EXPECT_EQ(SampleToken(kLogits, plain), SampleToken(kLogits, cut));
  }
}

TEST(SampleToken, NeverDrawsTheImpossible) {
  const std::map<int32_t, double> shares = Shares(Floats{-kInf, 0, kNan, 0, -kInf}, {.temperature = 1});
  EXPECT_TRUE(Near(shares, {{1, 0.5}, {3, 0.5}}));
}

TEST(SampleToken, StaysWithinTheVocabularyOnBrokenLogits) {
  for (const Floats& logits : {Floats{kNan, kNan}, Floats{-kInf, -kInf}, Floats{kInf, 1}}) {
    const int32_t token = SampleToken(logits, {.temperature = 1, .top_k = 1, .top_p = 0.5f});
    EXPECT_TRUE(token == 0 || token == 1);
  }
}

TEST(SampleToken, RefusesSpecsOutOfRange) {
  EXPECT_THROW(SampleToken(kLogits, {.temperature = -1}), Error);
  EXPECT_THROW(SampleToken(kLogits, {.temperature = kNan}), Error);
  EXPECT_THROW(SampleToken(kLogits, {.temperature = kInf}), Error);
  EXPECT_THROW(SampleToken(kLogits, {.temperature = 1, .top_k = -1}), Error);
  EXPECT_THROW(SampleToken(kLogits, {.temperature = 1, .top_p = 0}), Error);
  EXPECT_THROW(SampleToken(kLogits, {.temperature = 1, .top_p = 1.5f}), Error);
}

TEST(AnswerQuery, ReadsEverythingOffOneRow) {
  double sum = 0;
  for (float logit : kLogits) sum += std::exp(double{logit});
  const double log_sum = std::log(sum);
  Query query;
  query.targets = {3, 0};
  query.top = 2;
  query.sample = true;
  query.spec = {.temperature = 0.3f, .top_k = 1};
  const QueryResult result = AnswerQuery(query, kLogits, log_sum);
  ASSERT_EQ(result.target_logprobs.size(), 2u);
  EXPECT_FLOAT_EQ(result.target_logprobs[0], -1 - log_sum);
  EXPECT_FLOAT_EQ(result.target_logprobs[1], 1 - log_sum);
  ASSERT_EQ(result.top.size(), 2u);
  EXPECT_EQ(result.top[1].token, 4);
  EXPECT_FLOAT_EQ(result.top[1].logprob, 1.5 - log_sum);
  // The log-probability of a sample is that of the untempered softmax.
  EXPECT_EQ(result.sampled.token, 2);
  EXPECT_FLOAT_EQ(result.sampled.logprob, 2 - log_sum);
}

}  // namespace
}  // namespace fullband
