#include "reports/html/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <regex>
#include <sstream>

#include "common/error.h"
#include "reports/html/encode.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Html(const Document& document, const ImagesByChart& charts = {}) {
  std::ostringstream out;
  WriteHtml(document, charts, nullptr, out);
  return out.str();
}

// All that stands between `begin` and `end`, for each `begin`.
std::vector<std::string> Between(const std::string& text, const std::string& begin, const std::string& end) {
  std::vector<std::string> found;
  for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    found.push_back(text.substr(at, text.find(end, at) - at));
  }
  return found;
}

Document With(Block block) { return {"Title", {}, {{"Section", "section", {std::move(block)}, {}}}}; }

TEST(Html, NamesItsOwnScriptAndStyleInThePolicy) {
  const std::string html = Html({"Title", {}, {}});
  const auto scripts = Between(html, "<script>", "</script>");
  const auto styles = Between(html, "<style>", "</style>");
  ASSERT_EQ(scripts.size(), 1u);
  ASSERT_EQ(styles.size(), 1u);
  EXPECT_THAT(html, HasSubstr("script-src " + CspHash(scripts[0]) + ";"));
  EXPECT_THAT(html, HasSubstr("style-src " + CspHash(styles[0]) + ";"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(html, Not(HasSubstr("unsafe")));
  EXPECT_THAT(scripts[0], Not(HasSubstr("<!--")));
  EXPECT_THAT(scripts[0], Not(HasSubstr("innerHTML")));
  EXPECT_THAT(html, Not(HasSubstr("http:")));
  EXPECT_THAT(html, Not(HasSubstr("https:")));
}

TEST(Html, WritesCellsWithWhatSortsThem) {
  Table table{"t", {{"name", Align::kLeft}, {"share"}}, {{"a", {"36.8 %", 0.3681}}, {"b", "–"}}, "Caption"};
  table.rows.push_back({"c", {"∞", std::numeric_limits<double>::infinity()}});
  const std::string html = Html(With(table));
  EXPECT_THAT(html, HasSubstr("<caption>Caption</caption>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\">name</th><th scope=\"col\" class=\"r\">share</th>"));
  EXPECT_THAT(html, HasSubstr("<tr><td>a</td><td class=\"r\" data-v=\"0.3681\">36.8 %</td></tr>"));
  EXPECT_THAT(html, HasSubstr("<tr><td>b</td><td class=\"r\">–</td></tr>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"r\">∞</td>"));
}

TEST(Html, EscapesEveryText) {
  const std::string hostile = "</title></script><img src=x onerror=alert(1)>\"'&";
  Document document{hostile, {Paragraph{hostile}, Notes{{{hostile, hostile, true}}}}, {}};
  document.sections = {{hostile,
                        hostile,
                        {Table{hostile, {{hostile}}, {{hostile}}, hostile}, Chart{hostile, hostile, {}}},
                        {}}};
  const std::string html = Html(document, {{ChartsOf(document).at(0), {hostile, ""}}});
  EXPECT_THAT(html, Not(HasSubstr("<img src=x")));
  EXPECT_EQ(Between(html, "</script", ">").size(), 1u);
  // The title twice; section and contents; paragraph; note; caption, header, cell; the chart's and its
  // image's.
  EXPECT_EQ(Between(html, "onerror=alert", ")").size(), 12u);
}

TEST(Html, AnchorsAreUniqueAndPlain) {
  Document document{"Title", {}, {}};
  for (const char* name : {"a b\"", "a-b-", "a b\""}) document.sections.push_back({"T", name, {}, {}});
  const std::string html = Html(document);
  EXPECT_THAT(Between(html, "<section id=\"", "\""), testing::ElementsAre("s-a-b-", "s-a-b--2", "s-a-b--3"));
  EXPECT_THAT(Between(html, "href=\"#s", "\""), testing::ElementsAre("-a-b-", "-a-b--2", "-a-b--3"));
}

TEST(Html, ShowsChartsAsImages) {
  Document document = With(Chart{"lengths", "Trace lengths, tokens", {}});
  document.head = {Chart{"lengths", "Another", {}}};
  const std::vector<const Chart*> charts = ChartsOf(document);
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_EQ(charts[0]->title, "Another");
  EXPECT_EQ(Between(Html(document), "Not drawn", "here").size(), 2u);
  const std::string image = "alt=\"Trace lengths, tokens\" src=\"data:image/svg+xml;base64,";
  const std::string one = Html(document, {{charts[1], {"<svg>l</svg>", ""}}});
  EXPECT_THAT(one, HasSubstr("<img class=\"\" " + image + Base64("<svg>l</svg>") + "\">"));
  EXPECT_EQ(Between(one, "Not drawn", "here").size(), 1u);
  const std::string two = Html(document, {{charts[1], {"<svg>l</svg>", "<svg>d</svg>"}}});
  EXPECT_THAT(two, HasSubstr("<img class=\"for-light\" " + image + Base64("<svg>l</svg>") + "\">"));
  EXPECT_THAT(two, HasSubstr("<img class=\"for-dark\" " + image + Base64("<svg>d</svg>") + "\">"));
}

TEST(Html, MakesADarkImageOfCustomProperties) {
  const ChartImages images =
      ImagesOf("<svg width=\"2\"><g/></svg>", {{"--chart-ink", "#eee"}, {"--b", "#000"}});
  EXPECT_EQ(images.light, "<svg width=\"2\"><g/></svg>");
  EXPECT_EQ(images.dark, "<svg width=\"2\"><style>:root{--b:#000;--chart-ink:#eee;}</style><g/></svg>");
}

TEST(Html, QuietensWhatTheRowAboveSays) {
  Table table{"t", {{"model", Align::kLeft}, {"items"}, {"setting", Align::kLeft}}, {}, ""};
  table.rows = {{"m", "5", "a"}, {"m", "5", "a"}, {"n", "5", "a"}, {std::string(60, 'x'), "5", "a"}};
  const std::string html = Html(With(table));
  EXPECT_THAT(html, HasSubstr("<tr><td>m</td><td class=\"r\">5</td><td>a</td></tr>\n"
                              "<tr><td class=\"again\">m</td><td class=\"r\">5</td><td>a</td></tr>\n"
                              "<tr><td>n</td>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"long\">xxx"));
}

TEST(Html, FoldsProvenance) {
  const std::string html = Html({"Title", {}, {{"Where from", "provenance", {Paragraph{"x"}}, {}}}});
  EXPECT_THAT(
      html,
      HasSubstr("<details class=\"fold\"><summary><h2>Where from</h2></summary>\n<p>x</p>\n</details>"));
}

TEST(Html, WritesAFileWholeOrNotAtAll) {
  TempFolder folder;
  const auto path = WriteHtmlFile({"Title", {}, {}}, {}, nullptr, folder / "a" / "b");
  EXPECT_EQ(path, folder / "a" / "b" / "report.html");
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  EXPECT_EQ(content.str(), Html({"Title", {}, {}}));
  std::ofstream(folder / "file").put('x');
  EXPECT_THROW(WriteHtmlFile({"Title", {}, {}}, {}, nullptr, folder / "file"), Error);
  std::filesystem::create_directories(folder / "c" / "report.html");
  EXPECT_THROW(WriteHtmlFile({"Title", {}, {}}, {}, nullptr, folder / "c"), Error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "c"), {}), 1);  // nothing left behind
}

}  // namespace
}  // namespace fullband
