// What is refused before anything runs.
#include "evals/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>

#include "common/error.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_folder.h"
#include "tests/tasks/own_suite.h"

namespace fullband {
namespace {

using testing::HasSubstr;

struct PlanTest : testing::Test {
  TempFolder folder;
  SweepRequest request;

  void SetUp() override {
    WriteTinyFolder(folder / "latent_model");
    WriteTinyFolder(folder / "ordinary_model", Fusion::kNone);
    request.models = {(folder / "latent_model").string()};
    request.suites = {"mini_gsm8k", "mini_choice"};
    request.settings = {"standard", "latent@2"};
  }
};

TEST_F(PlanTest, ModelsTimesSuitesTimesSettings) {
  request.models.push_back((folder / "ordinary_model").string() + "/");
  request.settings = {"standard"};
  const Plan plan = MakePlan(request);
  EXPECT_EQ(plan.models.size(), 2u);
  EXPECT_EQ(plan.suites.size(), 2u);
  EXPECT_EQ(plan.suites[1].suite.name, "mini_choice");
  EXPECT_EQ(plan.settings.size(), 1u);
}

TEST_F(PlanTest, RefusesWhatCannotBeRun) {
  const auto path = [&](const char* name) { return (folder / name).string(); };
  std::filesystem::create_directory(folder / "no_tokenizer");
  for (const char* file : {"config.json", "model.safetensors"})
    std::filesystem::copy_file(folder / "latent_model" / file, folder / "no_tokenizer" / file);
  WriteTinyFolder(folder / "no_template");
  std::ofstream(folder / "no_template" / "tokenizer_config.json") << R"({"eos_token": "<end>"})";
  std::ofstream(folder / "own.toml") << "name = 3\n";
  using Change = std::function<void(SweepRequest&)>;
  const struct {
    const char* says;
    ExitCode code;
    Change change;
  } cases[] = {
      {"did you mean mini_gsm8k?", ExitCode::kUsage, [](auto& r) { r.suites = {"mini_gsm8"}; }},
      {"names mini_choice twice", ExitCode::kUsage, [](auto& r) { r.suites.push_back("mini_choice"); }},
      {"own.toml", ExitCode::kFailed, [&](auto& r) { r.suites = {path("own.toml")}; }},
      {"latent", ExitCode::kUsage, [](auto& r) { r.settings = {"latnt"}; }},
      {"names standard twice", ExitCode::kUsage, [](auto& r) { r.settings.push_back("standard@1"); }},
      {"parallel@1 means the same", ExitCode::kUsage, [](auto& r) { r.settings.push_back("parallel@1"); }},
      {"scoring only, and mini_gsm8k generates", ExitCode::kUsage,
       [](auto& r) { r.settings = {"parallel@2"}; }},
      {"latent_model", ExitCode::kUsage, [&](auto& r) { r.models = {path("latent_modl")}; }},
      {"is a file", ExitCode::kUsage, [&](auto& r) { r.models = {path("own.toml")}; }},
      {"twice", ExitCode::kUsage,
       [&](auto& r) { r.models.push_back(path("ordinary_model/../latent_model/")); }},
      {"latent_feedback", ExitCode::kUsage, [&](auto& r) { r.models = {path("ordinary_model")}; }},
      {"tokenizer.json", ExitCode::kFailed, [&](auto& r) { r.models = {path("no_tokenizer")}; }},
      {"template", ExitCode::kFailed,
       [&](auto& r) {
         r.models = {path("no_template")};
         r.task.format = Format::kChat;
       }},
      {"--system", ExitCode::kUsage, [](auto& r) { r.task.system = "Be brief."; }},
      {"--samples", ExitCode::kUsage, [](auto& r) { r.samples = 2; }},
      {"--samples", ExitCode::kUsage, [](auto& r) { r.samples = 0; }},
      {"--temperature", ExitCode::kUsage, [](auto& r) { r.sampling.temperature = -1; }},
      {"--temperature", ExitCode::kUsage, [](auto& r) { r.sampling.temperature = INFINITY; }},
      {"--top-k", ExitCode::kUsage, [](auto& r) { r.sampling.top_k = 5; }},
      {"--top-p", ExitCode::kUsage, [](auto& r) { r.sampling.top_p = 0.5; }},
      {"--top-p", ExitCode::kUsage,
       [](auto& r) {
         r.sampling.temperature = 1;
         r.sampling.top_p = 0;
       }},
      {"--suite", ExitCode::kUsage, [](auto& r) { r.suites.clear(); }},
      {"--model", ExitCode::kUsage, [](auto& r) { r.models.clear(); }},
      {"--setting", ExitCode::kUsage, [](auto& r) { r.settings.clear(); }},
  };
  for (const auto& one : cases) {
    SweepRequest changed = request;
    one.change(changed);
    try {
      MakePlan(changed);
      ADD_FAILURE() << one.says << ": not refused";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(one.says));
      EXPECT_EQ(error.code(), one.code) << error.what();
    }
  }
}

TEST_F(PlanTest, GroupsStandForTheirSuites) {
  const auto names = [&](const std::vector<std::string>& suites) {
    request.suites = suites;
    request.settings = {"standard"};
    request.grading.unprotected = true;  // whether or not this machine has a sandbox
    std::vector<std::string> planned;
    for (const TaskData& data : MakePlan(request).suites) planned.push_back(data.suite.name);
    return planned;
  };
  std::vector<std::string> mini;  // every bundled suite
  for (const std::string& name : SuiteNames())
    if (name.starts_with("mini_")) mini.push_back(name);
  ASSERT_THAT(mini, testing::IsSupersetOf({"mini_choice", "mini_gsm8k", "mini_maths"}));
  EXPECT_EQ(names({"mini"}), mini);
  // Named beside its group, a suite is asked once.
  EXPECT_EQ(names({"mini", "mini_gsm8k"}).size(), mini.size());
  EXPECT_EQ(names({"mini_gsm8k", "mini"}).front(), "mini_gsm8k");
  const OwnSuite own;
  EXPECT_EQ(names({own.Path("own_parts.toml"), "mini"}).size(), mini.size() + 1);
}

TEST_F(PlanTest, RefusesMetricsThatDoNotFitTheChoices) {
  const OwnSuite own;
  own.Write("own_continuation.toml", Replaced(kOwnContinuation, "greedy", "acc"));
  own.Write("own_choice.toml", Replaced(kOwnChoose, "\"acc\"", "\"greedy\""));
  for (const auto& [file, says] : {std::pair("own_continuation.toml", "graders: acc: compares continuations"),
                                   std::pair("own_choice.toml", "graders: greedy: judges items with one")}) {
    request.suites = {own.Path(file)};
    try {
      MakePlan(request);
      ADD_FAILURE() << file;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(says));
    }
  }
}

TEST_F(PlanTest, RefusesAnUnknownGrader) {
  const OwnSuite own;
  own.Write("own.toml", Replaced(kOwnGenerate, R"(graders = ["number"])", R"(graders = ["numbr"])"));
  own.Write("own_choice.toml", Replaced(kOwnChoose, R"("acc_norm")", R"("acc_nrm")"));
  for (const auto& [file, near] :
       {std::pair("own.toml", "number"), std::pair("own_choice.toml", "acc_norm")}) {
    request.suites = {own.Path(file)};
    try {
      MakePlan(request);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string("did you mean ") + near));
    }
  }
}

TEST_F(PlanTest, RefusesAnAnswerRuleThatIsWrongOrNobodys) {
  const OwnSuite own;
  const auto message = [&](const std::string& from, const std::string& to) -> std::string {
    own.Write("own_graded.toml", Replaced(kOwnGraded, from, to));
    request.suites = {own.Path("own_graded.toml")};
    try {
      MakePlan(request);
      return "";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(own.Path("own_graded.toml") + ", answer"));
      return error.what();
    }
  };
  EXPECT_EQ(message("exact", "exact"), "");
  EXPECT_EQ(message("[\"exact\"]", "[\"number\", \"exact\"]"), "");
  EXPECT_THAT(message("'is (", "'is (("), HasSubstr("answer.pattern: is not a regular expression"));
  EXPECT_THAT(message("exact", "number"), HasSubstr("none of the suite's graders heeds it"));
}

}  // namespace
}  // namespace fullband
