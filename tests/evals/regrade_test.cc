#include "evals/regrade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "common/error.h"
#include "evals/grading.h"
#include "evals/lease.h"
#include "tests/evals/graded_store.h"
#include "tests/evals/toy_run.h"
#include "tests/support/temp_folder.h"
#include "tests/tasks/own_suite.h"

namespace fullband {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct RegradeTest : testing::Test {
  TempFolder folder;
  std::filesystem::path path = folder / "s.db";
  std::unique_ptr<Store> store = OpenStore(path, StoreMode::kReadWrite);
  Suite suite = LoadSuite("mini_gsm8k");
  RegradeRequest request;

  void SetUp() override {
    request.store = path;
    request.suite = "mini_gsm8k";
  }
  int64_t AddRun(const std::string& setting = "standard") {
    return AddUngradedRun(
        *store, suite, setting,
        {{"a", "7", "#### 7"}, {"a", "7", "no idea"}, {"b", "8", "It is 9."}, {"c", "1", "", "lost"}});
  }
  RegradeResult Again() const {
    Progress progress(stderr, false, true);
    return Regrade(request, progress);
  }
  void Grade(int64_t run, const std::string& outcome, int version, size_t sample = 0,
             const std::string& detail = "") {
    store->ReplaceGrades({{store->SampleIds(run).at(sample), "number", version, outcome, 0, "7", detail}});
  }
  std::vector<std::string> Outcomes(int64_t run, const std::string& grader) {
    std::vector<std::string> outcomes;
    for (const GradeRecord& grade : store->Grades(run))
      if (grade.grader == grader) outcomes.push_back(grade.outcome);
    return outcomes;
  }
  // The error; nothing where there is none.
  std::optional<Error> ErrorOf() const {
    try {
      Again();
    } catch (const Error& error) {
      return error;
    }
    return std::nullopt;
  }
};

TEST_F(RegradeTest, GradesWhatHasNoVerdict) {
  const int64_t run = AddRun();
  const RegradeResult result = Again();
  ASSERT_THAT(result.rows, SizeIs(suite.graders.size()));
  const RegradeRow& row = result.rows.front();
  EXPECT_EQ(row.grader, "number");
  EXPECT_EQ(row.graded, 4);
  EXPECT_EQ(row.correct, 1);
  EXPECT_EQ(row.counted, 3);
  EXPECT_EQ(row.faults, 1);
  EXPECT_EQ(row.previous, 0);
  EXPECT_TRUE(result.faults);
  EXPECT_THAT(Outcomes(run, "number"), ElementsAre("correct", "no_answer", "incorrect", "fault"));
  EXPECT_THAT(RegradeTable(result.rows), HasSubstr("1/3"));
}

TEST_F(RegradeTest, TheSameVersionSaysTheSame) {
  AddRun();
  Again();
  const auto before = Content(path);
  const RegradeResult result = Again();
  EXPECT_EQ(result.rows.front().graded, 0);
  EXPECT_EQ(result.rows.front().same, 4);
  EXPECT_EQ(result.rows.front().correct, 1);
  EXPECT_FALSE(result.different);
  EXPECT_EQ(Content(path), before);
  request.missing = true;
  EXPECT_EQ(Again().rows.front().same, 0);
}

TEST_F(RegradeTest, AVerdictThatDiffersIsToldAndKept) {
  const int64_t run = AddRun();
  Again();
  Grade(run, "incorrect", suite.graders.empty() ? 0 : FindGrader("number").version);
  RegradeResult result = Again();
  EXPECT_TRUE(result.different);
  EXPECT_EQ(result.rows.front().different, 1);
  EXPECT_EQ(result.rows.front().same, 3);
  EXPECT_EQ(result.rows.front().replaced, 0);
  EXPECT_EQ(result.rows.front().correct, 0);
  ASSERT_THAT(result.notes, SizeIs(1));
  EXPECT_THAT(result.notes.front(), HasSubstr("item a, sample 0: number version"));
  EXPECT_THAT(result.notes.front(), HasSubstr("had said incorrect (7), and now says correct (7)"));
  EXPECT_EQ(Outcomes(run, "number").front(), "incorrect");
  request.replace = true;
  result = Again();
  EXPECT_EQ(result.rows.front().replaced, 1);
  EXPECT_EQ(Outcomes(run, "number").front(), "correct");
  EXPECT_FALSE(Again().different);
}

TEST_F(RegradeTest, WhatWasNoVerdictGivesWay) {
  const int64_t run = AddRun();
  Again();
  Grade(run, "fault", FindGrader("number").version, 0, "grader_failed");
  Grade(run, "timeout", FindGrader("number").version, 1);
  const RegradeResult result = Again();
  EXPECT_FALSE(result.different);
  EXPECT_EQ(result.rows.front().replaced, 2);
  EXPECT_THAT(Outcomes(run, "number"), ElementsAre("correct", "no_answer", "incorrect", "fault"));
}

TEST_F(RegradeTest, EarlierVersionsStayAndChangesAreCounted) {
  const int64_t run = AddRun();
  const int version = FindGrader("number").version;
  Grade(run, "incorrect", version - 1, 0);
  Grade(run, "correct", version - 1, 1);
  Grade(run, "incorrect", version - 1, 2);
  Grade(run, "correct", version - 2, 2);  // older still: not what is compared with
  const RegradeResult result = Again();
  EXPECT_EQ(result.rows.front().graded, 4);
  EXPECT_EQ(result.rows.front().previous, version - 1);
  EXPECT_EQ(result.rows.front().changed, 2);
  EXPECT_EQ(result.rows.front().gained, 1);
  EXPECT_EQ(result.rows.front().lost, 1);
  EXPECT_THAT(store->GradesOfSample(store->SampleIds(run).at(2)), SizeIs(2 + suite.graders.size()));
  EXPECT_THAT(RegradeTable(result.rows), HasSubstr("2 (+1 -1) since"));
}

TEST_F(RegradeTest, VerdictsOfANewerProgramAreTold) {
  Grade(AddRun(), "correct", FindGrader("number").version + 1);
  EXPECT_THAT(Again().notes, ElementsAre(HasSubstr("newer than this program's")));
}

TEST_F(RegradeTest, AddsAGraderThatTheRunDidNotHave) {
  const int64_t run = AddRun();
  request.graders = {"exact"};
  const RegradeResult result = Again();
  ASSERT_THAT(result.rows, SizeIs(1));
  EXPECT_THAT(Outcomes(run, "exact"), SizeIs(4));
  EXPECT_THAT(Outcomes(run, "number"), IsEmpty());
}

TEST_F(RegradeTest, RunsAreChosenByTheirKey) {
  AddRun("standard");
  AddRun("latent");
  EXPECT_THAT(Again().rows, SizeIs(2 * suite.graders.size()));
  request.run = "lat";
  const RegradeResult result = Again();
  ASSERT_THAT(result.rows, SizeIs(suite.graders.size()));
  EXPECT_EQ(result.rows.front().run.setting, "latent");
  EXPECT_EQ(result.rows.front().model, "made");
}

TEST_F(RegradeTest, ChoicesAreGradedByTheirMetrics) {
  ToyRun toy(folder / "toy.db");
  Task task = ToyChoices(6);
  task.suite.definition = LoadSuite("arc_easy").definition;
  task.suite.name = "arc_easy";
  toy.Run(task);
  request.store = folder / "toy.db";
  request.suite = "arc_easy";
  request.graders = {"acc_norm_bytes", "acc"};
  const RegradeResult result = Again();
  ASSERT_THAT(result.rows, SizeIs(2));
  EXPECT_EQ(result.rows[0].graded, 6);
  EXPECT_EQ(result.rows[1].same, 6);
}

TEST_F(RegradeTest, GradesByTheDefinitionThatWasAsked) {
  const OwnSuite own;
  const Suite asked = own.Load("own_graded.toml");
  const int64_t run = AddUngradedRun(*store, asked, "standard", {{"a", "two", "It is TWO."}});
  own.Write("own_graded.toml", Replaced(kOwnGraded, "ignore_case = true", "ignore_case = false"));
  request.suite = own.Path("own_graded.toml");
  const RegradeResult result = Again();
  EXPECT_EQ(Outcomes(run, asked.graders.front()), std::vector<std::string>{"correct"});
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("has changed since it was asked")));
  std::filesystem::remove(own.Path("own_graded.toml"));
  request.suite = asked.name;  // a suite that no file has any more
  EXPECT_EQ(Again().rows.front().same, 1);
}

TEST_F(RegradeTest, ARunAtWorkIsGradedAsFarAsItIs) {
  const int64_t run = AddRun();
  const Lease lease(path, run, "run");
  const RegradeResult result = Again();
  EXPECT_EQ(result.rows.front().graded, 4);
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("is working on it")));
}

TEST_F(RegradeTest, StopsWhenAskedTo) {
  const int64_t run = AddRun();
  const std::atomic<bool> stop = true;
  request.stop = &stop;
  EXPECT_TRUE(Again().stopped);
  EXPECT_THAT(store->Grades(run), IsEmpty());
}

TEST_F(RegradeTest, WhatDoesNotFitIsRefused) {
  AddRun();
  const auto expect = [&](const std::string& subject, const std::string& why, const std::string& remedy) {
    const std::optional<Error> error = ErrorOf();
    ASSERT_TRUE(error) << subject;
    EXPECT_EQ(error->code(), ExitCode::kUsage) << subject;
    EXPECT_THAT(error->subject(), HasSubstr(subject));
    EXPECT_THAT(error->why(), HasSubstr(why));
    EXPECT_THAT(error->remedy(), HasSubstr(remedy));
  };
  request.graders = {"nmber"};
  expect("--grader nmber", "is no grader", "number");
  request.graders = {"acc"};
  expect("--grader acc", "is no grader for mini_gsm8k", "");
  request.graders = {};
  request.run = "nothing";
  expect("run nothing", "no run", "");
  request.run = "";
  request.suite = "gsm8k";
  expect("--suite gsm8k", "has no run of it", "it has runs of mini_gsm8k");
  request.run = "standard";
  expect("--run standard", "is a run of mini_gsm8k, not of gsm8k", "");
  request.store = folder / "none.db";
  EXPECT_EQ(ErrorOf()->why(), "no such store");
  EXPECT_FALSE(std::filesystem::exists(folder / "none.db"));
}

TEST_F(RegradeTest, AStoreWithoutTheDefinitionIsRefused) {
  suite.definition = {{"name", "mini_gsm8k"}};
  AddRun();
  EXPECT_THAT(ErrorOf()->subject(), HasSubstr("run standard, suite mini_gsm8k"));
}

// Killed at any moment and started again, the grades are those of one that was not killed.
TEST_F(RegradeTest, AKillLosesNothing) {
  std::vector<GradedSample> samples;
  for (int i = 0; i < 400; ++i)
    samples.push_back({std::to_string(i), std::to_string(i), "#### " + std::to_string(i % 3 ? i : i + 1)});
  const int64_t run = AddUngradedRun(*store, suite, "standard", samples);
  store.reset();  // no connection goes through a fork
  const auto count = [&] { return OpenStore(path, StoreMode::kReadOnly)->Grades(run).size(); };
  size_t graded = 0;
  for (size_t kill_after = 1; kill_after <= 200 && graded < samples.size(); kill_after += 40) {
    const pid_t child = fork();
    if (child == 0) {
      Again();
      _exit(0);
    }
    for (int i = 0; i < 10000 && count() < graded + kill_after; ++i) usleep(100);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_GE(count(), graded);
    graded = count();
  }
  EXPECT_GT(graded, 0u);
  const RegradeResult result = Again();
  EXPECT_FALSE(result.different);
  EXPECT_EQ(result.rows.front().correct, 266);
  EXPECT_EQ(count(), samples.size() * suite.graders.size());
}

}  // namespace
}  // namespace fullband
