// The real MATH-500 reference solutions and answers, graded against themselves and against one another.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "evals/graders/math_answer.h"
#include "evals/graders/text_graders.h"
#include "tests/support/shared_data.h"

namespace fullband {
namespace {

struct Problem {
  std::string solution, answer;
};

std::vector<Problem> Problems() {
  std::vector<Problem> problems;
  const auto datasets = SharedDatasets();
  if (!datasets) return problems;
  std::ifstream file(*datasets / "math500" / "test.jsonl");
  for (std::string line; std::getline(file, line);) {
    const auto row = nlohmann::json::parse(line);
    problems.push_back({row.at("solution"), row.at("answer")});
  }
  return problems;
}

TEST(Math500, ReferenceSolutionsAreCorrect) {
  const std::vector<Problem> problems = Problems();
  if (problems.empty()) GTEST_SKIP() << "the public data files are not there";
  ASSERT_EQ(problems.size(), 500u);
  for (const Problem& problem : problems) {
    for (const std::string& completion :
         {problem.solution, "Thus \\boxed{" + problem.answer + "}.", problem.answer}) {
      for (const std::string& gold : {problem.answer, problem.solution}) {
        const Verdict verdict = GradeMath({completion, gold});
        EXPECT_EQ(verdict.outcome, Outcome::kCorrect) << completion << " -> " << verdict.extracted;
      }
    }
  }
}

// Every answer is understood, so that none is right only because its text is the same.
TEST(Math500, EveryAnswerIsUnderstood) {
  const std::vector<Problem> problems = Problems();
  if (problems.empty()) GTEST_SKIP() << "the public data files are not there";
  for (const Problem& problem : problems) {
    const MathComparison other =
        SameAnswer(problem.answer, "123456789", [](const MathNode&, const MathNode&) { return false; });
    EXPECT_FALSE(other.same) << problem.answer;
    const bool words = problem.answer.starts_with("\\text{");
    if (!words) {
      EXPECT_EQ(other.detail, "") << problem.answer;
    }
  }
}

// The comparison can fail: few problems share their answer with the next one.
TEST(Math500, OtherProblemsAnswersAreNot) {
  const std::vector<Problem> problems = Problems();
  if (problems.empty()) GTEST_SKIP() << "the public data files are not there";
  int same = 0;
  for (size_t i = 0; i < problems.size(); ++i) {
    const Verdict verdict = GradeMath({problems[i].solution, problems[(i + 1) % problems.size()].answer});
    EXPECT_NE(verdict.outcome, Outcome::kFault);
    same += verdict.outcome == Outcome::kCorrect;
  }
  EXPECT_LT(same, 10);
}

}  // namespace
}  // namespace fullband
