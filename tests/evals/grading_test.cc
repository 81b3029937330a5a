#include "evals/grading.h"

#include <gtest/gtest.h>

#include <map>

#include "common/regex.h"
#include "tasks/task_data.h"
#include "tasks/text_template.h"
#include "tests/support/shared_data.h"
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

std::vector<std::pair<std::string, std::string>> Boxes() {
  return {
      {R"(It is $\boxed{7}$.)", "7"},
      {R"(\boxed{1}, no: \boxed{2}.)", "2"},
      {R"(\boxed{\frac{1}{\sqrt{2}}})", R"(\frac{1}{\sqrt{2}})"},
      {R"(\boxed{\{1,2\}})", R"(\{1,2\})"},
      {R"(\boxed{\left\{ x \mid x>0 \right\}})", R"(\left\{ x \mid x>0 \right\})"},
      {R"(I get \boxed{1}. Again: \boxed{2)", "1"},  // the last that is closed
  };
}

TEST(JudgesOf, ExactReadsTheLastClosedBoxOfMath500) {
  const std::vector<Judge> judges = JudgesOf(LoadSuite("math500"));
  const Judge& exact = judges.back();
  for (const auto& [text, answer] : Boxes()) {
    SampleRecord sample;
    sample.text = text;
    EXPECT_EQ(GradeSample(exact, sample, answer).extracted, answer) << text;
    EXPECT_EQ(GradeSample(exact, sample, answer).outcome, "correct") << text;
  }
  SampleRecord sample;
  sample.text = "It is 7.";
  EXPECT_EQ(GradeSample(exact, sample, "7").outcome, "no_answer");
}

TEST(JudgesOf, Math500GradesItsSolutionsRight) {
  TaskOptions options;
  const auto folder = SharedDatasets();
  if (!folder) GTEST_SKIP() << "the public data files are not at hand";
  options.data_folder = *folder;
  const TaskData data = LoadTaskData(LoadSuite("math500"), options);
  const std::vector<Judge> judges = JudgesOf(data.suite);
  ASSERT_EQ(data.items.size(), 500u);
  for (const Item& item : data.items) {
    SampleRecord sample;
    sample.text = item.fields["solution"];
    EXPECT_EQ(GradeSample(judges.front(), sample, GoldText(data, item)).outcome, "correct") << item.id;
  }
}

TEST(JudgesOf, MiniMathsGradesItsSolutionsRightAndOthersWrong) {
  const TaskData data = LoadTaskData(LoadSuite("mini_maths"), {});
  const std::vector<Judge> judges = JudgesOf(data.suite);
  ASSERT_EQ(data.items.size(), 300u);
  int wrong = 0;
  for (size_t i = 0; i < data.items.size(); ++i) {
    const Item &item = data.items[i], &next = data.items[(i + 1) % data.items.size()];
    SampleRecord sample;
    sample.text = " " + item.fields["solution"].get<std::string>();
    const bool same = item.fields["answer"] == next.fields["answer"];
    for (const Judge* judge : {&judges.front(), &judges.back()}) {
      EXPECT_EQ(GradeSample(*judge, sample, GoldText(data, item)).outcome, "correct") << item.id;
      EXPECT_EQ(GradeSample(*judge, sample, GoldText(data, next)).outcome, same ? "correct" : "incorrect")
          << item.id;
    }
    wrong += !same;
  }
  EXPECT_GT(wrong, 200);
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

// What a model that answers as the shots do would write for an item: cut at the first stop string.
std::string ReferenceText(const Suite& suite, const Item& item) {
  std::map<std::string, std::string> fields;
  for (const auto& [name, value] : item.fields.items())
    if (value.is_string()) fields[name] = value.get<std::string>();
  std::string text = FillTemplate(suite.completion.answer, fields);
  for (const std::string& stop : suite.completion.stop_strings) text = text.substr(0, text.find(stop));
  return text;
}

// Words and punctuation marks: the tokens of a text in which each word is one.
int CountPieces(const std::string& text) {
  return static_cast<int>(Regex(R"(\w+|[^\w\s])", "the test").FindAll(text).size());
}

// The reference answers of each are right and fit the token limit; those of another item are right only where
// the two have the same answer.
TEST(StateTracking, ReferenceAnswersAreRightAndOthersAreNot) {
  for (const char* name : {"mini_state_tracking", "mini_state_tracking_steps"}) {
    const TaskData data = LoadTaskData(LoadSuite(name), {});
    const Judge judge = JudgesOf(data.suite).front();
    int wrong = 0;
    for (size_t i = 0; i < data.items.size(); ++i) {
      const Item &item = data.items[i], &next = data.items[(i + 1) % data.items.size()];
      SampleRecord sample;
      sample.text = ReferenceText(data.suite, item);
      EXPECT_EQ(GradeSample(judge, sample, GoldText(data, item)).outcome, "correct") << item.id;
      EXPECT_LE(CountPieces(sample.text), data.suite.max_new_tokens) << item.id;
      const bool same = item.fields["answer"] == next.fields["answer"];
      EXPECT_EQ(GradeSample(judge, sample, GoldText(data, next)).outcome, same ? "correct" : "incorrect")
          << item.id;
      wrong += !same;
    }
    EXPECT_GT(wrong, 200) << name;
  }
}

TEST(StateTracking, TheAnswerIsFoundWhereTheSuitesSay) {
  const struct {
    const char *suite, *text, *outcome;
  } cases[] = {
      {"mini_state_tracking", " red", "correct"},
      {"mini_state_tracking", "Red.", "correct"},
      {"mini_state_tracking", " red blue", "correct"},
      {"mini_state_tracking", " blue", "incorrect"},
      {"mini_state_tracking", " the red", "incorrect"},
      {"mini_state_tracking", " reddish", "incorrect"},
      {"mini_state_tracking", " ;", "no_answer"},
      {"mini_state_tracking_steps", " red blue; blue red; b red", "correct"},
      {"mini_state_tracking_steps", " b red", "correct"},
      {"mini_state_tracking_steps", " blue red; b red.", "correct"},
      {"mini_state_tracking_steps", " blue red; b red; ab", "correct"},
      {"mini_state_tracking_steps", "blue red;\nb Red", "no_answer"},
      {"mini_state_tracking_steps", " red blue; b blue", "incorrect"},
      {"mini_state_tracking_steps", " blue red; b red; a blue", "incorrect"},
      {"mini_state_tracking_steps", " blue red; red", "no_answer"},
      {"mini_state_tracking_steps", " blue red; b red blue", "no_answer"},
      {"mini_state_tracking_steps", " red blue; blue red; b", "no_answer"},
  };
  for (const auto& one : cases) {
    SampleRecord sample;
    sample.text = one.text;
    EXPECT_EQ(GradeSample(JudgesOf(LoadSuite(one.suite)).front(), sample, "red").outcome, one.outcome)
        << one.text;
  }
}

}  // namespace
}  // namespace fullband
