#include "evals/graders/thoughts.h"

#include <gtest/gtest.h>

#include "evals/graders/grader.h"

namespace fullband {
namespace {

TEST(Thoughts, AreDropped) {
  EXPECT_EQ(WithoutThoughts("plain").text, "plain");
  EXPECT_EQ(WithoutThoughts("").text, "");
  EXPECT_EQ(WithoutThoughts("a<think>b</think>c<think>d</think>e").text, "ace");
  EXPECT_EQ(WithoutThoughts("<think>a<think>b</think>c").text, "c");
}

TEST(Thoughts, APromptMayHaveOpenedOne) {
  EXPECT_EQ(WithoutThoughts("b</think>c").text, "c");
  EXPECT_EQ(WithoutThoughts("<think>a</think>b</think>c").text, "c");
}

TEST(Thoughts, MayBeUnfinished) {
  const VisibleText visible = WithoutThoughts("a<think>b");
  EXPECT_EQ(visible.text, "a");
  EXPECT_TRUE(visible.ends_in_thought);
  EXPECT_FALSE(WithoutThoughts("<think>a</think>").ends_in_thought);
}

// Where it is known that the prompt opened one, the text needs no marker to be a thought.
TEST(Thoughts, MayBeginBeforeTheText) {
  VisibleText visible = WithoutThoughts("It is 7.", {}, true);
  EXPECT_EQ(visible.text, "");
  EXPECT_TRUE(visible.ends_in_thought);
  visible = WithoutThoughts("maybe<think>7</think>8", {}, true);
  EXPECT_EQ(visible.text, "8");
  EXPECT_FALSE(visible.ends_in_thought);
  EXPECT_EQ(WithoutThoughts("a</think>b<think>c</think>d", {}, true).text, "bd");
  EXPECT_TRUE(WithoutThoughts("", {}, true).ends_in_thought);
}

TEST(Thoughts, HaveOtherMarkersInSomeModels) {
  EXPECT_EQ(WithoutThoughts("a[b]c<think>", {"[", "]"}).text, "ac<think>");
}

TEST(Thoughts, StandApartInTheText) {
  const std::string_view text = "a<think>b</think>c<think>d";
  const Thoughts thoughts = FindThoughts(text, FindMarkers(text, {}), false);
  ASSERT_EQ(thoughts.spans.size(), 2u);
  EXPECT_EQ(thoughts.spans[0].begin, 1u);
  EXPECT_EQ(thoughts.spans[0].end, 17u);
  EXPECT_EQ(thoughts.spans[1].begin, 18u);
  EXPECT_EQ(thoughts.spans[1].end, text.size());
  EXPECT_TRUE(thoughts.unfinished);
}

TEST(Thoughts, GradersTakeWhatTheCallerHasFoundVisible) {
  for (const char* grader : {"number", "exact", "math"}) {
    const TextSample plain{"[7] 8", "8"};
    VisibleText visible = WithoutThoughts(plain.completion, {"[", "]"});
    EXPECT_EQ(FindGrader(grader).grade({plain.completion, "8", nullptr, &visible}).outcome, Outcome::kCorrect)
        << grader;
    visible = WithoutThoughts("It is 8", {}, true);
    const Verdict verdict = FindGrader(grader).grade({"It is 8", "8", nullptr, &visible});
    EXPECT_EQ(verdict.outcome, Outcome::kNoAnswer) << grader;
    EXPECT_EQ(verdict.detail, "truncated_in_thought") << grader;
  }
}

// Text with a hundred thousand markers takes no time that grows with its square.
TEST(Thoughts, TakeLinearTime) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "<think>a</think>b";
  EXPECT_EQ(WithoutThoughts(text).text.size(), 100'000u);
  text.clear();
  for (int i = 0; i < 200'000; ++i) text += "<think>";
  EXPECT_EQ(WithoutThoughts(text).text, "");
}

}  // namespace
}  // namespace fullband
