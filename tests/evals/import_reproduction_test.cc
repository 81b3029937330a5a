// The published counts of an open reproduction of Full-bandwidth Transformers (five-shot GSM8K, 1,319 items,
// three modes of one model), written out as samples, imported and reported: its published intervals and
// p-values.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "evals/import/import.h"
#include "reports/comparisons/families.h"
#include "reports/figures.h"
#include "reports/report.h"
#include "reports/results.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr int kItems = 1319;

// As published. Which item is right under which mode is not; the counts of each pair with `standard` are.
struct Published {
  std::string setting;
  int correct;
  double low, high;
  int64_t tokens;
  double seconds;
  std::string per_second;
  int both, only_standard, only_this, neither;
  double p;
};
const Published kStandard = {"standard", 278, 0.18961, 0.23360, 115'677, 1258.1, "91.9", 278, 0, 0, 0, 1};
const Published kSoft = {"latent", 360, 0.24958, 0.29761, 125'456, 1370.5,
                         "91.5",   207, 71,      153,     888,     4.452740785e-08};
const Published kFused = {"latent@2", 448, 0.31459, 0.36564, 127'829, 1412.9,
                          "90.5",     217, 61,      231,     810,     1.916285695e-24};

// The first `correct` items are right under `standard`; of them the first `both`, and the first `only_this`
// behind them, under the other mode.
bool IsRight(const Published& mode, int item) {
  if (item < kStandard.correct) return item < mode.both;
  return item < kStandard.correct + mode.only_this;
}

struct ReproductionTest : testing::Test {
  TempFolder folder;
  std::filesystem::path store = folder / "s.db";

  void SetUp() override {
    std::ofstream data(folder / "data.jsonl");
    for (int i = 0; i < kItems; ++i)
      data << json{{"question", fmt::format("What is {} + 1?", i)}, {"answer", fmt::format("#### {}", i + 1)}}
           << "\n";
    std::ofstream(folder / "sums.toml")
        << "name = \"sums\"\nversion = 1\ntitle = \"sums\"\nask = \"generate\"\nreader = \"gsm8k_jsonl\"\n"
           "graders = [\"number\"]\n[data]\npath = \"data.jsonl\"\norigin = \"the test\"\n"
           "[shots]\ndefault = 5\n[completion]\nquestion = \"{question}\"\nanswer = \" {answer}\"\n"
           "separator = \"\\n\"\n[chat]\nquestion = \"{question}\"\nanswer = \"{answer}\"\n"
           "[generate]\nmax_new_tokens = 192\ngold = \"{final}\"\n";
  }

  // With texts, our grader judges; without, the published verdicts stand.
  ImportResult ImportMode(const Published& mode, bool texts) {
    const std::filesystem::path file = folder / (mode.setting + ".jsonl");
    std::ofstream lines(file);
    for (int i = 0; i < kItems; ++i) {
      const bool right = IsRight(mode, i);
      const int64_t length = mode.tokens / kItems + (i < mode.tokens % kItems);
      json line = {{"item", i}, {"generated_tokens", length}, {"trace_tokens", length}};
      if (texts)
        line["completion"] = fmt::format(" So it is\n#### {}", right ? i + 1 : i);
      else
        line["verdict"] = right ? "correct" : "incorrect";
      lines << line << "\n";
    }
    lines.close();
    ImportRequest request;
    request.store = store;
    request.file = file;
    request.suite = (folder / "sums.toml").string();
    request.model_name = "open reproduction";
    request.setting = mode.setting;
    request.wall_seconds = mode.seconds;
    Progress progress(stderr, false, true);
    return Import(request, progress);
  }

  void Check(bool texts) {
    for (const Published* mode : {&kStandard, &kSoft, &kFused})
      EXPECT_EQ(ImportMode(*mode, texts).correct, mode->correct);
    const auto opened = OpenStore(store, StoreMode::kReadOnly);
    const std::vector<RunResults> runs = ReadResults(*opened);
    ASSERT_EQ(runs.size(), 3u);
    std::map<std::string, const RunResults*> by_setting;
    for (const RunResults& run : runs) by_setting[run.run.setting] = &run;
    CheckAccuracies(by_setting);
    const std::vector<Comparison> pairs = CompareAll(SettingPairs(runs));
    ASSERT_EQ(pairs.size(), 3u);
    for (const Published* mode : {&kSoft, &kFused}) CheckPair(*mode, pairs);
    CheckText(RenderReport(*opened, {}));
  }

  void CheckAccuracies(const std::map<std::string, const RunResults*>& runs) {
    for (const Published* mode : {&kStandard, &kSoft, &kFused}) {
      SCOPED_TRACE(mode->setting);
      const RunResults& run = *runs.at(mode->setting);
      const Accuracy accuracy = Figures(run).headline;
      EXPECT_EQ(accuracy.items, kItems);
      EXPECT_EQ(accuracy.correct, mode->correct);
      EXPECT_EQ(fmt::format("{:.5f}", accuracy.interval.low), fmt::format("{:.5f}", mode->low));
      EXPECT_EQ(fmt::format("{:.5f}", accuracy.interval.high), fmt::format("{:.5f}", mode->high));
      EXPECT_EQ(run.cost.generated_tokens, mode->tokens);
    }
  }

  void CheckPair(const Published& mode, const std::vector<Comparison>& pairs) {
    SCOPED_TRACE(mode.setting);
    const auto pair = std::find_if(pairs.begin(), pairs.end(), [&](const Comparison& one) {
      return one.a->run.setting == "standard" && one.b->run.setting == mode.setting;
    });
    ASSERT_NE(pair, pairs.end());
    EXPECT_TRUE(pair->also_differs.empty()) << testing::PrintToString(pair->also_differs);
    EXPECT_EQ(pair->counts.both, mode.both);
    EXPECT_EQ(pair->counts.only_a, mode.only_standard);
    EXPECT_EQ(pair->counts.only_b, mode.only_this);
    EXPECT_EQ(pair->counts.neither, mode.neither);
    EXPECT_EQ(fmt::format("{:.9e}", *pair->p), fmt::format("{:.9e}", mode.p));
    EXPECT_FALSE(pair->identical);  // no tokens came with the samples
    EXPECT_FALSE(pair->lengths->finished);
    EXPECT_NEAR(*pair->lengths->all.difference.value,
                static_cast<double>(mode.tokens - kStandard.tokens) / kItems, 1e-9);
  }

  // As a reader meets them.
  void CheckText(const std::string& report) {
    for (const char* words :
         {" 19.0 – 23.4 |", " 25.0 – 29.8 |", " 31.5 – 36.6 |", " 4.45e-08 |", " 1.92e-24 |",
          "open reproduction (imported)", "115,677 |  1258.1 |     91.9 |", " 1370.5 |     91.5 |",
          " 1412.9 |     90.5 |", "that the weights are the same rests on the name alone"})
      EXPECT_THAT(report, HasSubstr(words));
    EXPECT_THAT(report, testing::Not(HasSubstr("\\*")));  // pairs that differ in more than the setting
  }
};

TEST_F(ReproductionTest, OfVerdicts) { Check(false); }
TEST_F(ReproductionTest, OfTextsThatAreGradedHere) { Check(true); }

}  // namespace
}  // namespace fullband
