#include "reports/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/statistics/clusters.h"
#include "tests/reports/faults.h"
#include "tests/reports/made_results.h"

namespace fullband {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
constexpr Result kRight = Result::kCorrect, kWrong = Result::kIncorrect, kFault = Result::kFault;

// So many items that both, A alone, B alone and neither got right.
std::pair<RunResults, RunResults> WithCounts(int both, int only_a, int only_b, int neither) {
  std::vector<std::vector<MadeSample>> a, b;
  const auto add = [&](int items, Result in_a, Result in_b) {
    for (int i = 0; i < items; ++i) {
      a.push_back({{in_a}});
      b.push_back({{in_b}});
    }
  };
  add(both, kRight, kRight);
  add(only_a, kRight, kWrong);
  add(only_b, kWrong, kRight);
  add(neither, kWrong, kWrong);
  return {MakeResults("standard", a), MakeResults("latent", b)};
}

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
  EXPECT_TRUE(comparison.same_model);
  EXPECT_FALSE(comparison.same_setting);
  EXPECT_EQ(comparison.items, 5);
  EXPECT_EQ(comparison.counts.both, 2);
  EXPECT_EQ(comparison.counts.only_a, 1);
  EXPECT_EQ(comparison.counts.only_b, 1);
  EXPECT_EQ(comparison.counts.neither, 1);
  EXPECT_EQ(comparison.p, 1);
  EXPECT_EQ(comparison.accuracy_a.value, 0.6);
  EXPECT_EQ(comparison.accuracy_b.value, 0.6);
  EXPECT_EQ(comparison.accuracy.value, 0);
  EXPECT_EQ(comparison.identical, 0.8);
  EXPECT_THAT(comparison.also_differs, IsEmpty());
}

// The open reproduction's GSM8K tables (standard against latent and latent@2). Its counts with Newcombe's
// interval by statsmodels are in the fixture of the statistics.
TEST(Compare, EqualsThePublishedTables) {
  const auto [a, b] = WithCounts(207, 71, 153, 888);
  const Comparison latent = Compare(a, b);
  EXPECT_NEAR(*latent.p / 4.452740785e-08, 1, 1e-9);
  EXPECT_NEAR(latent.accuracy_a.interval->low, 0.18961, 5e-6);
  EXPECT_NEAR(latent.accuracy_a.interval->high, 0.23360, 5e-6);
  EXPECT_NEAR(latent.accuracy_b.interval->low, 0.24958, 5e-6);
  EXPECT_NEAR(latent.accuracy_b.interval->high, 0.29761, 5e-6);
  EXPECT_NEAR(*latent.accuracy.value, 82.0 / 1319, 1e-12);
  const Estimate newcombe = PairedProportionDifference({207, 71, 153, 888});
  EXPECT_EQ(latent.accuracy.interval->low, newcombe.interval->low);
  EXPECT_EQ(latent.accuracy.interval->high, newcombe.interval->high);
  const auto [c, d] = WithCounts(217, 61, 231, 810);
  const Comparison twice = Compare(c, d);
  EXPECT_NEAR(*twice.p / 1.916285695e-24, 1, 1e-9);
  EXPECT_NEAR(twice.accuracy_b.interval->low, 0.31459, 5e-6);
  EXPECT_NEAR(twice.accuracy_b.interval->high, 0.36564, 5e-6);
}

TEST(Compare, OneItemMoreIsSeen) {
  const auto [a, b] = WithCounts(207, 71, 153, 888);
  const auto [c, d] = WithCounts(207, 71, 154, 887);
  EXPECT_GT(std::abs(*Compare(c, d).p / 4.452740785e-08 - 1), 0.1);
  EXPECT_LT(*Compare(c, d).p, *Compare(a, b).p);
}

TEST(Compare, LeavesOutWhatHasNoValidPair) {
  const RunResults a =
      MakeResults("standard", {{{kRight}}, {{kFault}}, {{kRight}}, {{kRight}}, {}, {{kWrong}}});
  const RunResults b =
      MakeResults("latent", {{{kRight}}, {{kRight}}, {{kFault}}, {{Result::kUngraded}}, {{kRight}}, {}});
  const Comparison comparison = Compare(a, b);
  EXPECT_EQ(comparison.items, 1);
  EXPECT_EQ(comparison.counts.both, 1);
  EXPECT_EQ(comparison.faults, 2);
  EXPECT_EQ(comparison.ungraded, 1);
  EXPECT_EQ(comparison.unpaired, 2);
}

TEST(Compare, FindsItemsThatStandElsewhere) {
  RunResults a = MakeResults("standard", {{{kRight, 10}}, {{kWrong, 20}}, {{kRight, 30}}});
  RunResults b = MakeResults("latent", {{{kRight, 11}}, {{kRight, 22}}, {{kWrong, 33}}, {{kRight, 44}}});
  std::reverse(b.items.begin(), b.items.end());
  const Comparison comparison = Compare(a, b);
  EXPECT_EQ(comparison.items, 3);
  EXPECT_EQ(comparison.unpaired, 1);
  EXPECT_EQ(comparison.counts.only_a, 1);
  EXPECT_EQ(comparison.counts.only_b, 1);
  EXPECT_EQ(comparison.lengths->all.difference.value, 2);
}

TEST(Compare, SeveralSamplesAreAveragedAndClusteredByItem) {
  const RunResults a = MakeResults(
      "standard", {{{kRight, 10}, {kWrong, 20}}, {{kRight, 10}, {kRight, 10}}, {{kWrong, 10}, {kWrong, 10}}});
  const RunResults b = MakeResults(
      "latent", {{{kRight, 10}, {kRight, 10}}, {{kRight, 10}, {kRight, 12}}, {{kRight, 10}, {kWrong, 10}}});
  const Comparison comparison = Compare(a, b);
  EXPECT_FALSE(comparison.single);
  EXPECT_EQ(comparison.accuracy_a.value, 0.5);
  // Scores 0.5, 1, 0: the error of the mean is 0.5 / √3, Student's t of 2 degrees at 95 % is 4.302653.
  EXPECT_NEAR(*comparison.accuracy_a.error, 0.288675134594813, 1e-12);
  EXPECT_EQ(comparison.accuracy_a.interval->low, 0);   // -0.742
  EXPECT_EQ(comparison.accuracy_a.interval->high, 1);  // 1.742
  EXPECT_NEAR(*comparison.accuracy.value, 1.0 / 3, 1e-12);
  // Differences 0.5, 0, 0.5. SciPy's ttest_rel: p = 0.1835034190722738, -0.383810 to 1.050477.
  EXPECT_NEAR(*comparison.p, 0.1835034190722738, 1e-12);
  EXPECT_NEAR(comparison.accuracy.interval->low, -0.3838, 1e-4);
  EXPECT_NEAR(comparison.accuracy.interval->high, 1.0505, 1e-4);
  EXPECT_EQ(comparison.counts.Items(), 0);
  EXPECT_NEAR(*comparison.lengths->all.difference.value, (-5.0 + 1 + 0) / 3, 1e-12);
  EXPECT_EQ(comparison.lengths->right.items, 1);
  EXPECT_EQ(comparison.lengths->right.difference.value, 1);
  EXPECT_FALSE(comparison.lengths->cut);
}

TEST(Compare, ItemsThatAllDifferAlikeAreNoTest) {
  const RunResults a = MakeResults("standard", {{{kWrong}, {kRight}}, {{kWrong}, {kRight}}});
  const RunResults b = MakeResults("latent", {{{kRight}, {kRight}}, {{kRight}, {kRight}}});
  const Comparison comparison = Compare(a, b);
  EXPECT_FALSE(comparison.p);
  EXPECT_EQ(comparison.accuracy.value, 0.5);
  // No spread between items: Wilson's interval of 2 items, and no point.
  EXPECT_LT(comparison.accuracy_b.interval->low, 0.4);
  EXPECT_EQ(Compare(a, a).p, 1);
}

TEST(Compare, NothingInCommon) {
  const Comparison comparison = Compare(MakeResults("standard", {{}}), MakeResults("latent", {{{kRight}}}));
  EXPECT_EQ(comparison.items, 0);
  EXPECT_EQ(comparison.unpaired, 1);
  EXPECT_FALSE(comparison.accuracy.value);
  EXPECT_FALSE(comparison.accuracy_a.value);
  EXPECT_FALSE(comparison.p);
  EXPECT_FALSE(comparison.identical);
  EXPECT_FALSE(comparison.lengths->all.difference.value);
}

TEST(Compare, NoDiscordantPairAllRightOneItem) {
  const auto [a, b] = WithCounts(3, 0, 0, 4);
  EXPECT_EQ(Compare(a, b).p, 1);
  EXPECT_LT(Compare(a, b).accuracy.interval->low, 0);
  const auto [c, d] = WithCounts(5, 0, 0, 0);
  EXPECT_EQ(Compare(c, d).accuracy_b.interval->high, 1);
  EXPECT_LT(Compare(c, d).accuracy_b.interval->low, 1);
  const auto [e, f] = WithCounts(0, 0, 1, 0);
  EXPECT_EQ(Compare(e, f).p, 1);
  EXPECT_EQ(Compare(e, f).accuracy.value, 1);
  EXPECT_FALSE(Compare(e, f).lengths->all.difference.interval);
}

TEST(Compare, ChoicesHaveNoTraces) {
  auto [a, b] = WithCounts(3, 1, 2, 4);
  a.run.ask = b.run.ask = "choose";
  EXPECT_FALSE(Compare(a, b).lengths);
  EXPECT_FALSE(Compare(a, b).identical);
  EXPECT_EQ(Compare(a, b).items, 10);
}

TEST(Compare, AsksWhatImportedRunsKnow) {
  auto [a, b] = WithCounts(3, 1, 2, 4);
  b.imported = ImportedRun{"other", "file", "fullband", {"completion"}};
  EXPECT_FALSE(Compare(a, b).lengths);
  EXPECT_FALSE(Compare(a, b).identical);
  b.imported->fields = {"trace_tokens", "tokens"};
  const Comparison comparison = Compare(a, b);
  EXPECT_TRUE(comparison.lengths);
  EXPECT_TRUE(comparison.lengths->a.truncated);
  EXPECT_FALSE(comparison.lengths->b.truncated);
  EXPECT_FALSE(comparison.lengths->finished);
  EXPECT_TRUE(comparison.identical);
}

TEST(Compare, ManyAreAsEachAlone) {
  std::vector<RunResults> runs;
  for (int run = 0; run < 3; ++run) {
    std::vector<std::vector<MadeSample>> items;
    for (int i = 0; i < 40; ++i) {
      // Run 2 has a fault, run 1 a truncated trace, so that other items count in each pair.
      const Result result = run == 2 && i == 7 ? kFault : (i * (run + 3)) % 5 < 2 ? kRight : kWrong;
      items.push_back({{result, 20 + (i * 7 + run * 3) % 31, run == 1 && i == 9}});
    }
    runs.push_back(MakeResults("latent@" + std::to_string(run + 1), items));
  }
  const RunPair pairs[] = {{&runs[0], &runs[1]}, {&runs[0], &runs[2]}, {&runs[1], &runs[2]}};
  const std::vector<Comparison> together = CompareAll(pairs);
  for (size_t i = 0; i < 3; ++i) {
    const Comparison alone = Compare(*pairs[i].a, *pairs[i].b);
    const LengthComparison &x = *together[i].lengths, &y = *alone.lengths;
    for (const auto& [left, right] :
         {std::pair(&x.all, &y.all), {&x.right, &y.right}, {&*x.finished, &*y.finished}}) {
      ASSERT_TRUE(left->difference.interval);
      EXPECT_EQ(left->difference.interval->low, right->difference.interval->low);
      EXPECT_EQ(left->ratio.interval->high, right->ratio.interval->high);
    }
  }
  EXPECT_EQ(together[1].items, 39);
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

TEST(Compare, TwoModelsDifferInWhatModelsBring) {
  RunResults a = MakeResults("latent", {{{kRight}}}), b = a;
  a.run.identity = R"({"setting":"latent","weights":"1","config":{"layers":2},"tokenizer":"x","seed":1,
                       "numerics":{"weights":"bfloat16","version":"3"},"chat_template":"p"})";
  b.run.identity = R"({"setting":"latent","weights":"2","config":{"layers":3},"tokenizer":"y","seed":2,
                       "numerics":{"weights":"float32","version":"3"},"chat_template":"q"})";
  b.run.model_id = 2;
  EXPECT_THAT(Compare(a, b).also_differs, ElementsAre(R"(chat_template ("p", "q"))", "seed (1, 2)"));
  b.run.model_id = a.run.model_id;  // one model cannot differ from itself
  EXPECT_EQ(Compare(a, b).also_differs.size(), 6u);
}

}  // namespace
}  // namespace fullband
