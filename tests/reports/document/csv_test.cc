#include "reports/document/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "reports/document/cells.h"

namespace fullband {
namespace {

// RFC 4180 read back: what a field holds, row by row.
std::vector<std::vector<std::string>> Parsed(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string field;
  bool quoted = false;
  for (size_t i = 0; i < csv.size(); ++i) {
    const char c = csv[i];
    if (quoted) {
      if (c != '"')
        field += c;
      else if (csv[i + 1] == '"')
        field += csv[++i];
      else
        quoted = false;
    } else if (c == '"') {
      EXPECT_TRUE(field.empty()) << "a quote within a field";
      quoted = true;
    } else if (c == ',' || c == '\r') {
      row.push_back(field);
      field.clear();
      if (c == ',') continue;
      EXPECT_EQ(csv[++i], '\n');
      rows.push_back(row);
      row.clear();
    } else {
      field += c;
    }
  }
  EXPECT_TRUE(field.empty() && row.empty() && !quoted) << "the last line has no end";
  return rows;
}

using Rows = std::vector<std::vector<std::string>>;

TEST(Csv, HasFullNumbersAndAColumnForEachFurtherOne) {
  const double third = 1.0 / 3;
  Table table{"t",
              {{"model", Align::kLeft}, {"items"}, {"accuracy"}, {"interval"}, {"B − A"}, {"items"}},
              {{"toy", CountCell(1319), PercentCell(third), PercentIntervalCell(Interval{0.25, 0.5}),
                DifferenceCell(-third, Interval{-0.5, 0.125}, 100), CountCell(7)},
               {"–", CountCell(0), PercentCell(std::nullopt), PercentIntervalCell(std::nullopt),
                DifferenceCell(1, std::nullopt, 100), CountCell(8)}}};
  EXPECT_EQ(
      Parsed(CsvTable(table)),
      (Rows{{"model", "items", "accuracy", "interval low", "interval high", "B − A", "B − A low",
             "B − A high", "items 2"},
            {"toy", "1319", "0.3333333333333333", "0.25", "0.5", "-33.33333333333333", "-50", "12.5", "7"},
            {"", "0", "", "", "", "100", "", "", "8"}}));
}

TEST(Csv, AColumnOfTextsAndNumbersKeepsBoth) {
  Table table{"t", {{"k"}}, {{CountCell(1234)}, {"all"}, {"–"}}};
  EXPECT_EQ(CsvTable(table), "k\r\n1234\r\nall\r\n\r\n");
}

// A column of which no row has anything still has its title.
TEST(Csv, AColumnOfDashesIsThere) {
  Table table{"t", {{"a"}, {"b"}}, {{"–", "x"}}};
  EXPECT_EQ(CsvTable(table), "a,b\r\n,x\r\n");
  table.rows.clear();
  EXPECT_EQ(CsvTable(table), "a,b\r\n");
}

TEST(Csv, TextsAreKeptWhateverTheyHold) {
  for (const char* text :
       {"a,b", "a\"b", "\"", "line\nend", "line\r\nend", "a;b", " space ", "a\tb", "日本"}) {
    Table table{"t", {{"x"}, {"y"}}, {{text, "z"}}};
    EXPECT_EQ(Parsed(CsvTable(table)), (Rows{{"x", "y"}, {text, "z"}})) << text;
  }
}

TEST(Csv, NoTextIsAFormula) {
  for (const char* text : {"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1", "＋1",
                           "－1", "＠x", "=HYPERLINK(\"http://x\";\"y\")"}) {
    Table table{"t", {{text}}, {{text}}};
    const Rows rows = Parsed(CsvTable(table));
    EXPECT_EQ(rows, (Rows{{"'" + std::string(text)}, {"'" + std::string(text)}})) << text;
  }
  EXPECT_EQ(CsvText("a=1"), "a=1");
  EXPECT_EQ(CsvText("– none"), "– none");
  Table table{"t", {{"x"}}, {{FixedCell(-1.5, 1)}}};
  EXPECT_EQ(CsvTable(table), "x\r\n-1.5\r\n");
}

TEST(Csv, AFileATable) {
  Document document{"t", {Table{"models", {{"m"}}, {{"a"}}}}, {}};
  document.sections.push_back({"S", "../s", {Table{"accuracy", {{"n"}}, {{"1"}}}}});
  const std::vector<ReportFile> files = CsvFiles(document);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "csv/models.csv");
  EXPECT_EQ(files[0].content, "m\r\na\r\n");
  EXPECT_EQ(files[1].path, "csv/s_accuracy.csv");
  std::get<Table>(document.head[0]).rows.push_back({});
  EXPECT_THROW(CsvFiles(document), std::logic_error);
}

}  // namespace
}  // namespace fullband
