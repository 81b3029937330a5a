#include "reports/comparisons/lengths.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reports/comparison.h"
#include "reports/statistics/bootstrap.h"
#include "tests/reports/made_results.h"

namespace fullband {
namespace {

constexpr Result kRight = Result::kCorrect, kWrong = Result::kIncorrect;

void ExpectEqual(const std::optional<Interval>& a, const std::optional<Interval>& b) {
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->low, b->low);
  EXPECT_EQ(a->high, b->high);
}

struct Lengths : testing::Test {
  RunResults a = MakeResults(
      "standard", {{{kRight, 10}}, {{kRight, 20}}, {{kWrong, 30}}, {{kWrong, 40, true}}, {{kRight, 50}}});
  RunResults b = MakeResults(
      "latent", {{{kRight, 12}}, {{kWrong, 20}}, {{kRight, 24}}, {{kWrong, 40, true}}, {{kRight, 52}}});
};

TEST_F(Lengths, OfAllOfThoseThatFinishedAndOfThoseBothGotRight) {
  const LengthComparison lengths = *Compare(a, b).lengths;
  EXPECT_EQ(lengths.all.items, 5);
  EXPECT_EQ(lengths.all.mean_a, 30);
  EXPECT_NEAR(*lengths.all.mean_b, 29.6, 1e-12);
  EXPECT_NEAR(*lengths.all.difference.value, -0.4, 1e-12);  // 2, 0, -6, 0, 2
  EXPECT_NEAR(*lengths.all.ratio.value, 148.0 / 150, 1e-12);
  EXPECT_EQ(lengths.right.items, 2);
  EXPECT_EQ(lengths.right.difference.value, 2);
  EXPECT_NEAR(*lengths.right.ratio.value, 64.0 / 60, 1e-12);
  EXPECT_EQ(lengths.finished->items, 4);
  EXPECT_EQ(lengths.finished->difference.value, -0.5);
}

TEST_F(Lengths, OfEachRun) {
  const TraceFigures figures = Compare(a, b).lengths->a;
  EXPECT_EQ(figures.mean, 30);
  EXPECT_EQ(figures.median, 30);
  EXPECT_EQ(figures.percentile10, 14);
  EXPECT_EQ(figures.percentile25, 20);
  EXPECT_EQ(figures.percentile75, 40);
  EXPECT_EQ(figures.percentile90, 46);
  EXPECT_EQ(figures.all.traces, 5);
  EXPECT_EQ(figures.right.traces, 3);
  EXPECT_NEAR(*figures.right.mean, 80.0 / 3, 1e-12);
  EXPECT_EQ(figures.wrong.mean, 35);
  EXPECT_EQ(figures.truncated->traces, 1);
  EXPECT_EQ(figures.truncated->mean, 40);
}

TEST_F(Lengths, IntervalsAreBootstrapsOverItems) {
  const LengthComparison lengths = *Compare(a, b).lengths;
  ExpectEqual(lengths.all.difference.interval, BootstrapMean(std::vector<double>{2, 0, -6, 0, 2}));
  ExpectEqual(lengths.all.ratio.interval, BootstrapRatio(std::vector<double>{10, 20, 30, 40, 50},
                                                         std::vector<double>{12, 20, 24, 40, 52}));
  // Of five items three count: the others are drawn and count nothing.
  const std::vector<double> ones = {1, 0, 0, 0, 1}, differences = {2, 0, 0, 0, 2};
  const RatioOfSums right{differences, ones, {}};
  EXPECT_EQ(lengths.right.difference.interval.has_value(), BootstrapRatios(5, {&right, 1})[0].has_value());
}

TEST(LengthsOfSamples, IntervalsAreOverTheItemsMeans) {
  const RunResults a = MakeResults("standard", {{{kRight, 10}, {kRight, 13}},
                                                {{kRight, 20}, {kWrong, 20}},
                                                {{kWrong, 31}, {kWrong, 30}},
                                                {{kRight, 5}, {kRight, 6}}});
  RunResults b = MakeResults("latent", {{{kRight, 12}, {kRight, 14}},
                                        {{kRight, 25}, {kRight, 22}},
                                        {{kWrong, 20}, {kRight, 30}},
                                        {{kRight, 9}, {kRight, 6}}});
  const LengthDifference all = Compare(a, b).lengths->all;
  EXPECT_EQ(all.difference.value, (1.5 + 3.5 - 5.5 + 2) / 4);
  ExpectEqual(all.difference.interval, BootstrapMean(std::vector<double>{1.5, 3.5, -5.5, 2}));
  // An item more in one run: means, since sums would weigh it twice.
  b.items[3].samples.push_back(b.items[3].samples[1]);
  const Estimate uneven = Compare(a, b).lengths->all.difference;
  EXPECT_EQ(uneven.value, (1.5 + 3.5 - 5.5 + 1.5) / 4);
  ExpectEqual(uneven.interval, BootstrapMean(std::vector<double>{1.5, 3.5, -5.5, 1.5}));
}

TEST_F(Lengths, CutTracesAtTheBudget) {
  a.run.identity = R"({"setting":"standard","max_new_tokens":40})";
  b.run.identity = R"({"setting":"latent","max_new_tokens":40})";
  const CutTraces cut = *Compare(a, b).lengths->cut;
  EXPECT_EQ(cut.restricted.horizon, 40);
  // Up to 40: 10 20 30 40 40 against 12 20 24 40 40.
  EXPECT_NEAR(*cut.restricted.mean.value, -0.8, 1e-12);
  ExpectEqual(cut.restricted.mean.interval, BootstrapMean(std::vector<double>{2, 0, -6, 0, 0}));
  EXPECT_EQ(cut.sensitivity.truncated_a, 1);
  EXPECT_EQ(cut.sensitivity.truncated_b, 1);
  EXPECT_TRUE(cut.sign_holds);  // as many cut in both, of the same length
}

TEST_F(Lengths, CutTracesBeforeTheHorizonTakeTheCurve) {
  a.run.identity = R"({"setting":"standard","max_new_tokens":100})";
  const CutTraces cut = *Compare(a, b).lengths->cut;
  EXPECT_EQ(cut.restricted.horizon, 100);
  std::vector<TraceLength> x = {{10, false}, {20, false}, {30, false}, {40, true}, {50, false}},
                           y = {{12, false}, {20, false}, {24, false}, {40, true}, {52, false}};
  const RestrictedMean expected = PairedRestrictedDifference(x, y, 100);
  EXPECT_EQ(cut.restricted.mean.value, expected.mean.value);
  ExpectEqual(cut.restricted.mean.interval, expected.mean.interval);
}

TEST(LengthsCut, TheSignMayHangOnThem) {
  // B is shorter as observed; its cut traces turn that.
  const RunResults a = MakeResults("standard", {{{kRight, 60}}, {{kRight, 60}}, {{kRight, 60}}});
  const RunResults b = MakeResults("latent", {{{kRight, 50}}, {{kRight, 50}}, {{kWrong, 50, true}}});
  const CutTraces cut = *Compare(a, b).lengths->cut;
  EXPECT_EQ(cut.sensitivity.observed, -10);
  EXPECT_NEAR(cut.sensitivity.stretched[0].difference, -10 + 25.0 / 3, 1e-12);
  EXPECT_GT(cut.sensitivity.stretched[2].difference, 0);
  EXPECT_FALSE(cut.sign_holds);
  EXPECT_EQ(cut.sensitivity.tipping_tokens, 30);
}

TEST(LengthsCut, AllTruncated) {
  const RunResults a = MakeResults("standard", {{{kWrong, 40, true}}, {{kWrong, 40, true}}});
  const LengthComparison lengths = *Compare(a, a).lengths;
  EXPECT_EQ(lengths.finished->items, 0);
  EXPECT_FALSE(lengths.finished->difference.value);
  EXPECT_FALSE(lengths.cut->sign_holds);
  EXPECT_EQ(lengths.cut->restricted.mean.value, 0);
  EXPECT_EQ(lengths.right.items, 0);
  EXPECT_EQ(lengths.all.ratio.value, 1);
}

TEST(LengthsCut, NoneTruncated) {
  const RunResults a = MakeResults("standard", {{{kRight, 40}}, {{kWrong, 30}}});
  const LengthComparison lengths = *Compare(a, a).lengths;
  EXPECT_FALSE(lengths.cut);
  EXPECT_EQ(lengths.finished->items, 2);
}

TEST(LengthsOfNothing, EmptyTracesHaveNoRatio) {
  const RunResults a = MakeResults("standard", {{{kRight, 0}}, {{kWrong, 0}}});
  const LengthComparison lengths = *Compare(a, a).lengths;
  EXPECT_FALSE(lengths.all.ratio.value);
  EXPECT_EQ(lengths.all.difference.value, 0);
}

}  // namespace
}  // namespace fullband
