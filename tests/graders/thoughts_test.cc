#include "evals/graders/thoughts.h"

#include <gtest/gtest.h>

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

TEST(Thoughts, HaveOtherMarkersInSomeModels) {
  EXPECT_EQ(WithoutThoughts("a[b]c<think>", {"[", "]"}).text, "ac<think>");
}

}  // namespace
}  // namespace fullband
