#include "tasks/pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"
#include "tests/tasks/tiny_tokenizer.h"

namespace fullband {
namespace {

using ::testing::ElementsAre;

class Pair : public ::testing::Test {
 protected:
  const Tokenizer& Make(const std::vector<std::pair<std::string, std::string>>& merges = {},
                        bool bos = false) {
    tokenizer_ = TinyTokenizer(folder_.path(), merges, bos);
    return *tokenizer_;
  }
  std::string Text(const std::vector<int32_t>& ids) const { return tokenizer_->Decode(ids, false); }

 private:
  TempFolder folder_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

TEST_F(Pair, SplitsTheJointEncodingAtTheContext) {
  const TokenPair pair = EncodePair(Make({{"c", "d"}}), "ab", " cd", {});
  EXPECT_THAT(pair.context, ElementsAre('a', 'b'));
  EXPECT_THAT(pair.continuation, ElementsAre(' ', 258));
  EXPECT_FALSE(pair.boundary_merge);
}

TEST_F(Pair, WhiteSpaceAtTheContextsEndMovesOver) {
  const TokenPair pair = EncodePair(Make(), "Q: sky colour?\nA: ", "blue", {});
  EXPECT_EQ(Text(pair.context), "Q: sky colour?\nA:");
  EXPECT_EQ(Text(pair.continuation), " blue");
  const TokenPair line = EncodePair(Make(), "assistant\n", "blue", {});
  EXPECT_EQ(Text(line.context), "assistant");
  EXPECT_EQ(Text(line.continuation), "\nblue");
}

// A token across the join must not swallow the continuation.
TEST_F(Pair, AContinuationIsNeverLostInAMerge) {
  const TokenPair pair = EncodePair(Make({{"a", "b"}}), "a", "b", {});
  EXPECT_THAT(pair.context, ElementsAre('a'));
  EXPECT_THAT(pair.continuation, ElementsAre('b'));
  EXPECT_TRUE(pair.boundary_merge);
}

TEST_F(Pair, AMergeAcrossTheJoinIsFlaggedWhereTokensAreLeftToo) {
  const TokenPair pair = EncodePair(Make({{"a", "b"}}, true), "xa", "bcd", {});
  EXPECT_THAT(pair.context, ElementsAre(kTinyBos, 'x', 'a'));
  EXPECT_THAT(pair.continuation, ElementsAre('b', 'c', 'd'));
  EXPECT_TRUE(pair.boundary_merge);
}

// The boundary is the end of the context, not what two choices have in common.
TEST_F(Pair, ChoicesWithACommonBeginningAreScoredInFull) {
  const Tokenizer& tokenizer = Make();
  EXPECT_EQ(Text(EncodePair(tokenizer, "Is water wet?", " yes", {}).continuation), " yes");
  EXPECT_EQ(Text(EncodePair(tokenizer, "Is water wet?", " yes, it is", {}).continuation), " yes, it is");
}

TEST_F(Pair, BosStandsOnceAndInTheContext) {
  const TokenPair pair = EncodePair(Make({}, true), "a", " b", {});
  EXPECT_THAT(pair.context, ElementsAre(kTinyBos, 'a'));
  EXPECT_THAT(pair.continuation, ElementsAre(' ', 'b'));
}

TEST_F(Pair, LookAlikesStayTextWhereGuardedOrSplit) {
  const Tokenizer& tokenizer = Make();
  EXPECT_THAT(EncodePair(tokenizer, "a<|end|>", "b", {}).context, ElementsAre('a', kTinyEnd));
  EncodeOptions split;
  split.split_special_tokens = true;
  EXPECT_EQ(EncodePair(tokenizer, "a<|end|>", "b", split).context.size(), 8u);
  const TokenPair guarded = EncodePair(tokenizer, "<|end|>" + tokenizer.Guard("a<|end|>"), "b", {}, true);
  EXPECT_EQ(guarded.context[0], kTinyEnd);
  EXPECT_EQ(guarded.context.size(), 9u);
  EXPECT_EQ(Text(guarded.context), "<|end|>a<|end|>");
  EXPECT_EQ(Text(guarded.continuation), "b");
}

TEST(TrailingSpace, IsPythons) {
  EXPECT_EQ(TrailingSpace(""), 0u);
  EXPECT_EQ(TrailingSpace("a"), 0u);
  EXPECT_EQ(TrailingSpace("a \t\n\r\x0b\x0c"), 6u);
  EXPECT_EQ(TrailingSpace("  "), 2u);
  EXPECT_EQ(TrailingSpace("a\x1c\x1f"), 2u);
  EXPECT_EQ(TrailingSpace("a\xc2\xa0"), 2u);               // no-break space
  EXPECT_EQ(TrailingSpace("a\xe3\x80\x80 \xc2\x85"), 6u);  // ideographic space, space, next line
  EXPECT_EQ(TrailingSpace("a\xe2\x80\x8b"), 0u);           // zero width space is none
  EXPECT_EQ(TrailingSpace("\xc3\xa9"), 0u);
  EXPECT_EQ(TrailingSpace("a\x1b"), 0u);
}

TEST(CountCharacters, CountsCodePoints) {
  EXPECT_EQ(CountCharacters(" caf\xc3\xa9 \xe2\x98\x95"), 7u);
  EXPECT_EQ(std::string(" caf\xc3\xa9 \xe2\x98\x95").size(), 10u);
  EXPECT_EQ(CountCharacters("\xf0\x9f\x98\x80"), 1u);
  EXPECT_EQ(CountCharacters(""), 0u);
}

}  // namespace
}  // namespace fullband
