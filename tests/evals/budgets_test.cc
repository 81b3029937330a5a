#include "evals/budgets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "common/error.h"
#include "evals/cuts.h"
#include "evals/graders/grader.h"
#include "tests/evals/graded_store.h"
#include "tests/evals/toy_run.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct BudgetsTest : testing::Test {
  TempFolder folder;
  std::filesystem::path path = folder / "s.db";
  std::unique_ptr<Store> store = OpenStore(path, StoreMode::kReadWrite);
  Suite suite = LoadSuite("mini_gsm8k");
  BudgetRequest request;

  void SetUp() override {
    request.regrade.store = path;
    request.regrade.suite = "mini_gsm8k";
    request.budgets = {4, 6, 7, 20};
  }
  int64_t AddRun(const std::vector<GradedSample>& samples,
                 const nlohmann::json& more = {{"max_new_tokens", 20}},
                 const std::string& setting = "standard") {
    return AddUngradedRun(*store, suite, setting, samples, more);
  }
  // One right as a whole, one that would have been right earlier, one without an answer, a fault.
  std::vector<GradedSample> Samples() const {
    return {
        {"a", "72", "#### 72"}, {"b", "7", "#### 72"}, {"c", "8", "It is eight."}, {"d", "1", "", "lost"}};
  }
  BudgetResult Grade() const {
    Progress progress(stderr, false, true);
    return RegradeBudgets(request, progress);
  }
  // "item budget outcome", with ! where the budget truncates and ? where it is not certain.
  std::vector<std::string> Outcomes(int64_t run, const std::string& grader = "number") {
    std::vector<std::string> outcomes;
    store->ForEachBudgetOutcome(run, grader, [&](const BudgetOutcome& outcome) {
      outcomes.push_back(outcome.item + " " + std::to_string(outcome.budget) + " " + outcome.outcome +
                         (outcome.truncated ? "!" : "") + (outcome.certain ? "" : "?"));
    });
    return outcomes;
  }
  int64_t LongestOf(int64_t run) {
    for (const RunRecord& record : store->Runs())
      if (record.id == run) return LongestBudget(*store, record);
    return -1;
  }
  std::optional<Error> ErrorOf() const {
    try {
      Grade();
    } catch (const Error& error) {
      return error;
    }
    return std::nullopt;
  }
};

TEST_F(BudgetsTest, GradesEveryCut) {
  const int64_t run = AddRun(Samples());
  const BudgetResult result = Grade();
  EXPECT_THAT(
      Outcomes(run),
      ElementsAre("a 4 no_answer!", "a 6 incorrect!", "a 7 correct!", "a 20 correct", "b 4 no_answer!",
                  "b 6 correct!", "b 7 incorrect!", "b 20 incorrect", "c 4 no_answer!", "c 6 no_answer!",
                  "c 7 no_answer!", "c 20 no_answer", "d 4 fault", "d 6 fault", "d 7 fault", "d 20 fault"));
  ASSERT_THAT(result.rows, SizeIs(4));
  const BudgetRow& row = result.rows[1];
  EXPECT_EQ(row.budget, 6);
  EXPECT_EQ(row.grader, "number");
  EXPECT_EQ(row.counted, 3);
  EXPECT_EQ(row.correct, 1);
  EXPECT_EQ(row.truncated, 3);
  EXPECT_EQ(row.faults, 1);
  EXPECT_TRUE(result.faults);
  EXPECT_EQ(result.rows[3].truncated, 0);
  EXPECT_THAT(BudgetTable(result.rows), HasSubstr("33.3 %"));
  EXPECT_THAT(store->Grades(run), IsEmpty());  // the ordinary verdicts are others' work
}

TEST_F(BudgetsTest, ATextIsJudgedOnce) {
  const int64_t run = AddRun({{"a", "72", "#### 72"}});
  request.budgets = {6, 7, 8, 20};
  BudgetResult result = Grade();
  EXPECT_EQ(result.rows[1].graded, 1);  // the end token alone is cut from then on
  EXPECT_EQ(result.rows[2].graded + result.rows[3].graded, 0);
  EXPECT_EQ(result.rows[2].unchanged + result.rows[3].unchanged, 2);
  // The verdict that there is is taken, whatever the text.
  const int64_t sample = store->SampleIds(run).at(0);
  store->AddGrades({{sample, "number", result.rows[0].version, "incorrect", 0, "elsewhere", ""}});
  Grade();
  EXPECT_THAT(Outcomes(run),
              ElementsAre("a 6 incorrect!", "a 7 incorrect!", "a 8 incorrect", "a 20 incorrect"));
  EXPECT_EQ(store->BudgetGrades(sample, "number", result.rows[0].version).at(3).grade.extracted, "elsewhere");
}

TEST_F(BudgetsTest, WhatIsThereIsNotGradedAgain) {
  const int64_t run = AddRun({{"a", "72", "#### 72"}, {"b", "7", "#### 72"}});
  Grade();
  const std::vector<std::string> outcomes = Outcomes(run);
  BudgetResult result = Grade();
  for (const BudgetRow& row : result.rows) {
    EXPECT_EQ(row.graded + row.unchanged, 0) << row.budget;
    EXPECT_EQ(row.kept, 2) << row.budget;
    EXPECT_EQ(row.counted, 2);
  }
  request.budgets = {5, 6};
  result = Grade();
  EXPECT_EQ(result.rows[0].graded, 2);
  EXPECT_EQ(result.rows[1].kept, 2);
  EXPECT_EQ(result.rows[1].correct, 1);
  EXPECT_THAT(Outcomes(run), SizeIs(outcomes.size() + 2));
}

TEST_F(BudgetsTest, WhatWasNoVerdictGivesWay) {
  const int64_t run = AddRun({{"a", "72", "#### 72"}});
  request.budgets = {6};
  const int version = Grade().rows.front().version;
  BudgetGradeRecord record = store->BudgetGrades(store->SampleIds(run).at(0), "number", version).at(0);
  record.grade.outcome = "timeout";
  store->ReplaceBudgetGrades({record});
  EXPECT_EQ(Grade().rows.front().graded, 1);
  EXPECT_THAT(Outcomes(run), ElementsAre("a 6 incorrect!"));
  record.grade.outcome = "correct";
  store->ReplaceBudgetGrades({record});
  EXPECT_EQ(Grade().rows.front().kept, 1);
  EXPECT_THAT(Outcomes(run), ElementsAre("a 6 correct!"));
  request.regrade.replace = true;
  Grade();
  EXPECT_THAT(Outcomes(run), ElementsAre("a 6 incorrect!"));
}

TEST_F(BudgetsTest, EarlierVersionsStay) {
  const int64_t run = AddRun({{"a", "72", "#### 72"}});
  request.budgets = {6};
  const int64_t sample = store->SampleIds(run).at(0);
  const int version = FindGrader("number").version;
  store->ReplaceBudgetGrades({{{sample, "number", version - 1, "correct", 1, "7", ""}, 6, true, 6, true},
                              {{sample, "number", version - 1, "correct", 1, "7", ""}, 5, true, 5, true}});
  Grade();
  EXPECT_THAT(store->BudgetGrades(sample, "number", version - 1), SizeIs(2));
  EXPECT_THAT(Outcomes(run), ElementsAre("a 5 correct!", "a 6 incorrect!"));
}

TEST_F(BudgetsTest, OtherGradersStandBesideTheHeadline) {
  const int64_t run = AddRun({{"a", "72", "#### 72"}});
  request.regrade.graders = {"lmeval_strict", "exact"};
  const BudgetResult result = Grade();
  EXPECT_THAT(result.rows, SizeIs(8));
  EXPECT_THAT(Outcomes(run), IsEmpty());
  EXPECT_THAT(Outcomes(run, "lmeval_strict"), SizeIs(4));
}

TEST_F(BudgetsTest, ACutInsideAThoughtHasNoAnswer) {
  const int64_t run = AddRun({{"a", "7", "<think>6</think>#### 7"}}, {{"max_new_tokens", 64}});
  request.budgets = {8, 16, 22};
  const int version = Grade().rows.front().version;
  EXPECT_THAT(Outcomes(run), ElementsAre("a 8 no_answer!", "a 16 no_answer!", "a 22 correct!"));
  const auto grades = store->BudgetGrades(store->SampleIds(run).at(0), "number", version);
  EXPECT_EQ(grades[0].grade.detail, "truncated_in_thought");
  EXPECT_EQ(grades[0].text_bytes, 8);
  EXPECT_NE(grades[1].grade.detail, "truncated_in_thought");
}

// The closing marker is a special token without text: cuts before and behind it have the same text.
TEST_F(BudgetsTest, AMarkerWithoutTextCounts) {
  const int64_t run =
      AddRun({{"a", "7", "#### 6#### 7"}},
             {{"max_new_tokens", 64},
              {"thoughts", {{"open", "[T]"}, {"close", "[/T]"}, {"open_token", 300}, {"close_token", 55}}}});
  request.budgets = {11, 12};  // 55 is "7", the last token
  Grade();
  EXPECT_THAT(Outcomes(run), ElementsAre("a 11 incorrect!", "a 12 correct!"));
}

TEST_F(BudgetsTest, AutomaticBudgetsEndAtTheLimits) {
  AddRun({{"a", "72", "#### 72"}}, {{"max_new_tokens", 20}}, "standard");
  AddRun({{"a", "72", "#### 72"}}, {{"max_new_tokens", 6}}, "latent");
  request.budgets = {};
  std::vector<int64_t> standard, latent;
  for (const BudgetRow& row : Grade().rows)
    (row.run.setting == "standard" ? standard : latent).push_back(row.budget);
  EXPECT_THAT(standard, ElementsAre(1, 2, 4, 6, 8, 16, 20));
  EXPECT_THAT(latent, ElementsAre(1, 2, 4, 6));
}

TEST_F(BudgetsTest, BudgetsAboveTheLimitAreLeftOut) {
  AddRun({{"a", "72", "#### 72", "", "length"}}, {{"max_new_tokens", 7}});
  BudgetResult result = Grade();
  EXPECT_THAT(result.rows, SizeIs(3));
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("left out 20: its traces were cut at 7 tokens")));
  request.budgets = {8, 9};
  const std::optional<Error> error = ErrorOf();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ExitCode::kUsage);
  EXPECT_THAT(error->remedy(), HasSubstr("the largest limit is 7"));
  request.budgets = {0};
  EXPECT_THAT(ErrorOf()->subject(), HasSubstr("--budgets 0"));
}

// After "7" the trace had begun one of two stop strings: with the one the answer is 72, with the other 7.
TEST_F(BudgetsTest, WhatTheStoreDoesNotTellIsMarked) {
  GradedSample sample{"a", "7", "#### 7", "", "stop_string"};
  const int64_t run = AddUngradedRun(*store, suite, "standard", {sample},
                                     {{"max_new_tokens", 20}, {"stop_strings", {"\nQ", "2Q"}}});
  SampleRecord record = store->Samples(run, true).at(0);
  ASSERT_EQ(record.text_ends.size(), 6u);
  // A second sample that has the stop string's two tokens, too.
  record.tokens.insert(record.tokens.end(), {'2', 'Q'});
  record.text_ends.insert(record.text_ends.end(), {7, 8});
  record.sample = 1;
  LeaseRecord lease{"host", 1, "process", "token", UtcNow()};
  store->ReplaceLease(run, "", lease);
  store->AddSample(record, "token", store->Sessions(run).at(0));
  request.budgets = {6, 7};
  const BudgetResult result = Grade();
  EXPECT_THAT(Outcomes(run), ElementsAre("a 6 correct", "a 7 correct", "a 6 correct!", "a 7 correct!?"));
  EXPECT_THAT(result.notes.at(result.notes.size() - 1), HasSubstr("1 verdicts hang on the last character"));
}

TEST_F(BudgetsTest, WhatCannotBeCutIsRefused) {
  AddRun({{"a", "72", "#### 72"}},
         {{"imported", {{"fields", {"completion", "stop_reason", "generated_tokens"}}}}});
  std::optional<Error> error = ErrorOf();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ExitCode::kUsage);
  EXPECT_THAT(error->why(), HasSubstr("without what its tokens spell"));
  AddRun({{"a", "72", "#### 72"}}, {{"imported", {{"fields", {"completion", "text_ends"}}}}}, "latent");
  EXPECT_THAT(ErrorOf()->why(), HasSubstr("without stop reasons"));
  request.regrade.store = folder / "none.db";
  EXPECT_EQ(ErrorOf()->why(), "no such store");
}

TEST_F(BudgetsTest, AnImportedRunEndsAtItsShortestTruncatedTrace) {
  const nlohmann::json imported = {
      {"imported", {{"fields", {"completion", "text_ends", "stop_reason", "tokens", "generated_tokens"}}}}};
  const int64_t run = AddRun({{"a", "72", "#### 72"}, {"b", "7", "#### 72", "", "length"}}, imported);
  EXPECT_EQ(LongestOf(run), 7);
  request.budgets = {6, 7, 8};
  const BudgetResult result = Grade();
  EXPECT_THAT(result.rows, SizeIs(2));
  EXPECT_THAT(Outcomes(run), ElementsAre("a 6 incorrect!", "a 7 correct!", "b 6 correct!", "b 7 incorrect!"));
}

TEST_F(BudgetsTest, ChoicesHaveNoTraces) {
  ToyRun toy(folder / "toy.db");
  Task task = ToyChoices(3);
  task.suite.definition = LoadSuite("arc_easy").definition;
  task.suite.name = "arc_easy";
  toy.Run(task);
  request.regrade.store = folder / "toy.db";
  request.regrade.suite = "arc_easy";
  EXPECT_THAT(ErrorOf()->why(), HasSubstr("asks by choices"));
}

TEST_F(BudgetsTest, StopsWhenAskedTo) {
  const int64_t run = AddRun(Samples());
  const std::atomic<bool> stop = true;
  request.regrade.stop = &stop;
  EXPECT_TRUE(Grade().stopped);
  EXPECT_THAT(Outcomes(run), IsEmpty());
}

}  // namespace
}  // namespace fullband
