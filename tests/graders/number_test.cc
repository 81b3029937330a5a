#include <gtest/gtest.h>

#include "evals/graders/text_graders.h"

namespace fullband {
namespace {

struct Row {
  const char* completion;
  const char* gold;
  Outcome outcome;
  const char* extracted;
};

constexpr Outcome kRight = Outcome::kCorrect, kWrong = Outcome::kIncorrect, kNothing = Outcome::kNoAnswer;

void Check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const Verdict verdict = GradeNumber({row.completion, row.gold});
    EXPECT_STREQ(OutcomeName(verdict.outcome), OutcomeName(row.outcome)) << row.completion;
    EXPECT_EQ(verdict.extracted, row.extracted) << row.completion;
    EXPECT_EQ(verdict.score, row.outcome == kRight ? 1 : 0) << row.completion;
  }
}

TEST(Number, HashMarker) {
  Check({{"2 + 3 = 5\n#### 5", "5", kRight, "5"},
         {"#### 5\n", "5", kRight, "5"},
         {"####5", "5", kRight, "5"},
         {"#### **5** apples", "5", kRight, "5"},
         {"#### $1,250.00", "1250", kRight, "1250.00"},
         {"#### \\$1,250", "1250", kRight, "1250"},
         {"#### -$5", "-5", kRight, "-5"},
         {"#### $-5", "-5", kRight, "-5"},
         {"#### - 5", "-5", kRight, "-5"},
         {"#### \xE2\x88\x92"
          "5",
          "-5", kRight, "-5"},
         {"#### 5", "-5", kWrong, "5"},
         {"#### \xE2\x82\xAC"
          "5 and 3 cents",
          "5", kRight, "5"},
         {"#### 5 apples for 3 days", "5", kRight, "5"},
         {"#### 3\n#### 5", "5", kRight, "5"},
         {"#### 51", "5", kWrong, "51"},
         {"#### 5.5", "5", kWrong, "5.5"},
         {"#### 5.0", "5", kRight, "5.0"},
         {"#### .5", "0.5", kRight, ".5"},
         {"#### 05", "5", kRight, "05"},
         {"#### +5", "5", kRight, "5"}});
}

TEST(Number, AMarkerWithoutANumberBehindItIsNone) {
  Check({{"3 + 4 = 7\n#### seven", "7", kRight, "7"},
         {"#### Step 1: 3 + 4 = 7\n#### Step 2: 7 + 2 = 9\nSo there are 9.", "9", kRight, "9"},
         {"#### 1. Add\n3 + 4 = 7\n#### 2. Double\n7 * 2 = 14", "14", kRight, "14"},
         {"#### 7. Hope this helps", "7", kRight, "7"},
         {"The #### sign", "7", kNothing, ""}});
}

TEST(Number, Boxes) {
  Check({{"So \\boxed{7} it is, as 3 + 4 shows.", "7", kRight, "7"},
         {"\\boxed{3} then \\boxed{7}", "7", kRight, "7"},
         {"\\boxed{\\$7}", "7", kRight, "7"},
         {"\\boxed{\\text{seven}} = 7", "7", kRight, "7"},
         {"\\boxed{7 \\text{ apples}}", "7", kRight, "7"},
         {"\\boxed{x = 7}", "7", kRight, "7"},
         {"\\boxed{3 + 4 = 7}", "7", kRight, "7"},
         {"\\boxed{\\frac{14}{2}}", "7", kRight, "14/2"},
         {"\\boxed{\\text{total } 7}", "7", kRight, "7"},
         {"\\boxed{3 + 4}", "3", kWrong, "3 + 4"},
         {"\\boxed{3 + 4}", "4", kWrong, "3 + 4"},
         {"\\boxed{10^6}", "10", kWrong, "10^6"},
         {"\\boxed{2\\sqrt{3}}", "2", kWrong, "2"},
         {"\\boxed{8{,}000}", "8000", kRight, "8000"},
         {"\\fbox{8\\,000}", "8000", kRight, "8000"},
         {"\\boxed{7", "7", kRight, "7"}});
}

TEST(Number, Words) {
  Check({{"The answer is 7. I used 2 steps.", "7", kRight, "7"},
         {"The ANSWER is: **7**", "7", kRight, "7"},
         {"Answer: $7$", "7", kRight, "7"},
         {"**Answer:** \\(7\\)", "7", kRight, "7"},
         {"### Final Answer\n\n7 apples, in 2 bags", "7", kRight, "7"},
         {"The answer is 3 + 4 = 7.", "7", kRight, "7"},
         {"The answer is x = 7.", "7", kRight, "7"},
         {"The answer is that 3 and 4 make 7.", "7", kRight, "7"},
         {"Answer: 3 + 4 = 7 eggs.\n7 * 2 = 14", "14", kRight, "14"},
         {"Answer: 7\nExplanation: 3 + 4", "7", kRight, "7"},
         {"To find the answer\nadd 3 and 4: 7", "7", kRight, "7"},
         {"The answer is 3/4 of it", "3", kWrong, "3/4"},
         {"The answer is 10-12", "10", kWrong, "12"},
         {"#### 10-12", "10", kWrong, "10-12"},
         {"#### 3:30", "3", kWrong, "3:30"},
         {"The answer is seven.", "7", kNothing, ""}});
}

TEST(Number, TheLastMarkerWins) {
  Check({{"\\boxed{3}\nThe answer is 7.", "7", kRight, "7"},
         {"The answer is 3.\n#### 7", "7", kRight, "7"},
         {"#### 3\nNo: \\boxed{7}", "7", kRight, "7"},
         {"\\boxed{\\boxed{7}} or so, 2 of them", "7", kRight, "7"}});
}

TEST(Number, WithoutAMarkerTheLastNumber) {
  Check({{"So he has 3 + 4 = 7 apples left.", "7", kRight, "7"},
         {"7 apples, not 70", "7", kWrong, "70"},
         {"the profit is $70,000.", "70000", kRight, "70000"},
         {"He earned 1,00,000 rupees", "100000", kRight, "100000"},
         {"in total 12,5", "12", kWrong, "12,5"},
         {"in total 12,5", "5", kWrong, "12,5"},
         {"they need 2 1/2 cups", "2.5", kRight, "2 1/2"},
         {"they need 2\xC2\xBD cups", "2.5", kRight, "2 1/2"},
         {"- 7 apples", "7", kRight, "7"},
         {"", "7", kNothing, ""},
         {"   \n", "7", kNothing, ""}});
  EXPECT_EQ(GradeNumber({"7 apples", "7"}).detail, "unmarked");
  EXPECT_EQ(GradeNumber({"#### 7", "7"}).detail, "");
  EXPECT_EQ(GradeNumber({"seven", "7"}).detail, "no_number");
  EXPECT_EQ(GradeNumber({" \n", "7"}).detail, "empty");
  EXPECT_EQ(GradeNumber({"at 3:30", "7"}).detail, "not_a_value");
}

TEST(Number, ThoughtsNeverCount) {
  Check({{"<think>3 + 4 = 7\n#### 7</think>", "7", kNothing, ""},
         {"<think>3? \\boxed{3}</think>#### 7", "7", kRight, "7"},
         {"so 3.\n</think>\n7", "7", kRight, "7"},
         {"#### 7\n<think>or is it 3", "7", kRight, "7"},
         {"the answer is 7.\n<think>or is it 3", "7", kRight, "7"},
         // Steps before a thought that never ended are no answer, right or wrong.
         {"3 + 4 = 7.\n<think>or is it 3", "7", kNothing, ""},
         {"3 + 4 = 7.\n<think>or is it 3</think>", "7", kRight, "7"}});
  EXPECT_EQ(GradeNumber({"3 + 4 = 7.\n<think>or is it 3", "7"}).detail, "truncated_in_thought");
  EXPECT_EQ(GradeNumber({"<think>7", "7"}).detail, "truncated_in_thought");
}

TEST(Number, GoldsMayBeReferenceSolutions) {
  Check({{"#### 1250", "He has 3 * 4 = <<3*4=12>>12 dollars.\n#### 1,250", kRight, "1250"},
         {"#### 12", "He has 3 * 4 = <<3*4=12>>12 dollars.\n#### 1,250", kWrong, "12"}});
  const Verdict verdict = GradeNumber({"#### 7", "seven"});
  EXPECT_EQ(verdict.outcome, Outcome::kFault);
  EXPECT_EQ(verdict.detail, "gold_not_a_number");
}

TEST(GraderTable, FindsByNameAndSuggests) {
  EXPECT_EQ(FindGrader("number").name, "number");
  for (const std::string& name : GraderNames()) EXPECT_EQ(FindGrader(name).name, name);
  EXPECT_THROW(FindGrader("nubmer"), std::runtime_error);
}

}  // namespace
}  // namespace fullband
