#include "reports/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/faults.h"
#include "tests/reports/made_results.h"

namespace fullband {
namespace {

using testing::ElementsAre;
constexpr Result kRight = Result::kCorrect, kWrong = Result::kIncorrect, kFault = Result::kFault;

TEST(Compare, CountsItemByItem) {
  const RunResults a = MakeResults(
      "standard", {{{kRight, 10}}, {{kRight, 20}}, {{kWrong, 30}}, {{kWrong, 40}}, {{kRight, 50}}});
  const RunResults b = MakeResults("latent", {{{kRight, 12}},
                                              {{kWrong, 20}},
                                              {{kRight, 24}},
                                              {{Result::kNoAnswer, 40, true, "other"}},
                                              {{kRight, 51}}});
  const Comparison comparison = Compare(a, b);
  EXPECT_TRUE(comparison.single);
  EXPECT_EQ(comparison.items, 5);
  EXPECT_EQ(comparison.both, 2);
  EXPECT_EQ(comparison.only_a, 1);
  EXPECT_EQ(comparison.only_b, 1);
  EXPECT_EQ(comparison.neither, 1);
  EXPECT_EQ(comparison.p, 1);
  EXPECT_EQ(comparison.accuracy.mean, 0);
  EXPECT_NEAR(*comparison.length.mean, -3.0 / 5, 1e-12);  // 2, 0, -6, 0, 1
  EXPECT_NEAR(*comparison.length_finished.mean, -3.0 / 4, 1e-12);
  EXPECT_EQ(comparison.length_finished.items, 4);
  EXPECT_EQ(comparison.length_right.mean, 1.5);
  EXPECT_EQ(comparison.length_right.items, 2);
  EXPECT_EQ(comparison.identical, 0.8);
  EXPECT_TRUE(comparison.also_differs.empty());
}

TEST(Compare, LeavesOutWhatHasNoValidPair) {
  const RunResults a =
      MakeResults("standard", {{{kRight}}, {{kFault}}, {{kRight}}, {{kRight}}, {}, {{kWrong}}});
  const RunResults b =
      MakeResults("latent", {{{kRight}}, {{kRight}}, {{kFault}}, {{Result::kUngraded}}, {{kRight}}, {}});
  const Comparison comparison = Compare(a, b);
  EXPECT_EQ(comparison.items, 1);
  EXPECT_EQ(comparison.both, 1);
  EXPECT_EQ(comparison.faults, 2);
  EXPECT_EQ(comparison.ungraded, 1);
  EXPECT_EQ(comparison.unpaired, 2);
}

TEST(Compare, SeveralSamplesAreAveraged) {
  const RunResults a = MakeResults("standard", {{{kRight, 10}, {kWrong, 20}}, {{kRight, 10}, {kRight, 10}}});
  const RunResults b = MakeResults("latent", {{{kRight, 10}, {kRight, 10}}, {{kRight, 10}, {kRight, 12}}});
  const Comparison comparison = Compare(a, b);
  EXPECT_FALSE(comparison.single);
  EXPECT_EQ(comparison.accuracy.mean, 0.25);
  EXPECT_EQ(comparison.length.mean, -2);
  EXPECT_EQ(comparison.length_right.items, 1);
  EXPECT_EQ(comparison.length_right.mean, 1);
}

TEST(Compare, NothingInCommon) {
  const Comparison comparison = Compare(MakeResults("standard", {{}}), MakeResults("latent", {{{kRight}}}));
  EXPECT_EQ(comparison.items, 0);
  EXPECT_EQ(comparison.unpaired, 1);
  EXPECT_FALSE(comparison.accuracy.mean);
  EXPECT_FALSE(comparison.identical);
}

TEST(CompareFaults, MoreThanTheSettingDiffers) {
  const nlohmann::json fault = FindFault("S11");
  RunResults a = MakeResults("standard", {{{kRight}}}), b = MakeResults("latent", {{{kRight}}});
  nlohmann::json left = fault.at("input").at("runA"), right = fault.at("input").at("runB");
  left["setting"] = "standard";
  right["setting"] = "latent";
  a.run.identity = left.dump();
  b.run.identity = right.dump();
  EXPECT_THAT(Compare(a, b).also_differs, ElementsAre("max_tokens (2048, 4096)", "task_version (1, 2)"));
}

TEST(CompareSettings, PairsWithinAGroup) {
  std::vector<RunResults> runs = {MakeResults("standard", {{{kRight}}}), MakeResults("latent", {{{kRight}}}),
                                  MakeResults("latent@2", {{{kRight}}}),
                                  MakeResults("standard", {{{kRight}}})};
  runs[3].run.shots = 5;  // another prompt
  const std::vector<Comparison> pairs = CompareSettings(runs);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].a, &runs[0]);
  EXPECT_EQ(pairs[0].b, &runs[1]);
  EXPECT_EQ(pairs[1].b, &runs[2]);
  EXPECT_EQ(pairs[2].a, &runs[1]);
}

TEST(CompareSettings, PrefersPairsThatDifferInTheSettingAlone) {
  std::vector<RunResults> runs = {MakeResults("standard", {{{kRight}}}),
                                  MakeResults("standard", {{{kRight}}}), MakeResults("latent", {{{kRight}}})};
  runs[1].run.identity = R"({"setting":"standard","seed":7})";
  std::vector<Comparison> pairs = CompareSettings(runs);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].a, &runs[0]);
  // Without the clean one the other is better than nothing, and says so.
  runs.erase(runs.begin());
  pairs = CompareSettings(runs);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_THAT(pairs[0].also_differs, ElementsAre("seed (7, none)"));
}

}  // namespace
}  // namespace fullband
