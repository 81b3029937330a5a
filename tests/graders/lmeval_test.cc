#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "evals/graders/text_graders.h"

namespace fullband {
namespace {

using nlohmann::json;

// Compares with what scripts/peers/lm_eval_graders.py recorded from lm-evaluation-harness itself;
// returns the number of correct verdicts.
int CompareWithPeer(const std::string& fixture, size_t cases) {
  std::ifstream file(std::string(FULLBAND_TEST_DATA) + "/peers/" + fixture);
  const json recorded = json::parse(file);
  EXPECT_EQ(recorded.at("cases").size(), cases);
  int correct = 0;
  for (const json& row : recorded.at("cases")) {
    const std::string completion = row.at("completion"), gold = row.at("gold");
    for (const auto& [name, grade] :
         {std::pair{"strict", &GradeLmEvalStrict}, std::pair{"flexible", &GradeLmEvalFlexible}}) {
      const Verdict verdict = grade({completion, gold});
      EXPECT_EQ(verdict.extracted, row.at(name).at("extracted").get<std::string>()) << name << ": " << row;
      EXPECT_EQ(verdict.outcome == Outcome::kCorrect, row.at(name).at("correct").get<bool>())
          << name << ": " << row;
      correct += verdict.outcome == Outcome::kCorrect;
    }
  }
  return correct;
}

TEST(LmEval, SyntheticCompletionsEqualThePeers) {
  EXPECT_GT(CompareWithPeer("lm_eval_graders.json", 400), 100);
}

// What SmolLM2 wrote for gsm8k's first 200 items, five-shot; two that repeat their question at length are
// left out.
TEST(LmEval, RealCompletionsEqualThePeers) {
  EXPECT_GT(CompareWithPeer("lm_eval_gsm8k_outputs.json", 198), 0);
}

TEST(LmEval, FindingNothingIsNoAnswer) {
  for (const auto grade : {GradeLmEvalStrict, GradeLmEvalFlexible}) {
    const Verdict verdict = grade({"nothing here", "7"});
    EXPECT_EQ(verdict.outcome, Outcome::kNoAnswer);
    EXPECT_EQ(verdict.extracted, "[invalid]");
  }
}

// Faults of the peer that the grader named after it must show, and `number` must not.
TEST(LmEval, FaultsAreKept) {
  EXPECT_EQ(GradeLmEvalStrict({"#### $1,250", "1250"}).outcome, Outcome::kNoAnswer);
  EXPECT_EQ(GradeNumber({"#### $1,250", "1250"}).outcome, Outcome::kCorrect);
  EXPECT_EQ(GradeLmEvalFlexible({"It is 72. Hope this helps...", "72"}).extracted, "...");
  EXPECT_EQ(GradeNumber({"It is 72. Hope this helps...", "72"}).outcome, Outcome::kCorrect);
  EXPECT_EQ(GradeLmEvalStrict({"#### 72.00", "72"}).outcome, Outcome::kIncorrect);
}

}  // namespace
}  // namespace fullband
