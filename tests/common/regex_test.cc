#include "common/regex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace fullband {
namespace {

using testing::ElementsAre;

// All matches: the whole and, where it differs, the group.
std::vector<std::string> Found(const std::string& pattern, const std::string& text) {
  std::vector<std::string> found;
  for (const RegexMatch& match : Regex(pattern, "here").FindAll(text)) {
    found.push_back(text.substr(match.begin, match.end - match.begin));
    const std::string group = text.substr(match.group_begin, match.group_end - match.group_begin);
    if (group != found.back()) found.back() += "/" + group;
  }
  return found;
}

TEST(Regex, FindsMatchesAndTheirFirstGroup) {
  EXPECT_THAT(Found("a+", "aa b a"), ElementsAre("aa", "a"));
  EXPECT_THAT(Found("(a)b", "ab ab"), ElementsAre("ab/a", "ab/a"));
  EXPECT_THAT(Found("(a)(b)(c)", "abc"), ElementsAre("abc/a"));
  EXPECT_THAT(Found("(?:a|(b))c", "ac bc"), ElementsAre("ac", "bc/b"));
  EXPECT_THAT(Found("(a)|(b)", "ba"), ElementsAre("b", "a"));
  EXPECT_THAT(Found("a()b", "ab"), ElementsAre("ab/"));
  EXPECT_THAT(Found("x", "aaa"), ElementsAre());
}

TEST(Regex, EmptyMatchesAreTakenOnce) {
  EXPECT_THAT(Found("a*", "aab"), ElementsAre("aa", ""));
  EXPECT_THAT(Found("x?", "\u4E00b"), ElementsAre("", "", ""));  // not within a character
}

TEST(Regex, KnowsCharactersNotBytes) {
  EXPECT_THAT(Found(".", "a\u00E9\u4E00"), ElementsAre("a", "\u00E9", "\u4E00"));
  EXPECT_THAT(Found(R"(\w+)", "caf\u00E9 au"), ElementsAre("caf\u00E9", "au"));
}

TEST(Regex, MalformedPatternsNameTheirPlace) {
  try {
    Regex("(a", "file: key");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.subject(), "file: key");
    EXPECT_THAT(error.why(), testing::HasSubstr("not a regular expression"));
  }
}

TEST(Regex, EndlessBacktrackingIsAnError) {
  EXPECT_THROW(Regex("(a+)+[bd]", "here").FindAll(std::string(60, 'a') + "c"), Error);
}

}  // namespace
}  // namespace fullband
