#include "evals/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "evals/progress.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SummaryTable, AlignsAndLeavesOutWhatDoesNotApply) {
  RunSummary generate;
  generate.model = "größe";
  generate.suite = "gsm8k";
  generate.setting = "latent@2";
  generate.key = "0123456789abcdef";
  generate.generates = true;
  generate.samples = 11;
  generate.faults = 1;
  generate.correct = 4;
  generate.truncated = 2;
  generate.trace_tokens = 805;
  generate.tokens = 1000;
  generate.seconds = 100;
  RunSummary choose;
  choose.model = "m";
  choose.suite = "arc_easy";
  choose.setting = "standard";
  choose.key = "fedcba98";
  choose.samples = 3;
  choose.correct = 3;
  EXPECT_EQ(
      SummaryTable({generate, choose}),
      "model  suite     setting   run        n  faults  accuracy  truncated  mean trace          tokens/s\n"
      "größe  gsm8k     latent@2  01234567  11       1    40.0 %     20.0 %        80.5  10.0 in 1:40 min\n"
      "m      arc_easy  standard  fedcba98   3           100.0 %          -           -                 "
      "-\n");
}

TEST(SummaryTable, HasTheChancesOfSeveralSamples) {
  RunSummary row;
  row.model = "m";
  row.samples = 8;
  row.per_item = 4;
  row.pass = 0.75;
  EXPECT_THAT(SummaryTable({row, RunSummary()}), HasSubstr("accuracy     pass@k  maj@k  truncated"));
  EXPECT_THAT(SummaryTable({row, RunSummary()}), HasSubstr("0.0 %  75.0 % @4      -"));
}

// Two items of two samples each, and one of which a sample is a fault.
TEST(Summarize, CountsOnlyItemsWithAllTheirSamples) {
  TempFolder folder;
  const auto store = OpenStore(folder / "s.db", StoreMode::kReadWrite);
  RunRecord run;
  run.key = "k";
  run.identity = "{}";
  run.model_id = store->AddModel({});
  run.suite = "s";
  run.ask = "generate";
  run.headline = "number";
  run.id = store->AddRun(run);
  std::vector<ItemRecord> items(3);
  for (int i = 0; i < 3; ++i) {
    items[i].item = std::to_string(i);
    items[i].position = i;
  }
  store->AddItems(run.id, items);
  store->ReplaceLease(run.id, "", {"host", 1, "process", "token", UtcNow()});
  SessionRecord session;
  session.run_id = run.id;
  session.id = store->AddSession(session);
  const char* outcomes[3][2] = {{"correct", "incorrect"}, {"incorrect", "incorrect"}, {"correct", "fault"}};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) {
      SampleRecord sample;
      sample.item_id = store->Items(run.id).at(i).id;
      sample.sample = j;
      sample.finished = UtcNow();
      const int64_t id = store->AddSample(sample, "token", session);
      store->AddGrades({{id, "number", 1, outcomes[i][j], 0, "3", ""}});
    }
  }
  const RunSummary summary = Summarize(*store, run, "m", {});
  EXPECT_EQ(summary.per_item, 2);
  EXPECT_DOUBLE_EQ(summary.Accuracy(), 0.4);
  EXPECT_DOUBLE_EQ(summary.pass.value(), 0.5);
  EXPECT_DOUBLE_EQ(summary.majority.value(), 0.25);  // a tie, and none right
  EXPECT_DOUBLE_EQ(Summarize(*store, run, "m", {"0"}).pass.value(), 1);
  EXPECT_FALSE(Summarize(*store, run, "m", {"2"}).pass);
}

TEST(RunSummary, NoAccuracyWithoutAnswers) {
  RunSummary none;
  EXPECT_TRUE(std::isnan(none.Accuracy()));
  none.samples = none.faults = 2;
  EXPECT_TRUE(std::isnan(none.Accuracy()));
  EXPECT_THAT(SummaryTable({none}), Not(HasSubstr("nan")));
}

TEST(DurationText, ReadsWell) {
  EXPECT_EQ(DurationText(0.4), "0 s");
  EXPECT_EQ(DurationText(59.4), "59 s");
  EXPECT_EQ(DurationText(59.6), "1:00 min");
  EXPECT_EQ(DurationText(754), "12:34 min");
  EXPECT_EQ(DurationText(3 * 3600 + 5 * 60 + 10), "3:05:10 h");
}

TEST(ProgressLine, SaysWhatIsKnown) {
  ProgressState state;
  state.run = "gsm8k latent";
  state.total = 100;
  EXPECT_EQ(ProgressLine(state), "gsm8k latent: 0/100");
  state.done_before = 20;
  state.done = 60;
  state.tokens = 4000;
  state.seconds = 80;
  state.counted = 50;
  state.correct = 20;
  EXPECT_EQ(ProgressLine(state), "gsm8k latent: 60/100, 50.0 tokens/s, accuracy 40.0 %, 1:20 min left");
  state.done = 100;
  EXPECT_THAT(ProgressLine(state), HasSubstr("took 1:20 min"));
}

// What a progress with these options writes over a run of three samples.
std::string Written(bool terminal, bool quiet) {
  char* buffer = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&buffer, &size);
  Progress progress(out, terminal, quiet);
  progress.Begin("s latent", 3, 1);
  progress.Advance(2, 10, 3, 1);
  progress.End(3, 1);
  std::fclose(out);
  const std::string text(buffer, size);
  free(buffer);
  return text;
}

TEST(Progress, IsPlainInLogsAndSilentWhenAsked) {
  EXPECT_EQ(Written(true, true), "");
  EXPECT_THAT(Written(false, false), HasSubstr("s latent: 1 of 3 are in the store already\n"));
  EXPECT_THAT(Written(false, false), Not(HasSubstr("\x1b")));
  EXPECT_THAT(Written(false, false), HasSubstr("s latent: 3/3"));
  EXPECT_THAT(Written(true, false), HasSubstr("\r\x1b[Ks latent: 3/3"));
}

}  // namespace
}  // namespace fullband
