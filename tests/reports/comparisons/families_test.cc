#include "reports/comparisons/families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/statistics/power.h"
#include "tests/reports/made_results.h"

namespace fullband {
namespace {

using testing::IsEmpty;
constexpr Result kRight = Result::kCorrect, kWrong = Result::kIncorrect;

// `right` of so many items are right, the first ones.
RunResults Made(const std::string& setting, int right, int items, int64_t model = 0,
                const std::string& suite = "made") {
  std::vector<std::vector<MadeSample>> samples;
  for (int i = 0; i < items; ++i) samples.push_back({{i < right ? kRight : kWrong}});
  RunResults results = MakeResults(setting, samples);
  results.run.model_id = results.model.id = model;
  results.model.name = "model " + std::to_string(model);
  results.run.suite = suite;
  return results;
}

TEST(SettingPairs, WithinAGroup) {
  std::vector<RunResults> runs = {Made("standard", 1, 1), Made("latent", 1, 1), Made("latent@2", 1, 1),
                                  Made("standard", 1, 1), Made("latent", 1, 1, 2)};
  runs[3].run.shots = 5;  // another prompt
  const std::vector<RunPair> pairs = SettingPairs(runs);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].a, &runs[0]);
  EXPECT_EQ(pairs[0].b, &runs[1]);
  EXPECT_EQ(pairs[1].b, &runs[2]);
  EXPECT_EQ(pairs[2].a, &runs[1]);
}

TEST(SettingPairs, PrefersPairsThatDifferInTheSettingAlone) {
  std::vector<RunResults> runs = {Made("standard", 1, 1), Made("standard", 1, 1), Made("latent", 1, 1)};
  runs[1].run.identity = R"({"setting":"standard","seed":7})";
  std::vector<RunPair> pairs = SettingPairs(runs);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].a, &runs[0]);
  // Without the clean one the other is better than nothing, and says so.
  runs.erase(runs.begin());
  pairs = SettingPairs(runs);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(Compare(*pairs[0].a, *pairs[0].b).also_differs, std::vector<std::string>{"seed (7, none)"});
}

TEST(ModelPairs, UnderTheSameSetting) {
  std::vector<RunResults> runs = {Made("standard", 1, 1, 1), Made("latent", 1, 1, 1),
                                  Made("standard", 1, 1, 2), Made("latent", 1, 1, 2),
                                  Made("latent", 1, 1, 3)};
  runs[4].run.format = "chat";
  const std::vector<RunPair> pairs = ModelPairs(runs);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].a, &runs[0]);
  EXPECT_EQ(pairs[0].b, &runs[2]);
  EXPECT_EQ(pairs[1].a, &runs[1]);
  EXPECT_EQ(pairs[1].b, &runs[3]);
}

// Only A: 6, 8 and 10 items, p = 2^-5, 2^-7, 2^-9. Holm: 3, 2 and 1 times, by hand.
TEST(Families, AreCorrectedTogether) {
  const std::vector<RunResults> runs = {Made("standard", 20, 40), Made("latent", 14, 40),
                                        Made("latent@2", 12, 40), Made("latent@3", 10, 40)};
  std::vector<Comparison> pairs = {Compare(runs[0], runs[1]), Compare(runs[0], runs[2]),
                                   Compare(runs[0], runs[3])};
  EXPECT_NEAR(*pairs[0].p, 1.0 / 32, 1e-12);
  CorrectFamilies(ReportFamily, &pairs);
  EXPECT_EQ(pairs[0].family, 3);
  EXPECT_NEAR(*pairs[0].adjusted_p, 1.0 / 32, 1e-12);
  EXPECT_NEAR(*pairs[1].adjusted_p, 2.0 / 128, 1e-12);
  EXPECT_NEAR(*pairs[2].adjusted_p, 3.0 / 512, 1e-12);
  EXPECT_FALSE(pairs[0].items_needed);
}

TEST(Families, AreOfOneSuiteAndModelOrSetting) {
  std::vector<RunResults> runs;
  for (const int64_t model : {1, 2})
    for (const char* setting : {"standard", "latent", "latent@2"})
      runs.push_back(Made(setting, static_cast<int>(4 + model), 20, model));
  const std::vector<Comparison> pairs = CompareSuite(runs);
  ASSERT_EQ(pairs.size(), 6u + 3u);
  for (size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(pairs[i].same_model, i < 6) << i;
    EXPECT_EQ(pairs[i].family, i < 6 ? 3 : 1) << i;
  }
}

TEST(Families, WhatIsNoTestDoesNotCount) {
  const RunResults a = Made("standard", 6, 6), b = Made("latent", 0, 6), none = Made("latent@2", 0, 0);
  std::vector<Comparison> pairs = {Compare(a, b), Compare(a, none)};
  CorrectFamilies(ReportFamily, &pairs);
  EXPECT_EQ(pairs[0].family, 1);
  EXPECT_EQ(pairs[0].adjusted_p, pairs[0].p);
  EXPECT_FALSE(pairs[1].adjusted_p);
  EXPECT_EQ(pairs[1].family, 0);
}

TEST(Families, SayHowManyItemsWouldDo) {
  const RunResults a = Made("standard", 10, 40), b = Made("latent", 13, 40), c = Made("latent@2", 10, 40);
  std::vector<Comparison> pairs = {Compare(a, b), Compare(a, c)};
  CorrectFamilies(ReportFamily, &pairs);
  EXPECT_EQ(pairs[0].p, 0.25);
  EXPECT_EQ(pairs[0].adjusted_p, 0.5);
  const DiscordantShares shares{0, 3.0 / 40};
  const int64_t needed = static_cast<int64_t>(*pairs[0].items_needed);
  EXPECT_GE(McNemarPower(needed, shares, kSignificance / 2), kPower);
  EXPECT_LT(McNemarPower(needed - 1, shares, kSignificance / 2), kPower);
  EXPECT_FALSE(pairs[1].items_needed);  // no difference: no number of items shows it
}

TEST(Families, ItemsOfSeveralSamples) {
  const RunResults a =
      MakeResults("standard", {{{kRight}, {kWrong}}, {{kRight}, {kRight}}, {{kWrong}, {kWrong}}});
  const RunResults b =
      MakeResults("latent", {{{kRight}, {kRight}}, {{kRight}, {kRight}}, {{kRight}, {kWrong}}});
  std::vector<Comparison> pairs = {Compare(a, b)};
  CorrectFamilies(ReportFamily, &pairs);
  // Deviation √(1/12), difference 1/3: (1.959964 + 0.841621)² (√(1/12) / (1/3))² = 5.887, up.
  EXPECT_EQ(pairs[0].items_needed, 6);
}

TEST(AcrossSuites, MeansOverSuitesAndItems) {
  const std::vector<RunResults> runs = {Made("standard", 2, 4, 1, "few"),    Made("latent", 3, 4, 1, "few"),
                                        Made("standard", 10, 40, 1, "many"), Made("latent", 8, 40, 1, "many"),
                                        Made("standard", 1, 2, 2, "few"),    Made("latent", 1, 2, 2, "few")};
  std::vector<Comparison> pairs = {Compare(runs[0], runs[1]), Compare(runs[2], runs[3]),
                                   Compare(runs[4], runs[5]), Compare(runs[0], runs[1])};
  const std::vector<AcrossSuites> across = CompareAcrossSuites(pairs);
  ASSERT_EQ(across.size(), 1u);  // model 2 has one suite only
  EXPECT_EQ(across[0].suites.size(), 2u);
  EXPECT_EQ(across[0].further, 1);
  EXPECT_EQ(across[0].macro_a.of.value, (0.5 + 0.25) / 2);
  EXPECT_EQ(across[0].macro_b.of.value, (0.75 + 0.2) / 2);
  EXPECT_NEAR(*across[0].macro.of.value, (0.25 - 0.05) / 2, 1e-12);
  EXPECT_NEAR(*across[0].micro_a.of.value, 12.0 / 44, 1e-12);
  EXPECT_NEAR(*across[0].micro.of.value, -1.0 / 44, 1e-12);
  EXPECT_EQ(across[0].micro.of.items, 44);
  EXPECT_TRUE(across[0].macro.of.interval);
  EXPECT_THAT(CompareAcrossSuites(std::span(pairs).subspan(2, 1)), IsEmpty());
  EXPECT_FALSE(AcrossAll(std::span(pairs).first(1)));
  EXPECT_EQ(AcrossAll(std::span(pairs).first(2))->macro.of.value, across[0].macro.of.value);
}

}  // namespace
}  // namespace fullband
