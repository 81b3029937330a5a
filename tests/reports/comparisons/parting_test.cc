#include "reports/comparisons/parting.h"

#include <gtest/gtest.h>

#include <memory>

#include "reports/comparisons/sources.h"
#include "tests/reports/synthetic_store.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

Trace Of(std::vector<int32_t> tokens, std::vector<int32_t> runner_ups = {}, std::vector<float> margins = {}) {
  return {0, std::move(tokens), std::move(runner_ups), std::move(margins)};
}

TEST(Parting, CountsTokensInCommon) {
  const RunTraces a = {{"0", {Of({1, 2, 3})}},
                       {"1", {Of({1, 2, 3, 4})}},
                       {"2", {Of({9, 2})}},
                       {"3", {Of({5, 6, 7, 8})}},
                       {"4", {Of({})}}};
  const RunTraces b = {{"0", {Of({1, 2, 3})}},
                       {"1", {Of({1, 2, 3})}},  // ends where the other goes on
                       {"2", {Of({8, 2})}},
                       {"3", {Of({5, 6, 1, 8})}},
                       {"4", {Of({})}}};
  const Parting parting = *PartingOf(a, b);
  EXPECT_EQ(parting.traces, 5);
  EXPECT_EQ(parting.identical, 2);
  EXPECT_EQ(parting.first_alike, 4);
  // 3, 0, 2 tokens in common.
  EXPECT_EQ(parting.median, 2);
  EXPECT_EQ(parting.percentile10, 0.4);
  EXPECT_EQ(parting.percentile90, 2.8);
  EXPECT_FALSE(parting.margin_a);
  EXPECT_FALSE(parting.swapped);
}

TEST(Parting, MarginsAndRunnerUpsAreThoseWhereTheyPart) {
  const RunTraces a = {{"0", {Of({1, 2, 3}, {7, 9, 7}, {5, 0.25, 5})}}, {"1", {Of({4}, {5}, {0.75})}}};
  const RunTraces b = {{"0", {Of({1, 9, 3}, {7, 2, 7}, {5, 0.5, 5})}}, {"1", {Of({6}, {4}, {1.5})}}};
  const Parting parting = *PartingOf(a, b);
  EXPECT_EQ(parting.margin_a, 0.5);
  EXPECT_EQ(parting.margin_b, 1);
  EXPECT_EQ(parting.swapped, 0.5);
}

TEST(Parting, PairsItemsAndSamples) {
  RunTraces a = {{"0", {Of({1}), Of({2})}}, {"1", {Of({3})}}};
  a[0].traces[1].sample = 1;
  RunTraces b = {{"1", {Of({3})}}, {"0", {Of({2})}}};
  b[1].traces[0].sample = 1;
  const Parting parting = *PartingOf(a, b);
  EXPECT_EQ(parting.traces, 2);
  EXPECT_EQ(parting.identical, 2);
  EXPECT_FALSE(PartingOf({}, {}));
  EXPECT_FALSE(PartingOf(a, {{"2", {Of({1})}}}));
}

struct PartingOfStores : testing::Test {
  TempFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder / "s.db", StoreMode::kReadWrite);
};

TEST_F(PartingOfStores, ReadsTraces) {
  AddSyntheticRun(*store,
                  {"standard", {{"0", "correct", 3, "length"}, {"1", "fault"}, {"2", "correct", 1, "end"}}});
  const RunTraces traces = ReadTraces(*store, store->Runs()[0]);
  ASSERT_EQ(traces.size(), 3u);
  EXPECT_EQ(traces[0].item, "0");
  EXPECT_EQ(traces[0].traces.at(0).tokens, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(traces[0].traces.at(0).margins, (std::vector<float>{0, 0, 0}));
  EXPECT_TRUE(traces[1].traces.empty());
  EXPECT_EQ(traces[2].traces.at(0).tokens.size(), 2u);  // with the end token
}

TEST_F(PartingOfStores, ComparesWhatMeansTheSame) {
  AddSyntheticRun(*store, {"standard", {{"0", "correct", 3, "length"}}});
  AddSyntheticRun(*store, {"latent", {{"0", "correct", 5, "length"}}});
  SyntheticRun other{"standard", {{"0", "correct", 3, "length"}}};
  other.model = "toy-2m";
  AddSyntheticRun(*store, other);
  std::vector<RunResults> runs = ReadResults(*store);
  EXPECT_TRUE(SameTokens(runs[0], runs[1]));
  EXPECT_FALSE(SameTokens(runs[0], runs[2]));  // two models, and no word of their tokenizers
  for (RunResults& run : runs) run.run.identity = R"({"tokenizer":"x"})";
  EXPECT_TRUE(SameTokens(runs[0], runs[2]));
  runs[2].run.identity = R"({"tokenizer":"y"})";
  EXPECT_FALSE(SameTokens(runs[0], runs[2]));
  runs[1].imported = ImportedRun{};
  EXPECT_FALSE(SameTokens(runs[0], runs[1]));
  runs[1].imported.reset();
  std::vector<Comparison> comparisons = {Compare(runs[0], runs[1]), Compare(runs[0], runs[2])};
  AddSources(SourcesOf(*store), &comparisons);
  EXPECT_EQ(comparisons[0].parting->median, 3);
  EXPECT_FALSE(comparisons[1].parting);
  EXPECT_TRUE(comparisons[1].cost);
}

}  // namespace
}  // namespace fullband
