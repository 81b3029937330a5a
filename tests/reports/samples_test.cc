#include "reports/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "evals/store/store.h"
#include "reports/report.h"
#include "tests/reports/faults.h"
#include "tests/reports/made_results.h"
#include "tests/reports/synthetic_store.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const MadeSample kRight{Result::kCorrect, 10, false, "same", 0};
const MadeSample kNone{Result::kNoAnswer};
const MadeSample kFault{Result::kFault};
const MadeSample kOpen{Result::kUngraded};
MadeSample Wrong(int answer) { return {Result::kIncorrect, 10, false, "same", answer}; }

RunResults Made(const std::vector<std::vector<MadeSample>>& items) {
  RunResults results = MakeResults("standard", items);
  results.compares_answers = true;
  return results;
}

TEST(SampleFigures, AreMeansOverItems) {
  // By hand. Item 0: two of four right; item 1: none, its answers agree; item 2: all.
  const RunResults results = Made({{kRight, Wrong(1), kRight, kNone},
                                   {Wrong(1), Wrong(1), Wrong(1), Wrong(2)},
                                   {kRight, kRight, kRight, kRight}});
  const SampleFigures figures = FiguresOfSamples(results, {1, 2, 4, 8});
  EXPECT_EQ(figures.samples, 4);
  EXPECT_DOUBLE_EQ(*figures.accuracy, 0.5);
  EXPECT_NEAR(*figures.error, std::sqrt(0.25 / 3), 1e-15);  // of 0.5, 0, 1
  EXPECT_THAT(figures.by_sample, ElementsAre(2.0 / 3, 1.0 / 3, 2.0 / 3, 1.0 / 3));
  EXPECT_NEAR(*figures.spread, std::sqrt(1.0 / 27), 1e-15);
  ASSERT_EQ(figures.pass.size(), 3u);  // 8 is not defined
  EXPECT_DOUBLE_EQ(*figures.pass[0].mean, 0.5);
  EXPECT_NEAR(*figures.pass[1].mean, (5.0 / 6 + 0 + 1) / 3, 1e-15);  // of 6 pairs one holds no right one
  EXPECT_NEAR(
      *figures.pass[1].error,
      std::sqrt((std::pow(5.0 / 6 - 11.0 / 18, 2) + std::pow(11.0 / 18, 2) + std::pow(1 - 11.0 / 18, 2)) / 2 /
                3),
      1e-15);
  EXPECT_NEAR(*figures.pass[2].mean, 2.0 / 3, 1e-15);
  ASSERT_EQ(figures.majority.size(), 3u);
  EXPECT_DOUBLE_EQ(*figures.majority[0].mean, 0.5);
  // Item 0, pairs: the right two (1), right and wrong (4 of them none, two are a tie: 2 x 1/2), right and
  // none (2 x 1), wrong and none (0): (1 + 2 * 0.5 + 2) / 6.
  EXPECT_NEAR(*figures.majority[1].mean, (4.0 / 6 + 0 + 1) / 3, 1e-15);
  EXPECT_NEAR(*figures.majority[2].mean, 2.0 / 3, 1e-15);
}

TEST(SampleFigures, WhatDoesNotCountIsLeftOutAndSaid) {
  const RunResults results = Made({{kRight, kFault, Wrong(1), kOpen}, {kRight, kRight, kRight, kRight}, {}});
  const SampleFigures figures = FiguresOfSamples(results, {1, 2, 4});
  EXPECT_DOUBLE_EQ(*figures.accuracy, 0.75);
  EXPECT_THAT(figures.by_sample, ElementsAre(1, 1, 0.5, 1));
  EXPECT_EQ(figures.pass[0].items, 2);
  EXPECT_EQ(figures.pass[0].short_items, 0);
  EXPECT_DOUBLE_EQ(*figures.pass[1].mean, 1);
  EXPECT_EQ(figures.pass[2].items, 1);
  EXPECT_EQ(figures.pass[2].short_items, 1);
  EXPECT_DOUBLE_EQ(*figures.pass[2].mean, 1);
  EXPECT_FALSE(figures.pass[2].error);  // of one item
  EXPECT_DOUBLE_EQ(*figures.majority[1].mean, 0.75);
  EXPECT_EQ(figures.majority[2].short_items, 1);
}

TEST(SampleFigures, WithoutAnyVerdictThereAreNone) {
  const SampleFigures figures = FiguresOfSamples(Made({{kFault, kFault}, {kOpen, kFault}}), {1, 2});
  EXPECT_FALSE(figures.accuracy);
  EXPECT_FALSE(figures.error);
  EXPECT_FALSE(figures.spread);
  EXPECT_FALSE(figures.pass[0].mean);
  EXPECT_EQ(figures.pass[0].short_items, 2);
}

TEST(SampleFigures, NoMajorityWhereAnswersAreNotCompared) {
  RunResults results = Made({{kRight, kNone}});
  results.compares_answers = false;
  EXPECT_TRUE(FiguresOfSamples(results, {1, 2}).majority.empty());
}

// As reported of other harnesses: repeats of one question count as independent.
TEST(SampleFigures, ReportedFault) {
  const nlohmann::json fault = FindFault("S05");
  std::vector<std::vector<MadeSample>> items;
  for (const nlohmann::json& repeats : fault.at("input").at("scores")) {
    auto& samples = items.emplace_back();
    for (const nlohmann::json& score : repeats) samples.push_back(score == 1 ? kRight : Wrong(1));
  }
  EXPECT_NEAR(*FiguresOfSamples(Made(items), {1}).error,
              fault.at("expected").at("se_clustered").get<double>(), 1e-7);
}

TEST(SampleFigures, TheUsualKs) {
  EXPECT_THAT(UsualKs(1), ElementsAre(1));
  EXPECT_THAT(UsualKs(2), ElementsAre(1, 2));
  EXPECT_THAT(UsualKs(10), ElementsAre(1, 2, 4, 5, 8, 10));
  EXPECT_THAT(UsualKs(25), ElementsAre(1, 2, 4, 5, 8, 16, 25));
}

struct SampleReport : testing::Test {
  TempFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder / "s.db", StoreMode::kReadWrite);
  ReportOptions options;

  void SetUp() override {
    // Answers with the same text are the same.
    options.read.answers = [](const RunRecord&, const std::vector<GradeRecord>& grades) {
      std::vector<int> numbers;
      for (const GradeRecord& grade : grades)
        numbers.push_back(grade.outcome == "correct"     ? 0
                          : grade.outcome == "no_answer" ? -1
                                                         : std::stoi(grade.extracted));
      return std::optional(numbers);
    };
    SyntheticRun run{"standard", {}};
    const auto add = [&](const std::string& item, const std::vector<std::string>& outcomes,
                         const std::string& wrong) {
      for (const std::string& outcome : outcomes)
        run.samples.push_back({item, outcome, 10, "end", "", "{}", {}, outcome == "incorrect" ? wrong : "7"});
    };
    add("0", {"correct", "incorrect", "incorrect", "no_answer"}, "3");
    add("1", {"correct", "correct", "incorrect", "fault"}, "4");
    AddSyntheticRun(*store, run);
  }
};

TEST_F(SampleReport, ShowsSpreadAndChances) {
  const std::string report = RenderReport(*store, options);
  EXPECT_THAT(
      report,
      HasSubstr(
          "completion, 5 shots, 4 samples |       4 | 45.8 % ± 20.8 |      0.0 … 100.0 % |      47.9 |"));
  EXPECT_THAT(report, HasSubstr("clustered by item (Student's t over the means of items' samples)"));
  EXPECT_THAT(report, HasSubstr("|        pass@1 |        pass@2 |  pass@4 |"));
  EXPECT_THAT(report, HasSubstr("| 45.8 % ± 20.8 | 75.0 % ± 25.0 | 100.0 % |"));
  // Of item 0's pairs: right and wrong twice (1/2), right and none once; of item 1's: both right once, a tie
  // twice.
  EXPECT_THAT(report, HasSubstr("| 45.8 % ± 20.8 | 50.0 % ± 16.7 | 0.0 % |"));
  EXPECT_THAT(report,
              HasSubstr("items left out because fewer than k of their samples count: 1 of 2 for k = 4.\n"));
}

TEST_F(SampleReport, TakesOtherKs) {
  options.pass_k = {3};
  const std::string report = RenderReport(*store, options);
  EXPECT_THAT(report, HasSubstr("pass@3 |"));
  EXPECT_THAT(report, Not(HasSubstr("pass@1")));
  options.pass_k = {5};
  try {
    RenderReport(*store, options);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_EQ(error.subject(), "--pass-k 5");
    EXPECT_THAT(error.why(), HasSubstr("the most is 4"));
  }
}

TEST_F(SampleReport, IsSilentAboutRunsOfOneSample) {
  const auto other = OpenStore(folder / "other.db", StoreMode::kReadWrite);
  AddSyntheticRun(*other, {"standard", {{"0", "correct", 10, "end"}}});
  const std::string report = RenderReport(*other, options);
  EXPECT_THAT(report, Not(HasSubstr("pass@")));
  EXPECT_THAT(report, Not(HasSubstr("Several samples")));
}

TEST_F(SampleReport, WithoutAWayToCompareThereIsNoMajority) {
  const std::string report = RenderReport(*store);
  EXPECT_THAT(report, HasSubstr("pass@2"));
  EXPECT_THAT(report, Not(HasSubstr("maj@")));
}

}  // namespace
}  // namespace fullband
