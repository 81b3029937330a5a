// Sweeps that a file declares: what is read, and which runs it comes to.
#include "evals/sweep_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/error.h"
#include "evals/sweep_runs.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_folder.h"

namespace fullband {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct SweepFileTest : testing::Test {
  TempFolder folder;

  SweepFile Read(const std::string& text) {
    std::ofstream(folder / "a.toml") << text;
    return ReadSweepFile(folder / "a.toml");
  }
  std::string Path(const std::string& name) const { return (folder / name).string(); }

  // The runs of all models, with an identity that says nothing of them.
  std::vector<std::string> Runs(const std::string& text) {
    plans.clear();
    for (const SweepRequest& request : Read(text).requests) plans.push_back(MakePlan(request));
    std::vector<std::string> found;
    for (const SweepModel& model : ModelsOf(plans)) {
      const auto tokenizer = Tokenizer::Load(model.folder);
      const SweepRuns runs = RunsOf(model, {}, *tokenizer, 2048);
      for (const SweepRun& run : runs.runs)
        found.push_back(model.folder.filename().string() + " " + run.task->suite.name + " " +
                        run.setting.Name() + " " + FormatName(run.task->format) + " " +
                        std::to_string(run.task->shots) + ": " + std::to_string(run.task->questions.size()) +
                        " x " + std::to_string(run.samples));
    }
    return found;
  }

  std::vector<Plan> plans;
};

TEST_F(SweepFileTest, AFileWithoutGroupsIsOne) {
  const SweepFile sweep = Read(
      "store = 'runs.db'\nmodels = ['m', '/n']\nsuites = ['gsm8k', 'own.toml']\nsettings = ['standard']\n");
  EXPECT_EQ(sweep.runner.store, folder / "runs.db");
  EXPECT_EQ(sweep.report, "");
  ASSERT_EQ(sweep.requests.size(), 1u);
  EXPECT_THAT(sweep.requests[0].models, ElementsAre(Path("m"), "/n"));
  EXPECT_THAT(sweep.requests[0].suites, ElementsAre("gsm8k", Path("own.toml")));
  EXPECT_EQ(sweep.requests[0].task.format, Format::kCompletion);
  EXPECT_EQ(sweep.requests[0].task.shots, std::nullopt);
  EXPECT_EQ(sweep.runner.engine.batch, 0);
  EXPECT_EQ(sweep.runner.engine.prefix_cache, EngineOptions::kAuto);
}

TEST_F(SweepFileTest, GroupsShareWhatStandsAboveThem) {
  const SweepFile sweep = Read(R"(
store = "runs.db"
report = "out/report"
shuffle = 3
models = ["m"]
suites = ["gsm8k"]
settings = ["standard"]
limit = 5
temperature = 0.5
data_dir = "data"
[engine]
threads = 2
batch = 4
chunk = 64
prefix_cache = "2M"
kv_dtype = "bf16"
[[sweep]]
settings = ["latent", "latent@2"]
formats = ["chat", "completion"]
shots = [0, 5]
[[sweep]]
limit = 7
samples = 3
seed = 11
top_p = 1
shots = 2
)");
  EXPECT_EQ(sweep.report, folder / "out/report");
  EXPECT_EQ(sweep.runner.shuffle, 3u);
  EXPECT_EQ(sweep.runner.engine.threads, 2);
  EXPECT_EQ(sweep.runner.engine.batch, 4);
  EXPECT_EQ(sweep.runner.engine.chunk, 64);
  EXPECT_EQ(sweep.runner.engine.prefix_cache, 2 << 20);
  EXPECT_EQ(sweep.runner.engine.kv_dtype, "bf16");
  ASSERT_EQ(sweep.requests.size(), 5u);
  std::vector<std::pair<Format, int>> asked;
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_THAT(sweep.requests[i].settings, ElementsAre("latent", "latent@2"));
    EXPECT_EQ(sweep.requests[i].task.limit, 5u);
    asked.emplace_back(sweep.requests[i].task.format, sweep.requests[i].task.shots.value());
  }
  EXPECT_THAT(asked, ElementsAre(std::pair(Format::kChat, 0), std::pair(Format::kChat, 5),
                                 std::pair(Format::kCompletion, 0), std::pair(Format::kCompletion, 5)));
  const SweepRequest& last = sweep.requests[4];
  EXPECT_THAT(last.settings, ElementsAre("standard"));
  EXPECT_EQ(last.task.limit, 7u);
  EXPECT_EQ(last.task.shots, 2);
  EXPECT_EQ(last.task.data_folder, folder / "data");
  EXPECT_EQ(last.samples, 3);
  EXPECT_EQ(last.sampling.temperature, 0.5);
  EXPECT_EQ(last.sampling.seed, 11u);
  // Where each is said: what the group says itself, else what stands above.
  EXPECT_EQ(last.places.at("--samples"), Path("a.toml") + ", line 23, sweep.samples");
  EXPECT_EQ(last.places.at("--setting"), Path("a.toml") + ", line 7, settings");
  EXPECT_EQ(sweep.requests[0].places.at("--setting"), Path("a.toml") + ", line 18, sweep.settings");
}

TEST_F(SweepFileTest, ErrorsOfThePlanNameThePlace) {
  WriteTinyFolder(folder / "m");
  const SweepFile sweep =
      Read("store = 'a.db'\nmodels = ['m']\nsuites = ['mini_gsm8k']\nsettings = ['standard']\nsamples = 2\n");
  try {
    MakePlan(sweep.requests[0]);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.subject(), Path("a.toml") + ", line 5, samples");
    EXPECT_EQ(error.remedy(), "add temperature");
    EXPECT_EQ(error.code(), ExitCode::kUsage);
  }
}

constexpr char kTwoModels[] = R"(
store = "a.db"
models = ["b"]
suites = ["mini_gsm8k"]
settings = ["standard"]
limit = 4
[[sweep]]
models = ["b", "a"]
[[sweep]]
settings = ["latent"]
)";

TEST_F(SweepFileTest, AModelIsLoadedOnceInTheOrderOfItsFirstMention) {
  WriteTinyFolder(folder / "a");
  WriteTinyFolder(folder / "b");
  EXPECT_THAT(Runs(kTwoModels), ElementsAre("b mini_gsm8k standard completion 2: 4 x 1",
                                            "b mini_gsm8k latent completion 2: 4 x 1",
                                            "a mini_gsm8k standard completion 2: 4 x 1"));
}

TEST_F(SweepFileTest, WhatIsPartOfAnotherRunIsNotAskedTwice) {
  WriteTinyFolder(folder / "a");
  WriteTinyFolder(folder / "b");
  // The suite's own shots, named or not; more items in a later group; choices have one sample.
  EXPECT_THAT(
      Runs(std::string(kTwoModels) + "limit = 9\nshots = 2\n[[sweep]]\nlimit = 2\n" +
           "[[sweep]]\nsuites = ['mini_choice']\ntemperature = 1\nsamples = 4\n" +
           "[[sweep]]\nsuites = ['mini_choice']\n"),
      ElementsAre("b mini_gsm8k standard completion 2: 4 x 1", "b mini_gsm8k latent completion 2: 9 x 1",
                  "b mini_choice standard completion 5: 4 x 1", "a mini_gsm8k standard completion 2: 4 x 1"));
  // Neither covers the other: both stand.
  EXPECT_THAT(
      Runs("store = 'a.db'\nmodels = ['a']\nsuites = ['mini_gsm8k']\nsettings = ['latent']\ntemperature = 1\n"
           "[[sweep]]\nlimit = 2\nsamples = 3\n[[sweep]]\nlimit = 5\n[[sweep]]\nlimit = 1\nsamples = 2\n"),
      ElementsAre("a mini_gsm8k latent completion 2: 2 x 3", "a mini_gsm8k latent completion 2: 5 x 1"));
  // One that covers both stands in the place of the first.
  EXPECT_THAT(
      Runs("store = 'a.db'\nmodels = ['a']\nsuites = ['mini_gsm8k']\nsettings = ['latent']\ntemperature = 1\n"
           "[[sweep]]\nlimit = 2\nsamples = 3\n[[sweep]]\nlimit = 5\n[[sweep]]\nlimit = 1\nseed = 1\n"
           "[[sweep]]\nlimit = 6\nsamples = 3\n"),
      ElementsAre("a mini_gsm8k latent completion 2: 6 x 3", "a mini_gsm8k latent completion 2: 1 x 1"));
}

}  // namespace
}  // namespace fullband
