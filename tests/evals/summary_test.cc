#include "evals/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "evals/progress.h"

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
