#include "evals/choose.h"

#include <gtest/gtest.h>

#include <cmath>

#include "common/error.h"

namespace fullband {
namespace {

ChoiceRecord One(double logprob, int tokens, int characters, int bytes, bool gold = false) {
  ChoiceRecord choice;
  choice.text = std::to_string(logprob);
  choice.logprob = logprob;
  choice.tokens = tokens;
  choice.characters = characters;
  choice.bytes = bytes;
  choice.gold = gold;
  return choice;
}

TEST(BestChoice, EachNormPicksItsOwn) {
  const std::vector<ChoiceRecord> choices = {
      One(-2, 1, 2, 2),     // best sum
      One(-9, 3, 10, 10),   // best by characters (-0.9)
      One(-12, 4, 12, 24),  // best by bytes (-0.5)
      One(-14, 9, 14, 14),  // best by tokens (-1.56)
  };
  EXPECT_EQ(BestChoice(choices, ChoiceNorm::kSum), 0);
  EXPECT_EQ(BestChoice(choices, ChoiceNorm::kCharacters), 1);
  EXPECT_EQ(BestChoice(choices, ChoiceNorm::kBytes), 2);
  EXPECT_EQ(BestChoice(choices, ChoiceNorm::kTokens), 3);
}

TEST(BestChoice, TiesGoToTheFirst) {
  const std::vector<ChoiceRecord> choices = {One(-4, 1, 1, 1), One(-3, 1, 3, 3), One(-3, 1, 3, 3)};
  EXPECT_EQ(BestChoice(choices, ChoiceNorm::kSum), 1);
  EXPECT_EQ(BestChoice(choices, ChoiceNorm::kCharacters), 1);
  const std::vector<ChoiceRecord> never = {One(-INFINITY, 1, 1, 1), One(-INFINITY, 1, 1, 1)};
  EXPECT_EQ(BestChoice(never, ChoiceNorm::kSum), 0);
}

TEST(JudgeChoices, SaysWhetherTheGoldOneIsBest) {
  std::vector<ChoiceRecord> choices = {One(-2, 1, 1, 1, true), One(-1, 1, 1, 1)};
  EXPECT_EQ(JudgeChoices(choices, ChoiceNorm::kSum).outcome, Outcome::kIncorrect);
  EXPECT_EQ(JudgeChoices(choices, ChoiceNorm::kSum).extracted, choices[1].text);
  choices[0].logprob = -0.5;
  EXPECT_EQ(JudgeChoices(choices, ChoiceNorm::kSum).outcome, Outcome::kCorrect);
  EXPECT_EQ(JudgeChoices(choices, ChoiceNorm::kSum).score, 1);
  EXPECT_EQ(JudgeChoices({}, ChoiceNorm::kSum).outcome, Outcome::kFault);
}

TEST(JudgeGreedy, IsOfOneContinuation) {
  ChoiceRecord word = One(-3, 2, 5, 5, true);
  EXPECT_EQ(JudgeGreedy({word}).outcome, Outcome::kIncorrect);
  EXPECT_EQ(JudgeGreedy({word}).extracted, "");
  word.greedy = true;
  EXPECT_EQ(JudgeGreedy({word}).outcome, Outcome::kCorrect);
  EXPECT_EQ(JudgeGreedy({word}).extracted, word.text);
  EXPECT_EQ(JudgeGreedy({word, word}).outcome, Outcome::kFault);
  EXPECT_EQ(JudgeGreedy({}).outcome, Outcome::kFault);
}

TEST(FindChoiceMetric, KnowsItsNames) {
  for (const std::string& name : ChoiceMetricNames()) EXPECT_EQ(FindChoiceMetric(name).name, name);
  EXPECT_THROW(FindChoiceMetric("acc_norms"), Error);
}

}  // namespace
}  // namespace fullband
