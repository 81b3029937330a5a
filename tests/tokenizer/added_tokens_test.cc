// What added tokens match and take with them; the ids are those of Hugging Face's tokenizers 0.23.
#include <gtest/gtest.h>

#include "tests/tokenizer/small_tokenizer.h"

namespace fullband {
namespace {

using Ids = std::vector<int32_t>;

TEST(AddedTokens, TakeWhiteSpaceBefore) {
  const auto t = LoadWithAdded({Added(256, "<m>", {{"lstrip", true}})});
  EXPECT_EQ(t->Encode("a  <m> b"), (Ids{64, 256, 220, 65}));
  EXPECT_EQ(t->Encode(" <m>\n<m>"), (Ids{256, 256}));
  EXPECT_EQ(t->Encode("\u3000<m>x"), (Ids{256, 87}));
}

TEST(AddedTokens, TakeWhiteSpaceAfter) {
  const auto t = LoadWithAdded({Added(256, "<m>", {{"rstrip", true}})});
  EXPECT_EQ(t->Encode("a  <m>  b"), (Ids{64, 220, 220, 256, 65}));
  EXPECT_EQ(t->Encode("<m>\n\n"), (Ids{256}));
  EXPECT_EQ(t->Encode("<m>\u0085\u00A0x"), (Ids{256, 87}));
}

TEST(AddedTokens, TakeWhiteSpaceOnBothSides) {
  const auto t = LoadWithAdded({Added(256, "<m>", {{"lstrip", true}, {"rstrip", true}})});
  EXPECT_EQ(t->Encode("a  <m>  b"), (Ids{64, 256, 65}));
  EXPECT_EQ(t->Encode("<m> <m> <m>"), (Ids{256, 256, 256}));
}

TEST(AddedTokens, MatchInsideWhatOneBeforeTook) {
  const auto t = LoadWithAdded(
      {Added(256, "\n", {{"rstrip", true}}), Added(257, "<a>", {{"lstrip", true}, {"rstrip", true}})});
  EXPECT_EQ(t->Encode("x\n\n\n <a> <a>  y"), (Ids{87, 256, 256, 256, 257, 257, 88}));
}

TEST(AddedTokens, SingleWord) {
  const auto t = LoadWithAdded({Added(256, "ab", {{"single_word", true}, {"special", false}})});
  const struct {
    const char* text;
    Ids ids;
  } rows[] = {
      {"ab", {256}},
      {"ab ab", {256, 220, 256}},
      {"cab", {66, 64, 65}},
      {"ab1", {64, 65, 16}},
      {"(ab)", {7, 256, 8}},
      {"ab_", {64, 65, 62}},
      {"abab", {64, 65, 64, 65}},
      {"\u00E9ab", {127, 102, 64, 65}},
      {"ab\u0301", {64, 65, 136, 223}},
      {"ab\u200D", {64, 65, 158, 222, 235}},
      {"\u00B2ab", {126, 110, 256}},
  };
  for (const auto& row : rows) EXPECT_EQ(t->Encode(row.text), row.ids) << row.text;
}

TEST(AddedTokens, Normalized) {
  const nlohmann::json nfc = {{"type", "NFC"}};
  const auto after = LoadWithAdded({Added(256, "\u00E9!", {{"normalized", true}, {"special", false}})}, nfc);
  EXPECT_EQ(after->Encode("e\u0301!"), (Ids{256}));
  EXPECT_EQ(after->Encode("\u00E9!"), (Ids{256}));
  const auto before = LoadWithAdded({Added(256, "\u00E9!", {{"special", false}})}, nfc);
  EXPECT_EQ(before->Encode("e\u0301!"), (Ids{127, 102, 0}));
  EXPECT_EQ(before->Encode("\u00E9!"), (Ids{256}));
}

TEST(AddedTokens, LongestOfThoseThatBeginFirst) {
  const auto t = LoadWithAdded(
      {Added(256, "<a>"), Added(257, "<a>b", {{"special", false}}), Added(258, "a>", {{"special", false}})});
  EXPECT_EQ(t->Encode("<a>b"), (Ids{257}));
  EXPECT_EQ(t->Encode("<a>c"), (Ids{256, 66}));
  EXPECT_EQ(t->Encode("a>"), (Ids{258}));
}

TEST(AddedTokens, SpecialOnesCanBeSplit) {
  const auto t = LoadWithAdded({Added(256, "<a>"), Added(257, "<a>b", {{"special", false}})});
  EncodeOptions split;
  split.split_special_tokens = true;
  EXPECT_EQ(t->Encode("<a>b", split), (Ids{257}));
  EXPECT_EQ(t->Encode("<a>c", split), (Ids{27, 64, 29, 66}));
}

TEST(Guard, KeepsTextFromBecomingSpecialTokens) {
  const auto t =
      LoadWithAdded({Added(256, "<a>"), Added(257, "</a>"), Added(258, "==", {{"special", false}})});
  const std::string data = "x<a>y</a>==<<a>>";
  const std::string guarded = t->Guard(data);
  EXPECT_NE(guarded, data);
  EXPECT_EQ(Tokenizer::Unguard(guarded), data);
  EncodeOptions split;
  split.split_special_tokens = true;
  EXPECT_EQ(t->EncodeGuarded(guarded, {}), t->Encode(data, split)) << "other added tokens stay";
  // Within a template, whose own tokens stay special.
  Ids expected = {256};
  for (const int32_t id : t->Encode(data, split)) expected.push_back(id);
  expected.push_back(257);
  EXPECT_EQ(t->EncodeGuarded("<a>" + guarded + "</a>", {}), expected);
  EXPECT_EQ(t->Guard("nothing special < a>"), "nothing special < a>");
}

TEST(Guard, TextsOwnMarksStay) {
  const auto t = LoadWithAdded({Added(256, "<a>"), Added(257, "\u2713")});
  EncodeOptions split;
  split.split_special_tokens = true;
  for (const std::string text : {"\uFDD0", "\uFDD0\uFDD0<a>\uFDD0", "\u2713\uFDD0\u2713\uFDD0\uFDD0",
                                 "<\uFDD0a>", "\uFDD0\u2713<a>\u2713"}) {
    EXPECT_EQ(Tokenizer::Unguard(t->Guard(text)), text);
    EXPECT_EQ(t->EncodeGuarded(t->Guard(text), {}), t->Encode(text, split)) << text;
  }
}

TEST(Guard, OverlappingAndOneCharacterTokens) {
  const auto t = LoadWithAdded({Added(256, "aba"), Added(257, "\u2713")});
  EncodeOptions split;
  split.split_special_tokens = true;
  for (const std::string text : {"ababa", "\u2713\u2713", "\u2713aba\u2713", "cababac"})
    EXPECT_EQ(t->EncodeGuarded(t->Guard(text), {}), t->Encode(text, split)) << text;
  Ids expected = t->Encode("\u2713", split);
  expected.insert(expected.begin(), 257);
  expected.push_back(257);
  EXPECT_EQ(t->EncodeGuarded("\u2713" + t->Guard("\u2713") + "\u2713", {}), expected);
}

TEST(Guard, SpecialTokensLookedForAfterNormalization) {
  const auto t = LoadWithAdded({Added(256, "<\u00E9>", {{"normalized", true}})}, {{"type", "NFC"}});
  EncodeOptions split;
  split.split_special_tokens = true;
  for (const std::string text : {"x<\u00E9>", "x<e\u0301>y"}) {
    EXPECT_EQ(t->Encode(text)[1], 256) << "the text has the token when not guarded";
    EXPECT_EQ(t->EncodeGuarded(t->Guard(text), {}), t->Encode(text, split)) << text;
  }
}

}  // namespace
}  // namespace fullband
