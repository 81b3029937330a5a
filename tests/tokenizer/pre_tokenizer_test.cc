#include "engine/tokenizer/pre_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace fullband {
namespace {

using Strings = std::vector<std::string>;

Strings SplitWith(PreTokenizerPart part, const std::string& text) {
  const Pieces pieces = PreTokenizer({std::move(part)}).Split(text);
  Strings out;
  for (const Stretch& s : pieces.stretches) out.push_back(pieces.text.substr(s.begin, s.end - s.begin));
  return out;
}

Strings SplitOn(const std::string& pattern, SplitBehavior behavior, bool invert, const std::string& text) {
  PreTokenizerPart part;
  part.pattern = pattern;
  part.behavior = behavior;
  part.invert = invert;
  return SplitWith(part, text);
}

// The pieces are those of Hugging Face's tokenizers 0.23.
TEST(Split, Behaviours) {
  const struct {
    SplitBehavior behavior;
    bool invert;
    Strings dashes, maybe_empty;
  } rows[] = {
      {SplitBehavior::kIsolated, false, {"-", "a", "-", "-", "b", "-", "c", "-"}, {"a", "xx", "b", "\u00E9"}},
      {SplitBehavior::kIsolated, true, {"-", "a", "-", "-", "b", "-", "c", "-"}, {"a", "xx", "b", "\u00E9"}},
      {SplitBehavior::kRemoved, false, {"a", "b", "c"}, {"a", "b", "\u00E9"}},
      {SplitBehavior::kRemoved, true, {"-", "-", "-", "-", "-"}, {"xx"}},
      {SplitBehavior::kMergedWithPrevious, false, {"-", "a-", "-", "b-", "c-"}, {"axx", "b", "\u00E9"}},
      {SplitBehavior::kMergedWithPrevious, true, {"-a", "-", "-b", "-c", "-"}, {"a", "xxb", "\u00E9"}},
      {SplitBehavior::kMergedWithNext, false, {"-a", "-", "-b", "-c", "-"}, {"a", "xxb", "\u00E9"}},
      {SplitBehavior::kMergedWithNext, true, {"-", "a-", "-", "b-", "c-"}, {"axx", "b", "\u00E9"}},
      {SplitBehavior::kContiguous, false, {"-", "a", "--", "b", "-", "c", "-"}, {"a", "xx", "b", "\u00E9"}},
      {SplitBehavior::kContiguous, true, {"-", "a", "--", "b", "-", "c", "-"}, {"a", "xx", "b", "\u00E9"}},
  };
  for (const auto& row : rows) {
    const std::string name = std::to_string(static_cast<int>(row.behavior)) + (row.invert ? " inverted" : "");
    EXPECT_EQ(SplitOn("-", row.behavior, row.invert, "-a--b-c-"), row.dashes) << name;
    EXPECT_EQ(SplitOn("x*", row.behavior, row.invert, "axxb\u00E9"), row.maybe_empty) << name;
  }
}

TEST(Split, Digits) {
  PreTokenizerPart part;
  part.kind = PreTokenizerPart::Kind::kDigits;
  part.individual_digits = true;
  EXPECT_EQ(SplitWith(part, "a12\u0663b"), (Strings{"a", "1", "2", "\u0663", "b"}));
  part.individual_digits = false;
  EXPECT_EQ(SplitWith(part, "a12\u0663b"), (Strings{"a", "12\u0663", "b"}));
}

TEST(Split, PrefixSpaceBeforeEveryPiece) {
  PreTokenizerPart digits;
  digits.kind = PreTokenizerPart::Kind::kDigits;
  PreTokenizerPart bytes;
  bytes.kind = PreTokenizerPart::Kind::kByteLevel;
  bytes.add_prefix_space = true;
  const Pieces pieces = PreTokenizer({digits, bytes}).Split("a1 b");
  EXPECT_EQ(pieces.text, " a 1 b");
  EXPECT_EQ(pieces.stretches.size(), 3u);
}

// PCRE2's own tables would put U+180E with white space and the letter of Unicode 16 with no letters.
TEST(Split, CategoriesAreTheReferenceLibrarys) {
  EXPECT_EQ(SplitOn(R"(\s)", SplitBehavior::kIsolated, false, "a\u180E b"), (Strings{"a\u180E", " ", "b"}));
  EXPECT_EQ(SplitOn(R"(\p{L}+)", SplitBehavior::kIsolated, false, "a\U000105C0-"),
            (Strings{"a\U000105C0", "-"}));
}

TEST(SplitRegex, RefusesWhatTheTwoLibrariesReadDifferently) {
  for (const char* pattern :
       {R"(^a)",          R"(a$)",      R"(\w+)",   R"(\bx)",     R"(\h)",      R"(\v)",
        R"([[:alpha:]])", R"([a&&b])",  R"(a{,3})", R"(a{1,3}+)", R"((?x: a))", R"((?<name>a))",
        R"(\p{Han})",     R"(\p{^L})",  R"(\1)",    "\u4E00",     R"(\Qa\E)",   R"((*ACCEPT))",
        R"([a)",          R"((?i:ss))", R"([]a])",  "a\\"}) {
    EXPECT_THROW(SplitRegex(pattern, "here"), Error) << pattern;
  }
  for (const char* pattern :
       {R"((?i:'s|'t|'ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}]+[\r\n]*|\s+(?!\S))", "a{2}",
        R"([\]\-x]+?)", R"((?>a|b)(?<=a)(?<!b))", R"(\.\\)"}) {
    EXPECT_NO_THROW(SplitRegex(pattern, "here")) << pattern;
  }
}

TEST(SplitRegex, MalformedPatternsNameTheirPlace) {
  try {
    SplitRegex("(a", "file: part");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.subject(), "file: part");
    EXPECT_THAT(error.why(), testing::HasSubstr("not a regular expression"));
  }
}

TEST(SplitRegex, EndlessBacktrackingIsAnError) {
  const SplitRegex regex("(a+)+[bd]", "here");
  EXPECT_THROW(regex.Search(std::string(60, 'a') + "c"), Error);
}

// Each would take minutes in quadratic time, or end the program in recursion.
TEST(SplitRegex, LongTexts) {
  const SplitRegex words(
      R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)", "here");
  const size_t size = 1 << 20;
  EXPECT_EQ(words.Search(std::string(size, 'a')).size(), 1u);
  EXPECT_EQ(words.Search(std::string(size, ' ') + "x").size(), 2u);
  EXPECT_EQ(words.Search(std::string(size, '\n')).size(), 1u);
  EXPECT_EQ(words.Search(std::string(size, '9')).size(), size / 3 + 1);
  const SplitRegex nested(R"((?:a|b)*c|.)", "here");
  EXPECT_EQ(nested.Search(std::string(1000, 'a')).size(), 1000u);
}

}  // namespace
}  // namespace fullband
