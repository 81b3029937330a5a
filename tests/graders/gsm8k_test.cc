// The real GSM8K reference solutions, graded against themselves and against one another.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "evals/graders/text_graders.h"
#include "tests/support/shared_data.h"

namespace fullband {
namespace {

std::vector<std::string> Solutions(const std::filesystem::path& path) {
  std::vector<std::string> solutions;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    solutions.push_back(nlohmann::json::parse(line).at("answer"));
  return solutions;
}

TEST(Gsm8k, ReferenceSolutionsAreCorrect) {
  const auto datasets = SharedDatasets();
  if (!datasets) GTEST_SKIP() << "the public data files are not there";
  for (const auto& [name, count] : {std::pair{"test.jsonl", 1319}, std::pair{"train.jsonl", 7473}}) {
    const std::vector<std::string> solutions = Solutions(*datasets / "gsm8k" / name);
    ASSERT_EQ(solutions.size(), static_cast<size_t>(count));
    for (const std::string& solution : solutions) {
      for (const auto grade : {GradeNumber, GradeLmEvalStrict, GradeLmEvalFlexible}) {
        const Verdict verdict = grade({solution, solution});
        ASSERT_EQ(verdict.outcome, Outcome::kCorrect) << solution << " -> " << verdict.extracted;
      }
    }
  }
}

// The comparison can fail: a solution is right for another item only where the peers' grader also says so.
TEST(Gsm8k, OtherItemsSolutionsAreNot) {
  const auto datasets = SharedDatasets();
  if (!datasets) GTEST_SKIP() << "the public data files are not there";
  const std::vector<std::string> solutions = Solutions(*datasets / "gsm8k" / "test.jsonl");
  int correct = 0;
  for (size_t i = 0; i + 1 < solutions.size(); ++i) {
    const bool same = GradeNumber({solutions[i], solutions[i + 1]}).outcome == Outcome::kCorrect;
    EXPECT_EQ(same, GradeLmEvalStrict({solutions[i], solutions[i + 1]}).outcome == Outcome::kCorrect);
    correct += same;
  }
  EXPECT_LT(correct, 60);
}

}  // namespace
}  // namespace fullband
