#include "evals/cuts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "common/error.h"
#include "engine/decode/generated_text.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_tokenizer.h"

namespace fullband {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int32_t kSpecial = 11, kEnd = 12, kPieces = 13;

const Tokenizer& Pieces() {
  static const auto tokenizer = MakeTestTokenizer({"a", "b", " ", "ab", "\n", "\xC3", "\xA9", "\xC3\xA9\xE2",
                                                   "\x82\xAC", "a\xC3", "Q:", "<|x|>", "<|end|>"},
                                                  {kSpecial, kEnd});
  return *tokenizer;
}

// What a run with this limit stores of the trace, as engine/decode/sequence.cc does it.
SampleRecord Stored(const std::vector<int32_t>& trace, const std::vector<std::string>& stop_strings,
                    size_t limit) {
  GeneratedText text(&Pieces(), stop_strings);
  SampleRecord sample;
  sample.stop_reason = "length";
  for (const int32_t token : trace) {
    if (sample.tokens.size() == limit) break;
    sample.tokens.push_back(token);
    if (token == kEnd) {
      text.PushSilent();
      sample.stop_reason = "end";
      break;
    }
    if (text.Push(token)) {
      sample.stop_reason = "stop_string";
      break;
    }
  }
  text.Finish();
  sample.text = text.Kept();
  sample.text_ends = text.ends();
  sample.generated_tokens = static_cast<int64_t>(sample.tokens.size());
  sample.trace_tokens = text.KeptTokens();
  return sample;
}

std::vector<int32_t> RandomTrace(std::mt19937* random, size_t length, int32_t pieces) {
  std::vector<int32_t> trace;
  while (trace.size() < length)
    trace.push_back(static_cast<int32_t>((*random)() % static_cast<uint32_t>(pieces)));
  return trace;
}

// Every cut of every trace is the run with that limit: the text where the store tells it, else one of those
// named.
TEST(Cuts, AreRunsWithSmallerLimits) {
  const std::vector<std::vector<std::string>> stop_sets = {
      {}, {"Q:"}, {"b\n", "aab"}, {" b", " a"}, {"\xC3\xA9 "}, {"\n\n", "\nQ:", "<|x|>"}};
  std::mt19937 random(3);
  int cuts = 0, open = 0, in_stop = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::vector<std::string>& stops = stop_sets[static_cast<size_t>(round) % stop_sets.size()];
    // Half of the traces without parts of characters.
    const std::vector<int32_t> trace = RandomTrace(&random, 24, round % 2 ? kPieces : 5);
    const SampleRecord whole = Stored(trace, stops, 20);
    for (size_t budget = 1; budget <= 24; ++budget) {
      if (whole.stop_reason == "length" && budget > 20) continue;
      const SampleRecord run = Stored(trace, stops, budget);
      const Cut cut = CutAt(whole, static_cast<int64_t>(budget), stops);
      ++cuts;
      EXPECT_EQ(cut.sample.stop_reason, run.stop_reason);
      EXPECT_EQ(cut.truncated, run.stop_reason == "length");
      EXPECT_EQ(cut.sample.tokens, run.tokens);
      EXPECT_EQ(cut.sample.generated_tokens, run.generated_tokens);
      std::vector<std::string> texts = cut.other_texts;
      texts.insert(texts.begin(), cut.sample.text);
      EXPECT_THAT(texts, Contains(run.text));
      open += !cut.other_texts.empty();
      in_stop += run.text.size() > whole.text.size();
      if (round % 2 == 0 && stops.size() < 2) {
        EXPECT_THAT(cut.other_texts, IsEmpty());
      }
    }
  }
  EXPECT_GT(cuts, 40000);
  EXPECT_GT(open, 1000);
  EXPECT_GT(in_stop, 100);
}

TEST(Cuts, TextEndsWithTheLastTokensWholeCharacters) {
  const SampleRecord sample = Stored({3, 2, 5, 6, 0, kEnd}, {}, 10);  // "ab" " " "é" in parts "a"
  EXPECT_EQ(CutAt(sample, 1, {}).sample.text, "ab");
  EXPECT_THAT(CutAt(sample, 1, {}).other_texts, IsEmpty());
  const Cut inside = CutAt(sample, 3, {});
  EXPECT_EQ(inside.sample.text, "ab ");
  EXPECT_THAT(inside.other_texts, ElementsAre("ab \xEF\xBF\xBD"));
  EXPECT_EQ(CutAt(sample, 5, {}).sample.text, sample.text);
  EXPECT_TRUE(CutAt(sample, 5, {}).truncated);  // the end token is the sixth
  EXPECT_FALSE(CutAt(sample, 6, {}).truncated);
  EXPECT_FALSE(CutAt(sample, 100, {}).truncated);
}

TEST(Cuts, WhatAStopStringHadBegunIsPartOfTheText) {
  const std::vector<std::string> stops = {"b b", " ab"};
  const SampleRecord sample = Stored({0, 1, 2, 1}, stops, 10);
  ASSERT_EQ(sample.text, "a");
  EXPECT_EQ(CutAt(sample, 3, {"b b"}).sample.text, "ab ");
  const Cut either = CutAt(sample, 3, stops);
  EXPECT_EQ(either.sample.text, "ab ");
  EXPECT_THAT(either.other_texts, ElementsAre("a a"));
}

TEST(Cuts, BeyondItsOwnLimitNothingIsKnown) {
  const SampleRecord sample = Stored({0, 0, 0, 0}, {}, 3);
  EXPECT_EQ(CutAt(sample, 3, {}).sample.text, "aaa");
  EXPECT_THROW(CutAt(sample, 4, {}), Error);
  SampleRecord context = sample;
  context.stop_reason = "context";  // there it ends whatever the limit
  EXPECT_EQ(CutAt(context, 4, {}).sample.stop_reason, "context");
  EXPECT_TRUE(CutAt(context, 4, {}).truncated);
}

TEST(Cuts, AFaultStaysOne) {
  SampleRecord sample;
  sample.fault = "a state is not finite";
  EXPECT_EQ(CutAt(sample, 4, {}).sample.fault, sample.fault);
  EXPECT_FALSE(CutAt(sample, 4, {}).truncated);
}

TEST(Cuts, AnImportedTraceMayGoOnBehindItsStopString) {
  SampleRecord sample = Stored({0, 10, 1, 1}, {}, 4);  // "a" "Q:" "b" "b"
  sample.text = "a";
  sample.stop_reason = "stop_string";
  EXPECT_EQ(CutAt(sample, 3, {"Q:"}).sample.text, "a");
  EXPECT_EQ(CutAt(sample, 1, {"Q:"}).sample.text, "a");
}

TEST(Cuts, UsualBudgetsArePowersOfTwoAndTheLimit) {
  EXPECT_THAT(UsualBudgets(512), ElementsAre(16, 32, 64, 128, 256, 512));
  EXPECT_THAT(UsualBudgets(160), ElementsAre(8, 16, 32, 64, 128, 160));
  EXPECT_THAT(UsualBudgets(3), ElementsAre(1, 2, 3));
  EXPECT_THAT(UsualBudgets(1), ElementsAre(1));
  EXPECT_THAT(UsualBudgets(0), IsEmpty());
}

}  // namespace
}  // namespace fullband
