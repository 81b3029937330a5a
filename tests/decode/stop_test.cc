// How traces end, and what text is kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "engine/decode/generated_text.h"
#include "engine/engine.h"
#include "tests/support/test_tokenizer.h"
#include "tests/support/toy_backend.h"

namespace fullband {
namespace {

constexpr int32_t kSpecial = 14;

// Characters of one, two and three bytes, whole and in parts.
const std::shared_ptr<const Tokenizer>& Pieces() {
  static const auto tokenizer =
      MakeTestTokenizer({"a", "b", " ", "ab", "ba", "\xC3", "\xA9", "\xC3\xA9", "\xC3\xA9\xE2", "\x82\xAC",
                         "\x82", "\xAC b", "a\xC3", "\n", "<|x|>", "bb\n"},
                        {kSpecial});
  return tokenizer;
}

// What the first `count` tokens say; bytes of an unfinished last character are replaced.
std::string TextOf(const std::vector<int32_t>& tokens, size_t count) {
  return Pieces()->Decode(std::span(tokens).first(count), true);
}

TEST(GeneratedText, AStopStringMaySpanTokens) {
  GeneratedText text(Pieces().get(), {"ab b"});
  EXPECT_FALSE(text.Push(4));  // "ba"
  EXPECT_FALSE(text.Push(1));  // "b"
  EXPECT_FALSE(text.Push(2));  // " "
  EXPECT_TRUE(text.Push(15));  // "bb\n"
  text.Finish();
  EXPECT_EQ(text.Kept(), "b");
  EXPECT_EQ(text.KeptTokens(), 1);
  EXPECT_EQ(text.ends(), (std::vector<int32_t>{2, 3, 4, 7}));
}

TEST(GeneratedText, TheEarliestMatchCuts) {
  GeneratedText text(Pieces().get(), {"b\n", "bb"});
  EXPECT_TRUE(text.Push(15));
  EXPECT_EQ(text.Kept(), "");
  EXPECT_EQ(text.KeptTokens(), 0);
}

TEST(GeneratedText, ACharacterInPartsIsFoundWithItsLastByte) {
  GeneratedText text(Pieces().get(), {"\xE2\x82\xAC"});
  EXPECT_FALSE(text.Push(8));  // e acute and the first byte of the euro sign
  EXPECT_EQ(text.ends().back(), 2);
  EXPECT_FALSE(text.Push(10));
  EXPECT_TRUE(text.Push(11));
  text.Finish();
  EXPECT_EQ(text.Kept(), "\xC3\xA9");
  EXPECT_EQ(text.KeptTokens(), 1);
}

TEST(GeneratedText, ATokenWithOnlyPartOfAKeptCharacterCounts) {
  GeneratedText text(Pieces().get(), {});
  text.Push(5);
  text.Push(6);
  text.Push(kSpecial);
  text.Push(0);
  text.Finish();
  EXPECT_EQ(text.Kept(),
            "\xC3\xA9"
            "a");
  EXPECT_EQ(text.KeptTokens(), 3);
  EXPECT_EQ(text.ends(), (std::vector<int32_t>{0, 2, 2, 3}));
}

TEST(GeneratedText, BytesThatAreNoCharacterAreReplaced) {
  GeneratedText text(Pieces().get(), {"a"});
  text.Push(5);
  EXPECT_TRUE(text.Push(3));  // the first byte of e acute, then "ab"
  EXPECT_EQ(text.Kept(), "\xEF\xBF\xBD");
  EXPECT_EQ(text.KeptTokens(), 1);
  GeneratedText unfinished(Pieces().get(), {});
  unfinished.Push(12);
  unfinished.Finish();
  EXPECT_EQ(unfinished.Kept(), "a\xEF\xBF\xBD");
  EXPECT_EQ(unfinished.ends(), (std::vector<int32_t>{4}));
}

// A reported fault (T02): special tokens give no text, so that a stop string that spells one was never found
// in it.
TEST(GeneratedText, AStopStringMayBeASpecialToken) {
  GeneratedText text(Pieces().get(), {"bb", "<|x|>"});
  EXPECT_FALSE(text.Push(0));
  EXPECT_FALSE(text.Push(8));  // e acute and the first byte of the euro sign, which stays alone
  EXPECT_TRUE(text.Push(kSpecial));
  text.Finish();
  EXPECT_EQ(text.Kept(), "a\xC3\xA9\xEF\xBF\xBD");
  EXPECT_EQ(text.KeptTokens(), 2);
  GeneratedText first(Pieces().get(), {"<|x|>"});
  EXPECT_TRUE(first.Push(kSpecial));
  first.Finish();
  EXPECT_EQ(first.Kept(), "");
  EXPECT_EQ(first.KeptTokens(), 0);
  GeneratedText other(Pieces().get(), {"<|y|>", "<|x|"});
  EXPECT_FALSE(other.Push(kSpecial));
}

// Code begins with blanks, which a decoder that takes the first token for a text's beginning would drop.
TEST(GeneratedText, KeepsTheBlanksThatItBeginsWith) {
  const auto tokenizer = MakeTestTokenizer({"    ", "return", " x", " ", "\t"});
  const std::vector<std::pair<std::vector<int32_t>, std::string>> cases = {
      {{0, 1, 2}, "    return x"}, {{3, 1}, " return"}, {{2, 2}, " x x"}, {{4, 1}, "\treturn"}};
  for (const auto& [tokens, kept] : cases) {
    GeneratedText text(tokenizer.get(), {});
    for (const int32_t token : tokens) EXPECT_FALSE(text.Push(token));
    text.Finish();
    EXPECT_EQ(text.Kept(), kept);
  }
}

TEST(GeneratedText, StopStringsAreLiteral) {
  const auto tokenizer =
      MakeTestTokenizer({"    return x | 1", "<|endo", "ftext|>", "garbage", ".*", "[a-z]"});
  GeneratedText text(tokenizer.get(), {"<|endoftext|>", ".+", "[^|]"});
  for (const int32_t token : {0, 5, 4, 1}) EXPECT_FALSE(text.Push(token));
  EXPECT_TRUE(text.Push(2));
  EXPECT_EQ(text.Kept(), "    return x | 1[a-z].*");
}

TEST(GeneratedText, WithoutATokenizerThereIsNoText) {
  GeneratedText text(nullptr, {});
  EXPECT_FALSE(text.Push(3));
  text.Finish();
  EXPECT_EQ(text.Kept(), "");
  EXPECT_EQ(text.ends(), (std::vector<int32_t>{0}));
}

TEST(GeneratedText, TokensBeyondTheTokenizersHaveNoText) {
  GeneratedText text(Pieces().get(), {});
  EXPECT_FALSE(text.Push(1000));
  text.Push(0);
  EXPECT_EQ(text.Kept(), "a");
  EXPECT_EQ(text.KeptTokens(), 1);
}

// Random token streams against whole decoding: found with the token that completes it, cut at the earliest
// match.
TEST(GeneratedText, AgreesWithDecodingEveryPrefixWhole) {
  std::mt19937 random(3);
  const std::vector<std::string> stops = {
      "\xC3\xA9"
      "a",
      "b \n", "\xE2\x82\xAC", "ba b"};
  int found = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<int32_t> tokens;
    GeneratedText text(Pieces().get(), stops);
    bool stopped = false;
    while (!stopped && tokens.size() < 30) {
      tokens.push_back(static_cast<int32_t>(random() % 16));
      stopped = text.Push(tokens.back());
      const std::string whole = TextOf(tokens, tokens.size());
      size_t cut = std::string::npos;
      for (const std::string& stop : stops) cut = std::min(cut, whole.find(stop));
      ASSERT_EQ(stopped, cut != std::string::npos) << whole;
      if (!stopped) continue;
      ++found;
      text.Finish();
      EXPECT_EQ(text.Kept(), whole.substr(0, cut));
      // A token counts unless the text before it already holds all that is kept.
      int counted = 0;
      for (size_t i = 0; i < tokens.size(); ++i) {
        std::vector<int32_t> upto(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(i));
        std::string before;
        for (int32_t token : upto)
          if (token != kSpecial) before += Pieces()->TokenBytes(token);
        if (tokens[i] == kSpecial) continue;
        // Replaced bytes make the raw offset useless; those rounds check the text alone.
        if (whole.find("\xEF\xBF\xBD") != std::string::npos) {
          counted = text.KeptTokens();
          break;
        }
        counted += before.size() < cut;
      }
      EXPECT_EQ(text.KeptTokens(), counted) << whole;
    }
  }
  EXPECT_GT(found, 100);
}

Answer Ask(GenerateRequest request, ToyOptions toy, std::shared_ptr<const Tokenizer> tokenizer) {
  if (request.prompt.empty()) request.prompt = {3, 1, 4, 1, 5};
  Engine engine(std::make_unique<ToyBackend>(toy), std::move(tokenizer), {});
  engine.Submit(request);
  std::optional<Answer> answer = engine.Next();
  EXPECT_TRUE(answer.has_value());
  return *answer;
}

std::vector<int32_t> Ids(const Answer& answer) {
  std::vector<int32_t> ids;
  for (const GeneratedToken& token : answer.tokens) ids.push_back(token.id);
  return ids;
}

GenerateRequest Latent(int max_new) {
  GenerateRequest request;
  request.setting = Setting::Parse("latent");
  request.max_new_tokens = max_new;
  return request;
}

TEST(StopReason, Length) {
  const Answer answer = Ask(Latent(6), {}, Pieces());
  EXPECT_EQ(answer.stop_reason, StopReason::kLength);
  EXPECT_EQ(answer.tokens.size(), 6u);
  EXPECT_EQ(answer.text, TextOf(Ids(answer), 6));
  const Answer none = Ask(Latent(0), {}, Pieces());
  EXPECT_EQ(none.stop_reason, StopReason::kLength);
  EXPECT_TRUE(none.tokens.empty());
}

TEST(StopReason, EndTokensOfTheConfig) {
  const std::vector<int32_t> free = Ids(Ask(Latent(12), {}, nullptr));
  ToyOptions toy;
  toy.end_tokens = {free[7], 999};
  const auto first = std::find(free.begin(), free.end(), free[7]);
  const Answer answer = Ask(Latent(12), toy, Pieces());
  EXPECT_EQ(answer.stop_reason, StopReason::kEnd);
  EXPECT_EQ(Ids(answer), std::vector<int32_t>(free.begin(), first + 1));
  // The end token gives no text, though it has some.
  EXPECT_EQ(answer.text, TextOf(free, static_cast<size_t>(first - free.begin())));
}

TEST(StopReason, TheTokenizersEndOfTurn) {
  const std::vector<int32_t> free = Ids(Ask(Latent(12), {}, nullptr));
  std::vector<std::string> pieces(16);
  for (int i = 0; i < 16; ++i) pieces[static_cast<size_t>(i)] = std::string(1, static_cast<char>('a' + i));
  const auto tokenizer = MakeTestTokenizer(pieces, {free[5]}, free[5]);
  const Answer answer = Ask(Latent(12), {}, tokenizer);
  EXPECT_EQ(answer.stop_reason, StopReason::kEnd);
  EXPECT_EQ(answer.tokens.back().id, free[5]);
}

// Reported faults: the model's own end token is none of the config's, and the caller names it (T02); an end
// token, or a stop string, with the last token that was allowed is an end and no cut (X05).
TEST(StopReason, ASpecialTokenThatTheCallerNames) {
  const std::vector<int32_t> free = Ids(Ask(Latent(12), {}, nullptr));
  std::vector<std::string> pieces(16);
  for (int i = 0; i < 16; ++i) pieces[static_cast<size_t>(i)] = std::string(1, static_cast<char>('a' + i));
  pieces[static_cast<size_t>(free[5])] = "<|eot_id|>";
  const auto tokenizer = MakeTestTokenizer(pieces, {free[5]});
  const auto first = std::find(free.begin(), free.end(), free[5]) - free.begin();
  for (const int most : {12, static_cast<int>(first) + 1}) {
    GenerateRequest request = Latent(most);
    request.stop_strings = {"<|eot_id|>"};
    const Answer answer = Ask(request, {}, tokenizer);
    EXPECT_EQ(answer.stop_reason, StopReason::kStopString);
    EXPECT_EQ(answer.tokens.size(), static_cast<size_t>(first) + 1);
    EXPECT_EQ(answer.trace_tokens, first);
    EXPECT_EQ(answer.text.size(), static_cast<size_t>(first));
  }
}

TEST(StopReason, AnEndWithTheLastAllowedTokenIsAnEnd) {
  const std::vector<int32_t> free = Ids(Ask(Latent(12), {}, nullptr));
  ToyOptions toy;
  toy.end_tokens = {free[7]};
  const int end = static_cast<int>(std::find(free.begin(), free.end(), free[7]) - free.begin());
  const Answer ended = Ask(Latent(end + 1), toy, Pieces());
  EXPECT_EQ(ended.stop_reason, StopReason::kEnd);
  EXPECT_EQ(ended.tokens.size(), static_cast<size_t>(end) + 1);
  const Answer cut = Ask(Latent(end), toy, Pieces());
  EXPECT_EQ(cut.stop_reason, StopReason::kLength);
  EXPECT_EQ(cut.tokens.size(), static_cast<size_t>(end));
}

TEST(StopReason, Context) {
  ToyOptions toy;
  toy.max_positions = 9;
  const Answer answer = Ask(Latent(50), toy, nullptr);
  EXPECT_EQ(answer.stop_reason, StopReason::kContext);
  EXPECT_EQ(answer.tokens.size(), 4u);
  GenerateRequest full = Latent(5);
  full.prompt.assign(9, 1);
  EXPECT_EQ(Ask(full, toy, nullptr).stop_reason, StopReason::kContext);
}

TEST(StopReason, StopStringInEverySetting) {
  for (const char* setting : {"standard", "latent", "latent@2", "latent@exact"}) {
    GenerateRequest request = Latent(40);
    request.setting = Setting::Parse(setting);
    const Answer free = Ask(request, {}, Pieces());
    // Any piece of the text that is found again must cut there.
    for (size_t begin = 0; begin + 3 < free.text.size(); begin += 4) {
      const auto inside = [&](size_t at) {
        return (static_cast<unsigned char>(free.text[at]) & 0xC0) == 0x80;
      };
      if (inside(begin) || inside(begin + 3)) continue;
      request.stop_strings = {"never there", free.text.substr(begin, 3)};
      const Answer answer = Ask(request, {}, Pieces());
      const size_t cut = free.text.find(request.stop_strings[1]);
      EXPECT_EQ(answer.text, free.text.substr(0, cut));
      EXPECT_EQ(answer.stop_reason, StopReason::kStopString);
      const std::vector<int32_t> ids = Ids(answer), all = Ids(free);
      ASSERT_TRUE(std::equal(ids.begin(), ids.end(), all.begin()));
      // Not one token more than it took.
      // (What is not known to be a character yet is not replaced yet either.)
      if (request.stop_strings[1].find("\xEF\xBF\xBD") == std::string::npos) {
        EXPECT_EQ(TextOf(ids, ids.size() - 1).find(request.stop_strings[1]), std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace fullband
