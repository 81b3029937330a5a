#include "reports/report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "common/error.h"
#include "reports/results.h"
#include "tests/reports/synthetic_store.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::HasSubstr;

std::string Content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

// Two items at each difficulty 1 to 12 of `swaps`, of which the second is right up to difficulty `reach` and
// the first always, and one right item of `counter`.
SyntheticRun TrackingRun(const std::string& model, const std::string& setting, int reach) {
  SyntheticRun run{setting, {}};
  run.suite = "tracking";
  run.model = model;
  for (int k = 1; k <= 12; ++k) {
    const std::string groups = R"({"kind":"swaps","difficulty":)" + std::to_string(k) + "}";
    run.samples.push_back({"a" + std::to_string(k), "correct", 1, "end", "", groups});
    run.samples.push_back(
        {"b" + std::to_string(k), k <= reach ? "correct" : "no_answer", 1, "end", "", groups});
  }
  run.samples.push_back({"c", "correct", 1, "end", "", R"({"kind":"counter","difficulty":3})"});
  return run;
}

struct ReportTest : testing::Test {
  TempFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder / "s.db", StoreMode::kReadWrite);
};

// Every kind of row once. The figures of the golden file were worked out apart from the program (see its
// comment).
TEST_F(ReportTest, EqualsTheGoldenFile) {
  AddSyntheticRun(*store, {"latent",
                           {{"0", "correct", 12, "end", "correct"},
                            {"1", "correct", 16, "end", "no_answer"},
                            {"2", "correct", 22, "stop_string", "correct"},
                            {"3", "incorrect", 40, "length", "incorrect"},
                            {"4", "correct", 18, "end", "correct"},
                            {"5", "correct", 20, "end", "correct"}},
                           {"6"},
                           "gsm8k",
                           1319});
  AddSyntheticRun(*store, {"standard",
                           {{"0", "correct", 10, "end", "correct"},
                            {"1", "incorrect", 20, "end", "incorrect"},
                            {"2", "correct", 25, "stop_string", "correct"},
                            {"3", "no_answer", 40, "length", "no_answer"},
                            {"4", "fault", 0, "", ""},
                            {"5", "timeout", 20, "end", "correct"},
                            {"6", "", 30, "end", ""}},
                           {},
                           "gsm8k",
                           1319});
  AddSyntheticRun(*store, {"standard", {{"0", "correct", 3, "end", ""}}, {}, "another"});
  AddSyntheticRun(*store, {"latent", {{"0", "incorrect", 4, "end", ""}}, {}, "another", 0, 512});
  AddSyntheticRun(*store, TrackingRun("toy-1m", "standard", 6));
  AddSyntheticRun(*store, TrackingRun("toy-1m", "latent", 9));
  AddSyntheticRun(*store, TrackingRun("toy-2m", "standard", 12));
  const std::string report = RenderReport(*store);
  const std::string golden = std::string(FULLBAND_TEST_DATA) + "/reports/report.md";
  if (std::getenv("FULLBAND_UPDATE_GOLDEN")) std::ofstream(golden) << report;
  EXPECT_EQ(report, Content(golden));
  EXPECT_EQ(RenderReport(*OpenStore(folder / "s.db", StoreMode::kReadOnly)), report);
}

// The open reproduction's GSM8K table: 1,319 items; standard against latent both right 207, only standard 71,
// only latent 153, neither 888; p = 4.452740785e-08; Wilson 0.18961 to 0.23360 and 0.24958 to 0.29761.
TEST_F(ReportTest, ShowsThePublishedFiguresOfTheOpenReproduction) {
  SyntheticRun standard{"standard", {}}, latent{"latent", {}};
  for (int i = 0; i < 1319; ++i) {
    const bool a = i < 207 + 71, b = i < 207 || (i >= 278 && i < 278 + 153);
    standard.samples.push_back({std::to_string(i), a ? "correct" : "incorrect", 20 + i % 7, "end", ""});
    latent.samples.push_back({std::to_string(i), b ? "correct" : "incorrect", 22 + i % 7, "end", ""});
  }
  AddSyntheticRun(*store, standard);
  AddSyntheticRun(*store, latent);
  const std::string report = RenderReport(*store);
  EXPECT_THAT(report, HasSubstr("| 1,319 |   21.1 % |   19.0 – 23.4 |"));
  EXPECT_THAT(report, HasSubstr("| 1,319 |   27.3 % |   25.0 – 29.8 |"));
  EXPECT_THAT(report, HasSubstr("|  207 |     71 |    153 |     888 | 4.45e-08 | 4.45e-08 |"));
  EXPECT_THAT(report, HasSubstr("| +2.0 (+2.0 … +2.0) |"));
  EXPECT_THAT(report, testing::Not(HasSubstr("incomplete")));
}

TEST_F(ReportTest, ChoicesHaveNoTraces) {
  SyntheticRun run{"standard", {{"0", "correct", 0, "", "incorrect"}, {"1", "correct", 0, "", "correct"}}};
  run.suite = "arc_easy";
  run.choose = true;
  AddSyntheticRun(*store, run);
  run.setting = "latent";
  run.samples[0].outcome = "incorrect";
  AddSyntheticRun(*store, run);
  const std::string report = RenderReport(*store);
  EXPECT_THAT(report, HasSubstr("By acc;"));
  EXPECT_THAT(report, HasSubstr("100.0 % (34.2 – 100.0) | 50.0 % (9.5 – 90.5) |"));
  EXPECT_THAT(report, HasSubstr("|    1 |      1 |      0 |       0 | 1.000 |    1.000 |"));
  for (const char* absent : {"Trace length", "found 1", "truncated traces", "tokens of"}) {
    EXPECT_THAT(report, testing::Not(HasSubstr(absent)));
  }
}

// Sums by hand: the mean of -1, -2 and -6 is -3.
TEST_F(ReportTest, OneContinuationHasAPerplexity) {
  SyntheticRun run{"standard"};
  run.choose = true;
  run.samples = {{"0", "correct", 0, "", "", "{}", -1.0},
                 {"1", "incorrect", 0, "", "", "{}", -2.0},
                 {"2", "incorrect", 0, "", "", "{}", -6.0},
                 {"3", "fault"}};
  AddSyntheticRun(*store, run);
  const std::string report = RenderReport(*store);
  EXPECT_THAT(report, HasSubstr("### Perplexity"));
  EXPECT_THAT(report, HasSubstr(" 20.086 |"));
  EXPECT_EQ(ReadResults(*store)[0].items[3].samples[0].only_logprob, std::nullopt);
}

TEST_F(ReportTest, WarnsOfTruncatedTraces) {
  SyntheticRun run{"standard", {}};
  for (int i = 0; i < 10; ++i)
    run.samples.push_back({std::to_string(i), "correct", 5, i < 1 ? "length" : "end", ""});
  AddSyntheticRun(*store, run);
  EXPECT_THAT(RenderReport(*store), testing::Not(HasSubstr("traces were truncated")));
  run.samples[1].stop_reason = "context";
  run.suite = "another";
  AddSyntheticRun(*store, run);
  EXPECT_THAT(RenderReport(*store), HasSubstr("2 of 10 traces were truncated"));
}

// As MMLU: three subjects of two categories, of 1, 2 and 4 items; the expected figures are counted by hand.
TEST_F(ReportTest, SubjectsCategoriesAndAllHaveSumsAndMeans) {
  SyntheticRun run{"standard", {}};
  run.suite = "mmlu";
  run.choose = true;
  const auto add = [&run](const std::string& category, const std::string& subject, const char* outcomes) {
    const std::string groups = fmt::format(R"({{"category":"{}","subject":"{}"}})", category, subject);
    for (int i = 0; outcomes[i]; ++i)
      run.samples.push_back({fmt::format("{}/{}", subject, i), outcomes[i] == 'r' ? "correct" : "incorrect",
                             0, "", "", groups, -1.0});
  };
  add("stem", "algebra", "rrrw");
  add("stem", "anatomy", "ww");
  add("humanities", "law", "r");
  AddSyntheticRun(*store, run);
  const std::string report = RenderReport(*store);
  EXPECT_THAT(report, HasSubstr("“all” weighs every item alike, “mean” every subject"));
  EXPECT_THAT(report,
              HasSubstr("| stem       | algebra |  75.0 % (4) |\n| stem       | anatomy |   0.0 % (2) |\n"
                        "| stem       | all     |  50.0 % (6) |\n| stem       | mean    |  37.5 % (2) |\n"
                        "| humanities | law     | 100.0 % (1) |\n| all        | all     |  57.1 % (7) |\n"
                        "| all        | mean    |  58.3 % (3) |\n"));
}

// Reported faults: a figure that could not be reproduced because template, system prompt, shots and grader
// were not stated (H02); two runs of one model that differ because one applies another template (H01).
TEST_F(ReportTest, SaysHowChatRunsWereAsked) {
  SyntheticRun run{"standard", {{"0", "correct", 5, "end", "correct"}}};
  run.chat_template = std::string(64, 'a');
  run.system = "Be brief.\nThink in steps.";
  AddSyntheticRun(*store, run);
  std::string report = RenderReport(*store);
  EXPECT_THAT(report, HasSubstr("chat, 5 shots"));
  EXPECT_THAT(report,
              HasSubstr("chat template aaaaaaaaaaaa, system prompt “Be brief. Think in steps.”, shots as "
                        "turns."));
  EXPECT_THAT(report, HasSubstr("By number;"));
  EXPECT_THAT(report, HasSubstr("lmeval_strict"));
  run.setting = "latent";
  run.chat_template = std::string(64, 'b');
  run.system = "";
  AddSyntheticRun(*store, run);
  report = RenderReport(*store);
  EXPECT_THAT(report, HasSubstr("chat template bbbbbbbbbbbb, no system prompt, shots as turns."));
  EXPECT_THAT(report, testing::ContainsRegex("the runs also differ in chat_template .*, system "));
  run.setting = "latent@2";
  for (int i = 0; i < 60; ++i) run.system += "\xC3\xA9";
  AddSyntheticRun(*store, run);
  std::string shown;
  for (int i = 0; i < 40; ++i) shown += "\xC3\xA9";
  EXPECT_THAT(RenderReport(*store), HasSubstr("system prompt “" + shown + "…”"));
}

TEST_F(ReportTest, SaysWhichRunsHaveNoGroups) {
  SyntheticRun run = TrackingRun("toy-1m", "standard", 3);
  AddSyntheticRun(*store, run);
  EXPECT_THAT(RenderReport(*store), testing::Not(HasSubstr("groups are not in the store")));
  run.setting = "latent";
  for (SyntheticSample& sample : run.samples) sample.groups = "{}";
  AddSyntheticRun(*store, run);
  const std::string report = RenderReport(*store);
  EXPECT_THAT(report, HasSubstr("| kind    | difficulty |    standard |\n"));
  EXPECT_THAT(report, HasSubstr("toy-1m, latent ("));
  EXPECT_THAT(report, HasSubstr("its items' groups are not in the store"));
}

TEST_F(ReportTest, ColumnsAreToldApart) {
  SyntheticRun run = TrackingRun("toy-1m", "standard", 3);
  AddSyntheticRun(*store, run);
  run.max_new_tokens = 512;
  AddSyntheticRun(*store, run);
  const std::string report = RenderReport(*store);
  for (const RunRecord& record : store->Runs())
    EXPECT_THAT(report, HasSubstr("standard (" + record.key.substr(0, 8) + ") |"));
}

TEST_F(ReportTest, AStoreWithoutRunsIsAnError) {
  try {
    RenderReport(*store);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.why(), "holds no runs");
    EXPECT_THAT(error.subject(), HasSubstr("s.db"));
  }
}

TEST_F(ReportTest, HostileNamesStayText) {
  SyntheticRun run{"standard", {{"0", "correct", 5, "end", ""}}};
  run.model = "<img src=x onerror=alert(1)>|*x*\n# head";
  run.chat_template = std::string(64, 'a');
  run.system = "`a` <script>\n\n| b |";
  AddSyntheticRun(*store, run);
  const std::string report = RenderReport(*store);
  const std::string name = "\\<img src=x onerror=alert(1)>\\|\\*x\\*";
  EXPECT_THAT(report, HasSubstr("| " + name + " # head | standard |"));
  EXPECT_THAT(report, HasSubstr("- " + name + " \\# head, standard ("));
  EXPECT_THAT(report, HasSubstr("system prompt “\\`a\\` \\<script>  \\| b \\|”"));
  EXPECT_THAT(report, HasSubstr("\n# gsm8k: <img src=x onerror=alert(1)>|*x* # head, standard ("));
}

}  // namespace
}  // namespace fullband
