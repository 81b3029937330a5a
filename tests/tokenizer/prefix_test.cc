// Going on from the encoding of a text's beginning gives what encoding the whole text gives, wherever it is
// cut.
#include <gtest/gtest.h>

#include <random>

#include "tests/tokenizer/small_tokenizer.h"

namespace fullband {
namespace {

using Json = nlohmann::json;

// Merges of pairs that also stand on either side of a cut, so that a piece that is cut otherwise shows in its
// ids.
Json WithPairs(const Json& pre_tokenizer) {
  Json json = SmallTokenizer();
  const std::vector<std::string> atoms = {"a", "b", "1", "2", ".", "'", "s", "\u0120", "\u010a"};
  int next = 256;
  for (const std::string& left : atoms) {
    for (const std::string& right : atoms) {
      json["model"]["vocab"][left + right] = next++;
      json["model"]["merges"].push_back({left, right});
    }
  }
  if (!pre_tokenizer.is_null()) json["pre_tokenizer"] = pre_tokenizer;
  return json;
}

Json Split(const std::string& regex, const std::string& behavior, bool invert = false) {
  return {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", behavior}, {"invert", invert}};
}

Json Sequence(const std::vector<Json>& parts) {
  std::vector<Json> all = parts;
  if (all.back()["type"] != "ByteLevel")
    all.push_back(
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}});
  return {{"type", "Sequence"}, {"pretokenizers", all}};
}

Json Digits(bool individual) { return {{"type", "Digits"}, {"individual_digits", individual}}; }

struct Kind {
  std::string name;
  std::shared_ptr<const Tokenizer> tokenizer;
  bool shares = true;  // whether ordinary text settles
};

std::vector<Kind> Kinds() {
  const Json gpt2 = SmallTokenizer()["pre_tokenizer"];
  Json spaced = gpt2;
  spaced["add_prefix_space"] = true;
  Json tokens = WithPairs(gpt2);
  tokens["added_tokens"] = {Added(337, "<x>", {{"lstrip", true}}),
                            Added(338, "b a", {{"special", false}, {"rstrip", true}}),
                            Added(339, "12.", {{"special", false}, {"normalized", true}})};
  Json normal = WithPairs(gpt2);
  normal["normalizer"] = {{"type", "NFC"}};
  const auto folder = std::filesystem::path(FULLBAND_TEST_DATA) / "tokenizers";
  return {
      {"llama3", Tokenizer::Load(folder / "llama3_kind")},
      {"qwen", Tokenizer::Load(folder / "qwen_kind")},
      {"gpt2", LoadTokenizer(WithPairs(gpt2))},
      {"smollm2", LoadTokenizer(WithPairs(Sequence({Digits(true), gpt2})))},
      {"digits_last", LoadTokenizer(WithPairs(Sequence({Split("\\s+|[a-z]+", "Isolated"), Digits(true)})))},
      {"runs_of_digits", LoadTokenizer(WithPairs(Sequence({Digits(false), gpt2}))), false},
      {"added_tokens", LoadTokenizer(tokens)},
      {"normalizer", LoadTokenizer(normal)},
      {"space_first", LoadTokenizer(WithPairs(spaced)), false},
      {"looks_ahead", LoadTokenizer(WithPairs(Sequence({Split("[ab]+(?=.*1)|.", "Isolated")})))},
      {"looks_back", LoadTokenizer(WithPairs(Sequence({Split("(?<=a)[b ]+", "Isolated")}))), false},
      {"removed", LoadTokenizer(WithPairs(Sequence({Split("[ \\n]+", "Removed")})))},
      {"inverted", LoadTokenizer(WithPairs(Sequence({Split("[ab]+", "Removed", true)})))},
      {"may_be_empty", LoadTokenizer(WithPairs(Sequence({Split("[ab1]*", "Isolated")})))},
      {"with_next", LoadTokenizer(WithPairs(Sequence({Split("[ .]", "MergedWithNext")}))), false},
      {"two_cuts", LoadTokenizer(WithPairs(
                       Sequence({Split("[a-z ]+|\\n+(?!1)", "Isolated"), Split("ab| ", "Isolated")})))},
  };
}

class Draw {
 public:
  explicit Draw(uint64_t seed) : engine_(seed) {}
  size_t Below(size_t n) { return engine_() % n; }
  std::string Text(size_t pieces) {
    static const std::vector<std::string> kPieces = {
        "a",  "b",   "ab",  "aab", " ",         "  ",       "\n",        "\n\n",         "1",   "2",   "12",
        ".",  "..",  "'s",  "'",   "s",         "\xc3\xa9", "e\xcc\x81", "\xe4\xb8\xad", "<x>", "b a", "12.",
        "\t", "ab ", " ab", "a.",  "The house", " is "};
    std::string text;
    for (size_t i = 0; i < pieces; ++i) text += kPieces[Below(kPieces.size())];
    return text;
  }
  // A place between two characters.
  size_t Cut(const std::string& text) {
    size_t at = Below(text.size() + 1);
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
    return at;
  }

 private:
  std::mt19937_64 engine_;
};

TEST(EncodePrefix, GoesOnAsTheWholeTextIsEncoded) {
  for (const Kind& kind : Kinds()) {
    const Tokenizer& tokenizer = *kind.tokenizer;
    Draw draw(7);
    size_t settled = 0, cuts = 0;
    for (int i = 0; i < 3000; ++i) {
      const EncodeOptions options{draw.Below(2) == 0, draw.Below(2) == 0};
      const std::string text = draw.Text(1 + draw.Below(24));
      size_t first = draw.Cut(text), second = draw.Cut(text);
      if (first > second) std::swap(first, second);
      const EncodedPrefix shorter = tokenizer.EncodePrefix(text.substr(0, first), options);
      const EncodedPrefix longer = tokenizer.EncodePrefix(text.substr(0, second), options, &shorter);
      ASSERT_EQ(shorter.ids, tokenizer.Encode(text.substr(0, first), options)) << kind.name << ": " << text;
      ASSERT_EQ(longer.ids, tokenizer.Encode(text.substr(0, second), options))
          << kind.name << ": " << text << " at " << first << ", " << second;
      for (const EncodedPrefix* prefix : {&shorter, &longer})
        ASSERT_EQ(tokenizer.EncodeBehind(*prefix, text.substr(prefix->text.size()), options),
                  tokenizer.Encode(text, options))
            << kind.name << ": " << text << " at " << prefix->text.size();
      settled += longer.settled > 0;
      cuts += second > 0;
    }
    if (kind.shares)
      EXPECT_GT(settled, cuts / 10) << kind.name;
    else
      EXPECT_EQ(settled, 0u) << kind.name;
  }
}

TEST(EncodePrefix, SettlesAllButTheEndOfAText) {
  const auto tokenizer =
      Tokenizer::Load(std::filesystem::path(FULLBAND_TEST_DATA) / "tokenizers" / "qwen_kind");
  std::string text;
  for (int i = 0; i < 100; ++i) text += "The house by the river is small. ";
  const EncodedPrefix prefix = tokenizer->EncodePrefix(text, {});
  EXPECT_GT(prefix.settled + 10, text.size());
  EXPECT_LT(prefix.settled, text.size());  // the last space belongs to what follows
  EXPECT_EQ(prefix.text, text);
}

TEST(EncodePrefix, GoesOnFromWhatItIsGiven) {
  const auto tokenizer = LoadTokenizer(WithPairs(nullptr));
  EncodedPrefix prefix = tokenizer->EncodePrefix("ab ab ab", {});
  ASSERT_EQ(prefix.settled, 5u);
  EXPECT_EQ(tokenizer->EncodeBehind(prefix, "a", {}), tokenizer->Encode("ab ab aba"));
  prefix.ids[0] += 1;  // were it encoded anew, this would not show
  EXPECT_NE(tokenizer->EncodeBehind(prefix, "a", {}), tokenizer->Encode("ab ab aba"));
  prefix.ids[0] -= 1;
  prefix.settled_ids -= 1;
  EXPECT_NE(tokenizer->EncodeBehind(prefix, "a", {}), tokenizer->Encode("ab ab aba"));
}

}  // namespace
}  // namespace fullband
