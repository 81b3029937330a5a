#include <gtest/gtest.h>

#include "evals/graders/text_graders.h"

namespace fullband {
namespace {

constexpr Outcome kRight = Outcome::kCorrect, kWrong = Outcome::kIncorrect, kNone = Outcome::kNoAnswer;

struct Case {
  std::string completion, gold;
  Outcome outcome;
  std::string extracted, detail = {};
};

// `pattern` empty: a rule without one.
void Check(const std::string& pattern, bool ignore_case, const std::vector<Case>& cases) {
  AnswerRule rule;
  if (!pattern.empty()) rule.pattern.emplace(pattern, "the test");
  rule.ignore_case = ignore_case;
  for (const Case& one : cases) {
    const Verdict verdict = GradeExact({one.completion, one.gold, &rule});
    EXPECT_EQ(verdict.outcome, one.outcome) << one.completion;
    EXPECT_EQ(verdict.score, one.outcome == kRight ? 1 : 0) << one.completion;
    EXPECT_EQ(verdict.extracted, one.extracted) << one.completion;
    EXPECT_EQ(verdict.detail, one.detail) << one.completion;
  }
}

TEST(Exact, TheWholeTextWithoutARule) {
  EXPECT_EQ(GradeExact({" red\n", "red"}).outcome, kRight);
  EXPECT_EQ(GradeExact({"Red", "red"}).outcome, kWrong);
  EXPECT_EQ(GradeExact({"red or blue", "red"}).outcome, kWrong);
}

TEST(Exact, WhiteSpaceAndOneFullStopDoNotCount) {
  Check("", false,
        {
            {" red", "red", kRight, "red"},
            {"\t red .\r\n", " red. ", kRight, "red"},
            {"red", "red.", kRight, "red"},
            {"a  b", "a b", kWrong, "a  b"},
            {"red..", "red", kWrong, "red.."},
            {"red...", "red", kWrong, "red..."},
            {".red", "red", kWrong, ".red"},
            {"red!", "red", kWrong, "red!"},
            {"re", "red", kWrong, "re"},
            {"redd", "red", kWrong, "redd"},
            {"Red", "red", kWrong, "Red"},
            {"3.0", "3", kWrong, "3.0"},
            {"", "red", kNone, "", "empty"},
            {" \n", "red", kNone, "", "empty"},
            {" . ", "red", kNone, "", "empty"},
            {"red", "", Outcome::kFault, "", "gold_is_empty"},
            {"", " . ", Outcome::kFault, "", "gold_is_empty"},
        });
}

TEST(Exact, CaseDoesNotCountWhereTheRuleSaysSo) {
  Check("", true,
        {
            {"RED", "red", kRight, "RED"},
            {"red", "Red", kRight, "red"},
            {"rod", "red", kWrong, "rod"},
            {"\xC3\x89t\xC3\xA9", "\xC3\xA9t\xC3\xA9", kWrong, "\xC3\x89t\xC3\xA9"},  // ASCII letters only
        });
}

TEST(Exact, TheFirstWord) {
  Check(R"(\A\W*(\w+))", true,
        {
            {" red", "red", kRight, "red"},
            {" Red, I think", "red", kRight, "Red"},
            {" the red one", "red", kWrong, "the"},
            {" reddish", "red", kWrong, "reddish"},
            {" 3", "3", kRight, "3"},
            {" 30", "3", kWrong, "30"},
            {" ?!", "red", kNone, "", "no_match"},
        });
}

TEST(Exact, TheLastMatchCounts) {
  Check(R"(Now \w+ holds (\w+))", true,
        {
            {" red blue. Now Ben holds red.", "red", kRight, "red"},
            {" red. Now Ben holds red. Now Ann holds blue.", "red", kWrong, "blue"},
            {" red. Now Ben holds blue. Now Ann holds red", "red", kRight, "red"},
            {" red blue green.", "red", kNone, "", "no_match"},
            {" red. Now Ben holds", "red", kNone, "", "no_match"},
            {" red. now ben holds red.", "red", kNone, "", "no_match"},  // the pattern's case is its own
            {"", "red", kNone, "", "empty"},
        });
}

TEST(Exact, AGroupMayBeEmptyOrMissing) {
  Check("x(.*)y", false, {{"xy", "a", kNone, "", "empty"}, {"x a y", "a", kRight, "a"}});
  Check("[0-9]+", false, {{"7 then 12", "12", kRight, "12"}, {"12 then 7", "12", kWrong, "7"}});
}

TEST(Exact, ThoughtsAreNoAnswer) {
  Check(R"(\w+)", false,
        {
            {"<think>red</think>blue", "red", kWrong, "blue"},
            {"<think>blue</think> red", "red", kRight, "red"},
            {"<think>red", "red", kNone, "", "truncated_in_thought"},
            {"?<think>red", "red", kNone, "", "truncated_in_thought"},
        });
}

TEST(Exact, APatternThatBacktracksTooMuchIsATimeOut) {
  Check("(a+)+[bd]", false, {{std::string(60, 'a') + "c", "a", Outcome::kTimeout, "", "pattern_limit"}});
}

TEST(Exact, IsInTheTable) {
  EXPECT_EQ(FindGrader("exact").grade, &GradeExact);
  EXPECT_TRUE(FindGrader("exact").takes_rule);
  EXPECT_FALSE(FindGrader("number").takes_rule);
}

}  // namespace
}  // namespace fullband
