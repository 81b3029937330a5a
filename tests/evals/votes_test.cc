#include "evals/votes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/majority.h"
#include "evals/graders/grader.h"
#include "evals/grading.h"

namespace fullband {
namespace {

using testing::ElementsAre;

RunRecord RunBy(const std::string& grader, bool ignore_case = false) {
  RunRecord run;
  run.ask = "generate";
  run.headline = grader;
  run.identity =
      nlohmann::json{{"suite", {{"definition", {{"answer", {{"ignore_case", ignore_case}}}}}}}}.dump();
  return run;
}

// What the run's headline grader says of completions, and how the answers are numbered.
std::vector<int> Numbers(const RunRecord& run, const std::string& gold,
                         const std::vector<std::string>& texts) {
  std::vector<GradeRecord> grades;
  AnswerRule rule;
  rule.ignore_case = run.identity.find("true") != std::string::npos;
  for (const std::string& text : texts) {
    const Verdict verdict = FindGrader(run.headline).grade({text, gold, &rule});
    grades.push_back(
        {0, run.headline, 1, OutcomeName(verdict.outcome), verdict.score, verdict.extracted, verdict.detail});
  }
  return NumberAnswers(run, grades).value();
}

TEST(Votes, NumbersCountByValue) {
  EXPECT_THAT(
      Numbers(RunBy("number"), "72",
              {"#### 72", "It is $72.00.", "#### 70", "no idea", "#### 70.0", "#### 1/2", "#### 0.5"}),
      ElementsAre(0, 0, 1, -1, 1, 2, 2));
  // What is no value is an answer still, and equal to itself.
  EXPECT_THAT(Numbers(RunBy("number"), "72", {"#### 3:30", "#### 3:30", "#### 3"}), ElementsAre(1, 1, 2));
}

TEST(Votes, MathematicsCountsByNormalForm) {
  EXPECT_THAT(Numbers(RunBy("math"), "\\frac{1}{2}",
                      {"\\boxed{0.5}", "\\boxed{2\\sqrt{3}}", "\\boxed{\\sqrt{12}}", "\\boxed{x+1}",
                       "I give up.", "\\boxed{1+x}", "\\boxed{\\frac12}"}),
              ElementsAre(0, 1, 1, 2, -1, 2, 0));
}

TEST(Votes, TextsCountAsTheSuiteComparesThem) {
  EXPECT_THAT(Numbers(RunBy("exact"), "Ann", {"Ann", "bob", "Bob", "bob."}), ElementsAre(0, 1, 2, 1));
  EXPECT_THAT(Numbers(RunBy("exact", true), "Ann", {"ann", "bob", "Bob", ""}), ElementsAre(0, 1, 1, -1));
}

TEST(Votes, PeersCountAsTheyCompare) {
  EXPECT_THAT(
      Numbers(RunBy("lmeval_strict"), "72", {"#### 72", "#### 1,000", "#### 1000", "#### 1000.0", "72"}),
      ElementsAre(0, 1, 1, 2, -1));
}

TEST(Votes, WhatIsChosenOrRunHasNone) {
  RunRecord choose = RunBy("acc");
  choose.ask = "choose";
  EXPECT_FALSE(NumberAnswers(choose, {}));
  EXPECT_FALSE(NumberAnswers(RunBy("execute"), {}));
  EXPECT_FALSE(NumberAnswers(RunBy("math_verify"), {}));
}

TEST(Votes, ATimeOutIsAWrongAnswerAndAFaultIsNone) {
  const std::vector<GradeRecord> grades = {{0, "math", 1, "timeout", 0, "\\sin x", "symbolic"},
                                           {0, "math", 1, "timeout", 0, "", "symbolic"},
                                           {0, "math", 1, "fault", 0, "\\sin x", "grader_failed"},
                                           {0, "math", 1, "incorrect", 0, "\\sin x", ""}};
  EXPECT_THAT(NumberAnswers(RunBy("math"), grades).value(), ElementsAre(1, -1, -1, 1));
}

// As reported of other harnesses: grouped by text, or "no answer" wins.
TEST(Votes, ReportedFault) {
  std::ifstream file(std::string(FULLBAND_TEST_DATA) + "/faults/statistics.jsonl");
  nlohmann::json fault;
  for (std::string line; std::getline(file, line);)
    if (const auto read = nlohmann::json::parse(line); read.at("id") == "S08") fault = read;
  std::vector<std::string> texts;
  for (const auto& answer : fault.at("input").at("answers"))
    texts.push_back(answer.is_null() ? "no idea" : "#### " + answer.get<std::string>());
  const std::string gold = fault.at("input").at("gold");
  const std::vector<int> numbers = Numbers(RunBy("number"), gold, texts);
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 0), fault.at("expected").at("votes").get<int>());
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), -1), fault.at("expected").at("invalid").get<int>());
  EXPECT_EQ(MajorityAtK({3, {2}, 3}, 8), 1.0);
}

}  // namespace
}  // namespace fullband
