#include "evals/grading.h"

#include <gtest/gtest.h>

#include "tests/tasks/own_suite.h"

namespace fullband {
namespace {

TEST(JudgesOf, TheSuitesRuleReachesItsGraders) {
  const OwnSuite own;
  SampleRecord sample;
  sample.text = "It is TWO, not three.";
  const auto outcome = [&] {
    return GradeSample(JudgesOf(own.Load("own_graded.toml")).front(), sample, "two");
  };
  EXPECT_EQ(outcome().outcome, "correct");
  EXPECT_EQ(outcome().extracted, "TWO");
  own.Write("own_graded.toml", Replaced(kOwnGraded, "ignore_case = true", "ignore_case = false"));
  EXPECT_EQ(outcome().outcome, "incorrect");
  own.Write("own_graded.toml", Replaced(kOwnGraded, "'is (", "'not ("));
  EXPECT_EQ(outcome().extracted, "three");
  own.Write("own_graded.toml", Replaced(kOwnGraded, "pattern = 'is (\\w+)'\n", ""));
  EXPECT_EQ(outcome().extracted, "It is TWO, not three");
}

TEST(JudgesOf, AJudgeOutlivesTheSuite) {
  std::vector<Judge> judges;
  {
    const OwnSuite own;
    judges = JudgesOf(own.Load("own_graded.toml"));
  }
  SampleRecord sample;
  sample.text = "is two";
  EXPECT_EQ(GradeSample(judges.front(), sample, "two").outcome, "correct");
}

}  // namespace
}  // namespace fullband
