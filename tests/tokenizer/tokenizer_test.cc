#include "engine/tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "tests/tokenizer/small_tokenizer.h"

namespace fullband {
namespace {

using Ids = std::vector<int32_t>;
using Json = nlohmann::json;

std::shared_ptr<const Tokenizer> LoadKind(const std::string& name) {
  return Tokenizer::Load(std::filesystem::path(FULLBAND_TEST_DATA) / "tokenizers" / name);
}

Json WithMerges(const std::vector<std::string>& results, const Json& merges) {
  Json json = SmallTokenizer();
  for (size_t i = 0; i < results.size(); ++i) json["model"]["vocab"][results[i]] = 256 + i;
  json["model"]["merges"] = merges;
  return json;
}

TEST(Encode, MergesBestFirstThenLeftmost) {
  // "aaa": the left pair; "abc": bc comes before ab.
  for (const Json& merges : {Json{"a a", "b c", "a b"}, Json::array({{"a", "a"}, {"b", "c"}, {"a", "b"}})}) {
    const auto t = LoadTokenizer(WithMerges({"aa", "bc", "ab"}, merges));
    EXPECT_EQ(t->Encode("aaa"), (Ids{256, 64}));
    EXPECT_EQ(t->Encode("abc"), (Ids{64, 257}));
    EXPECT_EQ(t->Encode("ab"), (Ids{258}));
    EXPECT_EQ(t->Encode(""), Ids{});
  }
}

TEST(Encode, LongPiecesMergeLikeShortOnes) {
  const auto t = LoadTokenizer(WithMerges({"aa", "aaaa", "ab", "aab"}, {"a a", "aa aa", "a b", "a ab"}));
  for (size_t size = 1; size < 200; ++size) {
    // A lone b after each run: pieces of one kind, below and above the length where the method changes.
    const Ids one = t->Encode(std::string(size, 'a'));
    Ids expected(size / 4, 257);
    if (size % 4 >= 2) expected.push_back(256);
    if (size % 2 == 1) expected.push_back(64);
    EXPECT_EQ(one, expected) << size;
  }
}

TEST(Encode, IgnoringMergesTakesWholeTokens) {
  Json json = WithMerges({"ab", "abc"}, {"a b"});
  EXPECT_EQ(LoadTokenizer(json)->Encode("abc ab"), (Ids{256, 66, 220, 256}));
  json["model"]["ignore_merges"] = true;
  EXPECT_EQ(LoadTokenizer(json)->Encode("abc ab"), (Ids{257, 220, 256}));
}

// As Hugging Face's tokenizers: dropped, so that neighbours merge, or the unknown token.
TEST(Encode, BytesWithoutAToken) {
  Json json = WithMerges({"<u>", "ab"}, {"a b"});
  json["model"]["vocab"].erase("\u0104");  // byte 4
  json["pre_tokenizer"]["use_regex"] = false;
  EXPECT_EQ(LoadTokenizer(json)->Encode("a\x04\x04"
                                        "b"),
            (Ids{257}));
  json["model"]["unk_token"] = "<u>";
  EXPECT_EQ(LoadTokenizer(json)->Encode("a\x04\x04"
                                        "b"),
            (Ids{64, 256, 256, 65}));
  json["model"]["fuse_unk"] = true;
  EXPECT_EQ(LoadTokenizer(json)->Encode("a\x04\x04"
                                        "b"),
            (Ids{64, 256, 65}));
}

TEST(Encode, RefusesWhatIsNotUtf8) {
  const auto t = LoadTokenizer(SmallTokenizer());
  try {
    t->Encode("ab\xFFz");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.why(), testing::HasSubstr("byte 0xFF at offset 2"));
  }
}

// In quadratic time each would take minutes.
TEST(Encode, LongTextsWithoutASpace) {
  for (const char* kind : {"qwen_kind", "llama3_kind"}) {
    const auto t = LoadKind(kind);
    EncodeOptions plain;
    plain.add_special_tokens = false;
    for (const std::string unit :
         {"a", "ab", " ", "\n", "7", "=", "\u00E9", "\U0001F600", "<|im_end|", "e\u0301"}) {
      std::string text;
      while (text.size() < (1 << 18)) text += unit;
      const Ids ids = t->Encode(text, plain);
      if (unit != "e\u0301") {
        EXPECT_EQ(t->Decode(ids, false), text) << kind << unit;
      }
    }
  }
}

TEST(Special, AddedAsThePostProcessorSays) {
  const auto t = LoadKind("llama3_kind");
  const Ids with = t->Encode("Hello");
  EncodeOptions plain;
  plain.add_special_tokens = false;
  const Ids without = t->Encode("Hello", plain);
  ASSERT_EQ(with.size(), without.size() + 1);
  EXPECT_EQ(with[0], t->bos());
  EXPECT_EQ(t->eos(), t->Id("<|eot_id|>"));
  EXPECT_EQ(t->Encode(""), (Ids{*t->bos()}));
  EXPECT_EQ(LoadKind("qwen_kind")->bos(), std::nullopt);
}

// What transformers 5 makes of tokenizer_config.json.
TEST(Special, ConfigReplacesThePostProcessorWhereItSpeaksOfBos) {
  Json json = SmallTokenizer();
  json["added_tokens"] = {Added(256, "<s>"), Added(257, "</s>")};
  json["post_processor"] = {{"type", "TemplateProcessing"},
                            {"single", {{{"Sequence", {{"id", "A"}}}}, {{"SpecialToken", {{"id", "</s>"}}}}}},
                            {"special_tokens", {{"</s>", {{"ids", {257}}}}}}};
  const Json names = {{"bos_token", "<s>"}, {"eos_token", {{"content", "</s>"}}}};
  const auto encode = [&](const Json& more) {
    Json config = names;
    config.update(more);
    return LoadTokenizer(json, config)->Encode("a");
  };
  EXPECT_EQ(LoadTokenizer(json)->Encode("a"), (Ids{64, 257}));
  EXPECT_EQ(encode(Json::object()), (Ids{64, 257}));
  EXPECT_EQ(encode({{"add_bos_token", true}}), (Ids{256, 64}));
  EXPECT_EQ(encode({{"add_bos_token", false}}), (Ids{64}));
  EXPECT_EQ(encode({{"add_bos_token", true}, {"add_eos_token", true}}), (Ids{256, 64, 257}));
  EXPECT_EQ(encode({{"add_eos_token", nullptr}}), (Ids{64}));
  json["post_processor"] = nullptr;
  EXPECT_EQ(encode(Json::object()), (Ids{64}));
}

TEST(Special, NamedTokensAreSpecialAndFlagsComeFromTheConfig) {
  Json json = SmallTokenizer();
  json["added_tokens"] = {Added(256, "<a>", {{"special", false}})};
  const auto named = LoadTokenizer(json, {{"eos_token", "<a>"}, {"pad_token", "z"}});
  EXPECT_TRUE(named->IsSpecial(256));
  EXPECT_TRUE(named->IsSpecial(*named->Id("z")));
  EXPECT_FALSE(LoadTokenizer(json)->IsSpecial(256));
  Json token = Added(256, "<a>", {{"lstrip", true}});
  token.erase("id");
  EXPECT_EQ(LoadTokenizer(json, {{"added_tokens_decoder", {{"256", token}}}})->Encode("a <a>"),
            (Ids{64, 256}));
}

TEST(Decode, SkipsSpecialTokensWhenAsked) {
  const auto t = LoadWithAdded({Added(256, "<a>"), Added(257, "<b c>", {{"special", false}})});
  const Ids ids = {256, 71, 257, 256, 72};
  EXPECT_EQ(t->Decode(ids, false), "<a>h<b c><a>i");
  EXPECT_EQ(t->Decode(ids, true), "h<b c>i");
  EXPECT_EQ(t->TokenBytes(257), "<b c>");
}

// Reported faults: a leading space was lost on the way there and back (T06), and where only the new tokens of
// a completion were decoded, so that every first line of code was indented wrongly (C28).
TEST(Decode, WhiteSpaceComesBack) {
  const std::vector<std::string> strings = {"    if x:\n", "  a",
                                            " a",          "a",
                                            "\tx",         "\n\n  y",
                                            " ",           "",
                                            "a  ",         "\r\n x\r",
                                            "\u00A0a",     "\u3000a",
                                            " \u00E9",     "x\n    return x  \n\n"};
  EncodeOptions plain;
  plain.add_special_tokens = false;
  for (const char* kind : {"qwen_kind", "llama3_kind"}) {
    const auto t = LoadKind(kind);
    for (const std::string& text : strings) {
      EXPECT_EQ(t->Decode(t->Encode(text, plain), false), text) << kind;
      EXPECT_EQ(t->Decode(t->Encode(text), true), text) << kind;
      // As a completion: its tokens alone, one after another.
      StreamDecoder stream(*t);
      std::string streamed;
      for (const int32_t id : t->Encode(text, plain)) streamed += stream.Push(id);
      EXPECT_EQ(streamed + stream.Finish(), text) << kind;
      if (std::any_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; }))
        continue;  // may be cut within a character
      const std::string prompt = "def f(x):\n";
      const Ids whole = t->Encode(prompt + text, plain);
      for (size_t cut = 0; cut <= whole.size(); ++cut)
        EXPECT_EQ(
            t->Decode(std::span(whole).first(cut), false) + t->Decode(std::span(whole).subspan(cut), false),
            prompt + text)
            << kind << cut;
    }
  }
}

TEST(Decode, VocabulariesMayHaveHoles) {
  Json json = SmallTokenizer();
  json["model"]["vocab"]["ab"] = 300;
  const auto t = LoadTokenizer(json);
  EXPECT_EQ(t->vocab_size(), 301);
  EXPECT_EQ(t->Decode(Ids{64, 280, 300, 5000, -1}, false), "aab")
      << "as Hugging Face, which leaves such ids out";
  EXPECT_EQ(t->TokenBytes(280), "");
  EXPECT_THROW(t->TokenBytes(301), Error);
  EXPECT_THROW(t->TokenBytes(-1), Error);
}

TEST(StreamDecoder, PiecesJoinToTheWhole) {
  const auto t = LoadKind("qwen_kind");
  uint64_t state = 1;
  for (int round = 0; round < 2000; ++round) {
    Ids ids;
    for (int i = 0; i < 20; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      // Mostly single bytes, which are rarely UTF-8 together.
      ids.push_back(static_cast<int32_t>((state >> 33) % (i % 3 == 0 ? t->vocab_size() : 256)));
    }
    StreamDecoder stream(*t);
    std::string text;
    for (const int32_t id : ids) {
      const std::string piece = stream.Push(id);
      EXPECT_EQ(LossyText(piece), piece) << "a piece is UTF-8 by itself";
      text += piece;
    }
    text += stream.Finish();
    ASSERT_EQ(text, t->Decode(ids, true));
  }
}

TEST(StreamDecoder, HoldsBackAStartedCharacter) {
  const auto t = LoadTokenizer(SmallTokenizer());
  const Ids ids = t->Encode("\u20AC!");
  ASSERT_EQ(ids.size(), 4u);
  StreamDecoder stream(*t);
  EXPECT_EQ(stream.Push(ids[0]), "");
  EXPECT_EQ(stream.Push(ids[1]), "");
  EXPECT_EQ(stream.Push(ids[2]), "\u20AC");
  EXPECT_EQ(stream.Push(ids[3]), "!");
  stream.Push(ids[0]);
  EXPECT_EQ(stream.Finish(), "\uFFFD");
  EXPECT_EQ(stream.Finish(), "");
}

}  // namespace
}  // namespace fullband
