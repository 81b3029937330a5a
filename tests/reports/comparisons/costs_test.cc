#include "reports/comparisons/costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/made_results.h"

namespace fullband {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Costs : testing::Test {
  RunResults results = MakeResults("standard", {{{Result::kCorrect, 10}}, {{Result::kIncorrect, 20}}});
  SessionRecord session;

  Costs() {
    results.cost.generated_tokens = 30;
    results.cost.prefill_forwards = 172;
    results.cost.decode_forwards = 28;
    results.cost.decode_seconds = 0.7;
    results.cost.wall_seconds = 2;
    results.cost.peak_memory_bytes = 1 << 20;
    session.host = "here";
    session.machine = "processor, AVX2";
    session.threads = 2;
    session.batch = 8;
    session.chunk = 64;
  }
};

TEST_F(Costs, OfARun) {
  const RunCost cost = CostOf(results, {session, session});
  EXPECT_EQ(cost.seconds, 2);
  EXPECT_EQ(cost.tokens_per_second, 15);
  EXPECT_NEAR(*cost.decode_seconds_per_token, 0.025, 1e-15);
  EXPECT_EQ(cost.forwards, 200);
  EXPECT_EQ(cost.right_per_million_forwards, 5000);
  EXPECT_EQ(cost.peak_memory_bytes, 1 << 20);
  EXPECT_THAT(cost.ran_on, ElementsAre("here: processor, AVX2, 2 threads, batch 8, chunk 64"));
}

TEST_F(Costs, OverheadWhereBothRanAlike) {
  const RunCost a = CostOf(results, {session});
  results.cost.decode_seconds = 0.77;
  EXPECT_NEAR(*CompareCosts(a, CostOf(results, {session})).overhead, 0.1, 1e-12);
  SessionRecord other = session;
  other.batch = 16;
  const CostComparison costs = CompareCosts(a, CostOf(results, {other}));
  EXPECT_FALSE(costs.overhead);
  EXPECT_THAT(costs.incomparable, HasSubstr("batch 8, chunk 64, B on"));
  EXPECT_THAT(costs.incomparable, HasSubstr("batch 16"));
  EXPECT_FALSE(CompareCosts(a, CostOf(results, {session, other})).overhead);
  EXPECT_FALSE(CompareCosts(a, CostOf(results, {})).overhead);
}

TEST_F(Costs, EveryConditionCounts) {
  const RunCost a = CostOf(results, {session});
  for (const auto change :
       {+[](SessionRecord* s) { s->host = "there"; }, +[](SessionRecord* s) { s->machine = "x"; },
        +[](SessionRecord* s) { s->threads = 1; }, +[](SessionRecord* s) { s->chunk = 1; }}) {
    SessionRecord other = session;
    change(&other);
    EXPECT_FALSE(CompareCosts(a, CostOf(results, {other})).overhead);
  }
}

TEST_F(Costs, OfChoicesAndOfImportedRuns) {
  RunResults choices = results;
  choices.run.ask = "choose";
  const RunCost cost = CostOf(choices, {session});
  EXPECT_FALSE(cost.tokens_per_second);
  EXPECT_FALSE(cost.decode_seconds_per_token);
  EXPECT_EQ(cost.right_per_million_forwards, 5000);
  results.imported = ImportedRun{"other", "file", "fullband", {"generated_tokens"}};
  const RunCost imported = CostOf(results, {session});
  EXPECT_EQ(imported.tokens_per_second, 15);
  EXPECT_FALSE(imported.forwards);
  EXPECT_FALSE(imported.peak_memory_bytes);
  EXPECT_THAT(imported.ran_on, IsEmpty());
  EXPECT_FALSE(CompareCosts(imported, imported).overhead);
  results.cost.wall_seconds = 0;
  EXPECT_FALSE(CostOf(results, {}).seconds);
  EXPECT_FALSE(CostOf(results, {}).tokens_per_second);
}

}  // namespace
}  // namespace fullband
