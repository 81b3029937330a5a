#include "reports/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fullband {
namespace {

using ::testing::ElementsAre;

TEST(Columns, ControlCharactersAreWrittenOut) {
  EXPECT_EQ(TerminalText("a\tb\nc"), "a\\tb\nc");
  EXPECT_EQ(TerminalText("\x1b[2J\x7f\r"), "\\x1b[2J\\x7f\\x0d");
  EXPECT_EQ(TerminalText(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(TerminalText("\xc2\x9b"), "\\x9b");         // a control sequence's beginning in eight bits
  EXPECT_EQ(TerminalText("\xe2\x80\xae"), "\\u202e");   // right-to-left override
  EXPECT_EQ(TerminalText("a\xff\xc3"), "a\\xff\\xc3");  // not UTF-8
  EXPECT_EQ(TerminalText("caf\xc3\xa9 \xe4\xb8\x96"), "caf\xc3\xa9 \xe4\xb8\x96");
}

TEST(Columns, WidthIsTheTerminals) {
  EXPECT_EQ(DisplayWidth(""), 0);
  EXPECT_EQ(DisplayWidth("caf\xc3\xa9"), 4);
  EXPECT_EQ(DisplayWidth("cafe\xcc\x81"), 4);              // a combining accent
  EXPECT_EQ(DisplayWidth("\xe4\xb8\x96\xe7\x95\x8c"), 4);  // wide characters
}

TEST(Columns, LinesAreBrokenAtSpacesThenWithinWords) {
  EXPECT_THAT(Wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(Wrap("one two three", 6), ElementsAre("one", "two", "three"));
  EXPECT_THAT(Wrap("abcdefgh", 3), ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(Wrap("a\n\nb\n", 5), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(Wrap("", 5), ElementsAre(""));
  EXPECT_THAT(Wrap(" abcdefgh", 4), ElementsAre(" abc", "defg", "h"));
  EXPECT_THAT(Wrap("\xe4\xb8\x96\xe7\x95\x8c\xe4\xb8\x96", 5),
              ElementsAre("\xe4\xb8\x96\xe7\x95\x8c", "\xe4\xb8\x96"));
}

TEST(Columns, StandBesideEachOther) {
  EXPECT_EQ(SideBySide({{"a", "caf\xc3\xa9"}, {"b"}, {"c", "", "d"}}, 5),
            "a     | b     | c\n"
            "caf\xc3\xa9  |       |\n"
            "      |       | d\n");
}

}  // namespace
}  // namespace fullband
