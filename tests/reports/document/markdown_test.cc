#include "reports/document/markdown.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace fullband {
namespace {

TEST(Markdown, TablesArePaddedAndAligned) {
  Table table{"t", {{"name", Align::kLeft}, {"n"}}, {{"a|b", "12"}, {"–", "1,234"}, {"日本", "-1.5"}}};
  EXPECT_EQ(MarkdownTable(table),
            "| name |     n |\n"
            "|------|------:|\n"
            "| a\\|b |    12 |\n"
            "| –    | 1,234 |\n"
            "| 日本 |  -1.5 |\n\n");
  table.rows.push_back({"too few"});
  EXPECT_THROW(MarkdownTable(table), std::logic_error);
}

TEST(Markdown, BlocksAndSectionsInTheirOrder) {
  Document document{"Title", {Notes{{{"store", "s.db"}}}}, {}};
  Section inner{"Inner", "inner", {Paragraph{"Text."}, Notes{{{"", "unnamed"}, {"run", "bad.", true}}}}};
  inner.blocks.push_back(Chart{"c", "chart", {}});
  inner.blocks.push_back(Code{"a `b` ```c\nd_e_"});
  document.sections.push_back({"Outer", "outer", {}, {inner}});
  EXPECT_EQ(RenderMarkdown(document),
            "# Title\n\n- store: s.db\n\n## Outer\n\n### Inner\n\nText.\n\n- unnamed\n- run: **bad.**\n\n"
            "````\na `b` ```c\nd_e_\n````\n");
}

// What a program that renders Markdown must show as it stands (checked against markdown-it and GitHub's rules
// by tests/reports/markdown_shows_text_test.py).
TEST(Markdown, WhatIsMoreThanTextIsEscaped) {
  const std::pair<const char*, const char*> cases[] = {
      {"<img src=x onerror=alert(1)>", "\\<img src=x onerror=alert(1)>"},
      {"</td><script>", "\\</td>\\<script>"},
      {"*bold* **b** a*b*c", "\\*bold\\* \\*\\*b\\*\\* a\\*b\\*c"},
      {"_it_ a_b", "\\_it\\_ a_b"},
      {"~~gone~~", "\\~\\~gone\\~\\~"},
      {"`code`", "\\`code\\`"},
      {"[link](javascript:x) ![i](x)", "\\[link](javascript:x) !\\[i](x)"},
      {"a|b", "a\\|b"},
      {"a\\|b \\*", "a\\\\\\|b \\\\\\*"},
      {"&lt; &#60; AT&T", "\\&lt; \\&#60; AT\\&T"},
      {"# head #", "\\# head \\#"},
      {"- item", "\\- item"},
      {"+ item", "\\+ item"},
      {"> quote", "\\> quote"},
      {"1. item", "1\\. item"},
      {"12) item", "12\\) item"},
      {"7.", "7\\."},
      {"    code", "code"},
      {"two\r\nlines\nand\rmore", "two lines and more"},
      {"\x1b[2J\x07", "\\\\x1b\\[2J\\\\x07"},
      {"$x$", "\\$x\\$"},
      {"***", "\\*\\*\\*"},
      {"___", "\\_\\_\\_"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(MarkdownText(text), expected);
}

// Ordinary words stay readable.
TEST(Markdown, WhatIsTextAnywayIsLeftAlone) {
  for (const char* text :
       {"trace_tokens", "a * b", "latent *", "p < 0.05, x <= 3", "B − A, points", "a & b",
        "1,319 items (95 %): 21.1 % – 23.4 %", "toy-1m, latent@2:stale", "C#", "5.0 %", "100.0 % (4)", "a#b"})
    EXPECT_EQ(MarkdownText(text), text);
}

}  // namespace
}  // namespace fullband
