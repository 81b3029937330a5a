#include "reports/figures.h"

#include <gtest/gtest.h>

#include "reports/statistics/proportions.h"
#include "tests/reports/faults.h"
#include "tests/reports/made_results.h"

namespace fullband {
namespace {

using nlohmann::json;
constexpr Result kRight = Result::kCorrect, kWrong = Result::kIncorrect;

TEST(Figures, FaultsAreLeftOutAndTimeOutsAreNot) {
  const RunFigures figures = Figures(MakeResults("standard", {{{kRight}},
                                                              {{kWrong}},
                                                              {{Result::kFault}},
                                                              {{Result::kTimeout}},
                                                              {{Result::kNoAnswer}},
                                                              {{Result::kUngraded}},
                                                              {}}));
  EXPECT_EQ(figures.headline.items, 4);
  EXPECT_EQ(figures.headline.share, 0.25);
  EXPECT_EQ(figures.headline.answered, 0.5);
  EXPECT_EQ(figures.headline.faults, 1);
  EXPECT_EQ(figures.headline.timeouts, 1);
  EXPECT_EQ(figures.headline.ungraded, 1);
  EXPECT_EQ(figures.items_done, 6);
  EXPECT_EQ(figures.items_open, 1);
}

TEST(Figures, ItemsNotSamplesAreCounted) {
  const RunFigures figures = Figures(MakeResults(
      "standard", {{{kRight}, {kRight}}, {{kRight}, {kWrong}}, {{kWrong}, {Result::kFault}}, {{kWrong}}}));
  EXPECT_EQ(figures.headline.items, 4);
  EXPECT_EQ(figures.headline.correct, 1.5);
  EXPECT_EQ(figures.headline.share, 0.375);
  EXPECT_EQ(figures.headline.faults, 1);
  EXPECT_EQ(figures.headline.interval.low, 0);  // 0.375 less 3.18 errors of 0.239
  EXPECT_EQ(figures.headline.interval.high, 1);
  EXPECT_EQ(figures.items_open, 1);  // one sample of two
}

// By hand: scores 1/2 four times, 0 and 1; mean 1/2, variance 0.5 / 5, error sqrt(0.1 / 6) = 0.1290994;
// Student's 97.5 % quantile at 5 degrees of freedom is 2.570582.
TEST(Figures, SeveralSamplesOfAnItemAreOneCluster) {
  const std::vector<MadeSample> half = {{kRight}, {kWrong}}, none = {{kWrong}, {kWrong}},
                                all = {{kRight}, {kRight}};
  const Accuracy accuracy = Figures(MakeResults("standard", {half, half, half, half, none, all})).headline;
  EXPECT_TRUE(accuracy.clustered);
  EXPECT_EQ(accuracy.share, 0.5);
  EXPECT_NEAR(accuracy.interval.low, 0.5 - 2.570582 * 0.1290994, 1e-6);
  EXPECT_NEAR(accuracy.interval.high, 0.5 + 2.570582 * 0.1290994, 1e-6);
}

TEST(Figures, WhereClustersTellNothingTheIntervalIsWilsons) {
  using Items = std::vector<std::vector<MadeSample>>;
  const std::vector<MadeSample> right = {{kRight}, {kRight}}, half = {{kRight}, {kWrong}};
  const std::vector<MadeSample> one = {{kRight}, {Result::kFault}}, none = {{kWrong}, {Result::kUngraded}};
  for (const Items& items : {Items{right, right, right}, Items{one, one, none}, Items{half}}) {
    const Accuracy accuracy = Figures(MakeResults("standard", items)).headline;
    EXPECT_FALSE(accuracy.clustered);
    EXPECT_EQ(accuracy.interval.low, WilsonInterval(accuracy.correct, accuracy.items).low);
    EXPECT_EQ(accuracy.interval.high, WilsonInterval(accuracy.correct, accuracy.items).high);
  }
}

TEST(Figures, OfAnEmptyRun) {
  const RunFigures figures = Figures(MakeResults("standard", {{}, {}}));
  EXPECT_FALSE(figures.headline.share);
  EXPECT_FALSE(figures.headline.answered);
  EXPECT_FALSE(figures.accuracy_of_finished);
  EXPECT_FALSE(figures.lengths.mean);
  EXPECT_EQ(figures.items_open, 2);
}

TEST(Figures, EveryGraderAndItsVersions) {
  RunResults results = MakeResults("standard", {{{kRight}}, {{kWrong}}});
  results.items[0].samples[0].grades["exact"] = {kWrong, 1};
  results.items[1].samples[0].grades["exact"] = {kWrong, 2};
  const RunFigures figures = Figures(results);
  ASSERT_EQ(figures.graders.size(), 2u);
  EXPECT_EQ(figures.graders[0].grader, "number");
  EXPECT_EQ(figures.graders[1].grader, "exact");
  EXPECT_EQ(figures.graders[1].share, 0);
  EXPECT_EQ(figures.graders[1].versions, (std::vector<int>{1, 2}));
}

TEST(FiguresFaults, TruncatedTracesStandBesideTheAccuracy) {
  const json fault = FindFault("X03");
  std::vector<std::vector<MadeSample>> items;
  for (const json& row : fault.at("input").at("rows")) {
    items.push_back({{row.at("correct") == 1 ? kRight : kWrong, 10, row.at("finish") == "length"}});
  }
  const RunFigures figures = Figures(MakeResults("standard", items));
  const json& expected = fault.at("expected");
  EXPECT_EQ(figures.headline.share, expected.at("accuracy").get<double>());
  EXPECT_EQ(figures.accuracy_of_finished, expected.at("accuracy_of_finished").get<double>());
  EXPECT_EQ(static_cast<double>(figures.lengths.truncated) / figures.lengths.samples,
            expected.at("truncated_share").get<double>());
}

TEST(FiguresFaults, LengthsOfRightAndWrongTracesApart) {
  const json fault = FindFault("TL4");
  std::vector<std::vector<MadeSample>> items;
  for (const json& row : fault.at("input").at("rows")) {
    items.push_back({{row.at(1) == 1 ? kRight : kWrong, row.at(0), row.at(2) == "length"}});
  }
  const TraceLengths lengths = Figures(MakeResults("standard", items)).lengths;
  const json& expected = fault.at("expected");
  EXPECT_EQ(lengths.mean, expected.at("mean_all").get<double>());
  EXPECT_EQ(lengths.median, expected.at("median_all").get<double>());
  EXPECT_EQ(lengths.right, expected.at("mean_correct").get<double>());
  EXPECT_EQ(lengths.wrong, expected.at("mean_wrong").get<double>());
  EXPECT_EQ(lengths.truncated, expected.at("truncated").get<int64_t>());
  EXPECT_EQ(lengths.cut, 512);
  EXPECT_NEAR(*lengths.finished, 460.0 / 3, 1e-12);
}

}  // namespace
}  // namespace fullband
