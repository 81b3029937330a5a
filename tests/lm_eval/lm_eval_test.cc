// The export in lm-evaluation-harness's layout: names, figures, files.
#include "reports/lm_eval/lm_eval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "common/error.h"
#include "reports/figures.h"
#include "reports/lm_eval/metrics.h"
#include "reports/lm_eval/results_file.h"
#include "tests/reports/synthetic_store.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using lm_eval::Metric;
using nlohmann::json;
using testing::ElementsAre;

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct LmEvalTest : testing::Test {
  TempFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder / "a.db", StoreMode::kReadWrite);

  std::vector<std::string> Written() {
    std::vector<std::string> files;
    for (const auto& path : WriteLmEval(ReadResults(*store), *store, folder / "out"))
      files.push_back(path.lexically_relative(folder / "out").string());
    return files;
  }
  json Results(const std::string& part) {
    for (const std::string& file : Written())
      if (file.find(part) != std::string::npos && file.find("/results_") != std::string::npos)
        return json::parse(ReadFile(folder / "out" / file));
    return nullptr;
  }
};

TEST(LmEvalMetrics, AreTheHarnessesWhereTheyJudgeTheSame) {
  const struct {
    const char *grader, *suite, *key;
  } cases[] = {{"lmeval_strict", "gsm8k", "exact_match,strict-match"},
               {"lmeval_flexible", "gsm8k", "exact_match,flexible-extract"},
               {"number", "gsm8k", "number,none"},
               {"acc", "arc_easy", "acc,none"},
               {"acc_norm", "arc_easy", "acc_norm,none"},
               {"acc_norm_bytes", "arc_easy", "acc_bytes,none"},
               {"acc_norm_tokens", "arc_easy", "acc_norm_tokens,none"},
               {"greedy", "lambada", "acc,none"},
               {"math_verify", "math500", "math_verify,none"},
               {"execute", "humaneval_plus", "pass@1,create_test"},
               {"execute", "mbpp", "pass_at_1,none"},
               {"execute", "mini_mbpp", "pass@1,none"},
               {"imported", "gsm8k", "imported,none"},
               {"imported:acc", "arc_easy", "imported:acc,none"},
               {"imported:exact_match/strict-match", "gsm8k", "imported:exact_match,strict-match"}};
  for (const auto& one : cases)
    EXPECT_EQ(lm_eval::MetricOf(one.grader, one.suite).Key(), one.key) << one.grader;
  EXPECT_EQ(lm_eval::MetricOf("lmeval_strict", "gsm8k").ErrorKey(), "exact_match_stderr,strict-match");
}

TEST(LmEvalMetrics, StandardErrorIsOfASampleMean) {
  const std::vector<double> values = {1, 0, 0, 1, 1};
  EXPECT_DOUBLE_EQ(lm_eval::StandardError(values).value(), std::sqrt(0.3) / std::sqrt(5.0));
  EXPECT_EQ(lm_eval::StandardError(std::vector<double>{1}), std::nullopt);
}

TEST(LmEvalNames, FoldersHaveNoCharactersThatFilesShouldNotHave) {
  EXPECT_EQ(lm_eval::FolderName("a/b:c"), "a__b__c");
  EXPECT_EQ(lm_eval::FolderName("a<>:b"), "a__b");
  EXPECT_EQ(lm_eval::FolderName("mini-fbt/latent@2"), "mini-fbt__latent@2");
}

TEST_F(LmEvalTest, FiguresAreTheReports) {
  AddSyntheticRun(*store, {.setting = "latent@2",
                           .samples = {{"a", "correct", 3, "end", "correct"},
                                       {"b", "incorrect", 3, "end", "correct"},
                                       {"c", "no_answer", 3, "length", "no_answer"},
                                       {"d", "fault", 0},
                                       {"e", "correct", 3, "end", "incorrect"}},
                           .open_items = {"f"}});
  const std::vector<RunResults> results = ReadResults(*store);
  const RunFigures figures = Figures(results.front());
  const json file = Results("toy-1m__latent@2");
  const json& task = file.at("results").at("gsm8k");
  EXPECT_EQ(task.at("number,none"), figures.headline.share.value());
  EXPECT_EQ(task.at("exact_match,strict-match"), 0.5);
  EXPECT_DOUBLE_EQ(task.at("number_stderr,none"), std::sqrt(1.0 / 3) / 2);
  EXPECT_EQ(task.at("sample_len"), 4);
  EXPECT_EQ(file.at("n-samples").at("gsm8k"), (json{{"original", 6}, {"effective", 4}}));
  EXPECT_EQ(file.at("fullband").at("runs").at("gsm8k").at("faults"), 1);
  EXPECT_EQ(file.at("higher_is_better").at("gsm8k"), (json{{"number", true}, {"exact_match", true}}));
}

TEST_F(LmEvalTest, EverySampleThatCountsIsALineUnderEachFilter) {
  AddSyntheticRun(*store, {.setting = "standard",
                           .samples = {{"a", "correct", 3, "end", "correct"},
                                       {"b", "incorrect", 3, "end", "no_answer"},
                                       {"c", "fault", 0},
                                       {"d", "", 3}}});
  std::vector<json> lines;
  for (const std::string& file : Written()) {
    if (file.find("samples_gsm8k_") == std::string::npos) continue;
    std::ifstream stream(folder / "out" / file);
    for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  }
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].at("filter"), "none");
  EXPECT_EQ(lines[0].at("number"), 1.0);
  EXPECT_EQ(lines[0].at("metrics"), json::array({"number"}));
  EXPECT_EQ(lines[3].at("filter"), "strict-match");
  EXPECT_EQ(lines[3].at("exact_match"), 0.0);
  EXPECT_EQ(lines[3].at("doc").at("item"), "b");
  EXPECT_EQ(lines[3].at("filtered_resps"), json::array({"[invalid]"}));
}

TEST_F(LmEvalTest, RunsOfOneSuiteGoToFilesOfTheirOwn) {
  for (const int tokens : {16, 32})
    AddSyntheticRun(*store,
                    {.setting = "standard", .samples = {{"a", "correct", 3}}, .max_new_tokens = tokens});
  AddSyntheticRun(*store,
                  {.setting = "standard", .samples = {{"a", "correct", 3}}, .suite = "arc", .choose = true});
  AddSyntheticRun(*store, {.setting = "latent:stale", .samples = {{"a", "correct", 3}}, .model = "other"});
  const std::vector<std::string> files = Written();
  EXPECT_EQ(files, Written());  // the same store, the same files
  const auto count = [&](const std::string& start) {
    return std::count_if(files.begin(), files.end(),
                         [&](const std::string& file) { return file.starts_with(start); });
  };
  EXPECT_EQ(files.size(), 7u);
  EXPECT_EQ(std::set<std::string>(files.begin(), files.end()).size(), 7u);
  EXPECT_EQ(count("toy-1m__standard/results_"), 2);
  EXPECT_EQ(count("toy-1m__standard/samples_gsm8k_"), 2);
  EXPECT_EQ(count("toy-1m__standard/samples_arc_"), 1);
  EXPECT_EQ(count("other__latent__stale/"), 2);
}

TEST_F(LmEvalTest, NamesWhatItCannotWrite) {
  AddSyntheticRun(*store, {.setting = "standard", .samples = {{"a", "correct", 3}}});
  std::ofstream(folder / "file") << "x";
  const auto results = ReadResults(*store);
  EXPECT_THROW(WriteLmEval(results, *store, folder / "file"), Error);
}

}  // namespace
}  // namespace fullband
