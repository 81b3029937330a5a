#include "engine/tokenizer/unicode.h"

#include <gtest/gtest.h>

#include <vector>

namespace fullband {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";

std::string Expand(std::string text) {  // '?' stands for U+FFFD in the tables below
  for (size_t at = text.find('?'); at != std::string::npos; at = text.find('?', at))
    text.replace(at, 1, kReplacement);
  return text;
}

struct LossyRow {
  std::string bytes, text;
};

// The middle rows are Unicode 15's table 3-8 and its neighbours.
const LossyRow kLossy[] = {
    {"", ""},
    {"plain", "plain"},
    {"\x80", "?"},
    {"\xC0\x80", "??"},
    {"\xC3", "?"},
    {"\xC3(", "?("},
    {"\xE2\x82", "?"},
    {"\xE2\x82 x", "? x"},
    {"\xE0\x80\x80", "???"},
    {"\xED\xA0\x80", "???"},
    {"\xF0\x9F\x98", "?"},
    {"\xF0\x80\x80\x41", "???A"},
    {"\xF4\x90\x80\x80", "????"},
    {"\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF"},
    {"\xFF\xFE", "??"},
    {"\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64", "a???b?c??d"},
    {"\xE2\x82\xAC\xE2\x82", "\xE2\x82\xAC?"},
};

TEST(Lossy, ReplacesEachMaximalPart) {
  for (const LossyRow& row : kLossy) EXPECT_EQ(LossyText(row.bytes), Expand(row.text)) << row.bytes;
}

TEST(Lossy, PiecesJoinToTheWholeWhereverItIsCut) {
  for (const LossyRow& row : kLossy) {
    for (size_t cut = 0; cut <= row.bytes.size(); ++cut) {
      std::string pending = row.bytes.substr(0, cut);
      std::string out = TakeLossyText(&pending);
      pending += row.bytes.substr(cut);
      out += TakeLossyText(&pending);
      EXPECT_EQ(out + LossyText(pending), LossyText(row.bytes)) << row.bytes << " cut at " << cut;
    }
  }
}

TEST(Lossy, KeepsOnlyAStartedCharacter) {
  std::string pending = "ab\xE2\x82";
  EXPECT_EQ(TakeLossyText(&pending), "ab");
  EXPECT_EQ(pending, "\xE2\x82");
  pending = "ab\xE2x";
  EXPECT_EQ(TakeLossyText(&pending), Expand("ab?x"));
  EXPECT_EQ(pending, "");
}

TEST(Utf8, FirstInvalidByte) {
  EXPECT_EQ(FirstInvalidByte("h\xC3\xA9llo \xF0\x9F\x98\x80"), std::string_view::npos);
  EXPECT_EQ(FirstInvalidByte("ab\xC3"), 2u);
  EXPECT_EQ(FirstInvalidByte("ab\xED\xA0\x80"), 2u);
  EXPECT_EQ(FirstInvalidByte("\xC0\xAF"), 0u);
}

TEST(Properties, AsTheReferenceLibraryHasThem) {
  for (const char32_t c : {U'7', U'\u0664', U'\u00B2', U'\u2167', U'\U00011DE3'})
    EXPECT_TRUE(IsNumeric(c)) << +c;
  for (const char32_t c : {U'a', U'\u4E09', U'.'}) EXPECT_FALSE(IsNumeric(c)) << +c;
  for (const char32_t c : {U'a', U'_', U'\u0301', U'\u200D', U'\u24B6', U'\u203F', U'9'})
    EXPECT_TRUE(IsWord(c)) << +c;
  for (const char32_t c : {U'\u00B2', U'-', U' ', U'\u2713'}) EXPECT_FALSE(IsWord(c)) << +c;
  for (const char32_t c : {U' ', U'\n', U'\u0085', U'\u00A0', U'\u3000'}) EXPECT_TRUE(IsWhite(c)) << +c;
  for (const char32_t c : {U'\u180E', U'\u200B', U'\x1C'}) EXPECT_FALSE(IsWhite(c)) << +c;
}

TEST(Normalize, Forms) {
  EXPECT_EQ(Normalize("e\u0301", NormalForm::kNfc), "\u00E9");
  EXPECT_EQ(Normalize("\u00E9", NormalForm::kNfd), "e\u0301");
  EXPECT_EQ(Normalize("\uFB01\u00B2", NormalForm::kNfkc), "fi2");
  EXPECT_EQ(Normalize("\uFB01\u00E9", NormalForm::kNfkd), "fie\u0301");
  EXPECT_EQ(Normalize("a\u0301\u0327", NormalForm::kNfc), "\u00E1\u0327") << "marks are put in order first";
  EXPECT_EQ(Normalize(std::string("a\0b", 3), NormalForm::kNfc), std::string("a\0b", 3));
}

TEST(Normalize, LeavesAloneWhatTheReferenceLibraryDoesNotKnow) {
  EXPECT_EQ(Normalize("\U00011935\U00011930", NormalForm::kNfc), "\U00011935\U00011930");
  EXPECT_EQ(Normalize("a\u0301\u1ABF", NormalForm::kNfd), "a\u0301\u1ABF");
}

// A sort in quadratic time would take minutes.
TEST(Normalize, LongRunsOfMarks) {
  std::string marks;
  for (int i = 0; i < 100000; ++i) marks += "\u0301\u0327";
  const std::string out = Normalize("a" + marks, NormalForm::kNfd);
  EXPECT_EQ(out.substr(0, 5), "a\u0327\u0327");
  EXPECT_EQ(out.size(), marks.size() + 1);
}

TEST(ByteLevel, CharactersStandForBytesAndBack) {
  for (int byte = 0; byte < 256; ++byte) EXPECT_EQ(ByteOfCharacter(ByteLevelCharacters()[byte]), byte);
  EXPECT_EQ(ByteLevelCharacters()[' '], U'\u0120');
  EXPECT_EQ(ByteOfCharacter(U' '), -1);
  EXPECT_EQ(ByteOfCharacter(U'\u4E00'), -1);
  std::string bytes;
  EXPECT_TRUE(BytesOfToken("\u0120a\u010A", &bytes));
  EXPECT_EQ(bytes, " a\n");
  EXPECT_FALSE(BytesOfToken("a b", &bytes));
}

}  // namespace
}  // namespace fullband
