#include "reports/statistics/truncation.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "reports/statistics/summaries.h"
#include "tests/statistics/near.h"

namespace fullband {
namespace {

using Traces = std::vector<TraceLength>;

// Weeks of remission on 6-mercaptopurine (Freireich et al. 1963), the textbooks' example of cut observations.
Traces Remissions() {
  Traces traces;
  for (const double weeks : {6, 6, 6, 7, 10, 13, 16, 22, 23}) traces.push_back({weeks, false});
  for (const double weeks : {6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35}) traces.push_back({weeks, true});
  return traces;
}

// The curve as R's survfit prints it.
TEST(KaplanMeier, EqualsThePublishedCurve) {
  const std::vector<SurvivalStep> steps = KaplanMeier(Remissions());
  const std::vector<std::pair<double, double>> published = {
      {6, 0.857}, {7, 0.807}, {10, 0.753}, {13, 0.690}, {16, 0.627}, {22, 0.538}, {23, 0.448}};
  ASSERT_EQ(steps.size(), published.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].tokens, published[i].first);
    EXPECT_NEAR(steps[i].longer, published[i].second, 5e-4);
  }
  EXPECT_EQ(steps[0].at_risk, 21);
  EXPECT_EQ(steps[0].ended, 3);
}

// R's survfit prints a mean of 23.29 restricted to 35 weeks, with an error of 2.83.
TEST(RestrictedMean, EqualsThePublishedMean) {
  for (const std::optional<double> budget :
       {std::optional<double>(), std::optional(35.0), std::optional(1000.0)}) {
    const RestrictedMean mean = RestrictedMeanOf(Remissions(), budget);
    EXPECT_EQ(mean.horizon, 35);
    EXPECT_NEAR(*mean.mean.value, 23.29, 5e-3);
    EXPECT_NEAR(*mean.mean.error, 2.83, 5e-3);
  }
}

TEST(RestrictedMean, IsThePlainMeanWhereAllCutsAreAtTheBudget) {
  const Traces traces = {{10, false}, {40, false}, {100, true}, {100, true}, {70, false}};
  const RestrictedMean mean = RestrictedMeanOf(traces, 100);
  EXPECT_NEAR(*mean.mean.value, 64, 1e-12);
  const std::vector<double> lengths = {10, 40, 100, 100, 70};
  // Greenwood divides by n, a sample's deviation by n - 1.
  EXPECT_NEAR(*mean.mean.error, *StandardError(lengths) * std::sqrt(4.0 / 5), 1e-12);
  EXPECT_NEAR(*RestrictedMeanOf(traces, 50).mean.value, 40, 1e-12);
}

TEST(RestrictedMean, OfLittle) {
  EXPECT_FALSE(RestrictedMeanOf(Traces{}).mean.value);
  const RestrictedMean one = RestrictedMeanOf(Traces{{7, false}}, 10);
  EXPECT_EQ(one.mean.value, 7);
  EXPECT_EQ(one.horizon, 10);
  EXPECT_FALSE(one.mean.interval);
  const RestrictedMean all_cut = RestrictedMeanOf(Traces{{8, true}, {9, true}}, 20);
  EXPECT_EQ(all_cut.mean.value, 9);
  EXPECT_EQ(all_cut.horizon, 9);
  EXPECT_FALSE(all_cut.mean.error);
  EXPECT_FALSE(RestrictedMeanOf(Traces{{8, false}, {9, false}}, 5).mean.error);
  EXPECT_THROW(RestrictedMeanOf(Traces{{-1, false}}), std::invalid_argument);
}

TEST(PairedRestrictedDifference, GoesNoFurtherThanBothAreKnown) {
  const Traces a = {{10, false}, {30, true}, {20, false}}, b = {{12, false}, {50, false}, {25, false}};
  EXPECT_EQ(PairedRestrictedDifference(a, b).horizon, 30);
  EXPECT_EQ(PairedRestrictedDifference(a, b, 22).horizon, 22);
  EXPECT_EQ(PairedRestrictedDifference(b, b).horizon, 50);
  // min(length, 30): 10, 30, 20 against 12, 30, 25.
  EXPECT_NEAR(*PairedRestrictedDifference(a, b, 100).mean.value, 7.0 / 3, 1e-12);
  EXPECT_FALSE(PairedRestrictedDifference(Traces{}, Traces{}).mean.value);
  EXPECT_FALSE(PairedRestrictedDifference(Traces{{3, false}}, Traces{{4, false}}).mean.interval);
  EXPECT_THAT(PairedRestrictedDifference(b, b).mean.interval, IntervalNear(0, 0, 0));
  EXPECT_THROW(PairedRestrictedDifference(a, Traces{}), std::invalid_argument);
}

TEST(Sensitivity, SaysWhatTheCutTracesMayHide) {
  const Traces a = {{10, false}, {20, false}, {100, true}, {100, true}};
  const Traces b = {{14, false}, {50, false}, {60, false}, {100, true}};
  const std::vector<double> factors = {1, 1.5, 3};
  const TruncationSensitivity of = SensitivityToTruncation(a, b, factors);
  EXPECT_EQ(of.items, 4);
  EXPECT_EQ(of.truncated_a, 2);
  EXPECT_EQ(of.truncated_b, 1);
  EXPECT_EQ(of.observed, (4 + 30 - 40 + 0) / 4.0);
  EXPECT_EQ(of.finished, 17);
  ASSERT_EQ(of.stretched.size(), 3u);
  EXPECT_EQ(of.stretched[0].difference, of.observed);
  EXPECT_EQ(of.stretched[1].difference, (4 + 30 - 90 + 0) / 4.0);
  EXPECT_EQ(of.stretched[2].difference, (4 + 30 - 240 + 0) / 4.0);
  // B is the shorter one already: more tokens in A's two against B's one only add to it.
  EXPECT_FALSE(of.tipping_tokens);
}

TEST(Sensitivity, TipsWhereTheShorterIsCutMoreOften) {
  const Traces a = {{100, true}, {100, true}, {20, false}}, b = {{100, true}, {100, false}, {50, false}};
  const TruncationSensitivity of = SensitivityToTruncation(a, b, {});
  EXPECT_EQ(of.observed, 10);
  // 30 tokens in one more cut trace of A.
  EXPECT_EQ(of.tipping_tokens, 30);
  EXPECT_EQ(SensitivityToTruncation(b, a, {}).tipping_tokens, 30);
}

TEST(Sensitivity, OfLittle) {
  const TruncationSensitivity none = SensitivityToTruncation(Traces{}, Traces{}, std::vector<double>{2});
  EXPECT_FALSE(none.observed);
  EXPECT_TRUE(none.stretched.empty());
  const TruncationSensitivity cut = SensitivityToTruncation(Traces{{9, true}}, Traces{{9, true}}, {});
  EXPECT_EQ(cut.observed, 0);
  EXPECT_FALSE(cut.finished);
  EXPECT_FALSE(cut.tipping_tokens);
  EXPECT_THROW(SensitivityToTruncation(Traces{}, Traces{{1, false}}, {}), std::invalid_argument);
}

TEST(PairedRestrictedDifferences, OfManyAreThoseOfEachAlone) {
  const std::vector<TraceLength> x = {{10, false}, {25, true}, {31, false}, {40, true}, {8, false}},
                                 y = {{12, false}, {20, false}, {30, true}, {44, true}, {9, false}},
                                 z = {{1, false}, {2, false}, {3, false}, {70, false}, {5, true}};
  const std::vector<std::span<const TraceLength>> runs = {x, y, z};
  const std::vector<PairOfTraces> pairs = {{0, 1, 35}, {1, 2, {}}, {2, 0, 50}, {0, 1, {}}, {1, 1, 20}};
  const BootstrapOptions options{0.9, 300, 4};
  const std::vector<RestrictedMean> together = PairedRestrictedDifferences(runs, pairs, options);
  ASSERT_EQ(together.size(), pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const RestrictedMean alone =
        PairedRestrictedDifference(runs[pairs[i].a], runs[pairs[i].b], pairs[i].budget, options);
    EXPECT_EQ(together[i].horizon, alone.horizon) << i;
    EXPECT_EQ(together[i].mean.value, alone.mean.value) << i;
    EXPECT_EQ(together[i].mean.interval->low, alone.mean.interval->low) << i;
    EXPECT_EQ(together[i].mean.interval->high, alone.mean.interval->high) << i;
  }
  EXPECT_NE(together[0].mean.value, together[3].mean.value);
  EXPECT_EQ(together[4].mean.value, 0);
  EXPECT_TRUE(PairedRestrictedDifferences(runs, {}).empty());
  const std::vector<std::span<const TraceLength>> uneven = {x, std::span(y).first(2)};
  EXPECT_THROW(PairedRestrictedDifferences(uneven, std::vector<PairOfTraces>{{0, 1, {}}}),
               std::invalid_argument);
}

}  // namespace
}  // namespace fullband
