#include "reports/document/latex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "reports/document/cells.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::HasSubstr;

// Names of models and prompts that are more to LaTeX than text.
constexpr const char* kHostile[] = {"\\input{/etc/passwd}",
                                    "\\write18{rm -rf /}",
                                    "100 % of {a} & b_c # d $x^2$ ~",
                                    "} \\end{document}",
                                    "a\n\nb % c",
                                    "[2mm] *",
                                    "\"quoted\" `code' <tag> |x|",
                                    "-- --- ?` !` '' ``",
                                    "é ß ÿ Ð “a” ‘b’ – — … − ± × ≤ → ° µ · §",
                                    "日本 😀 \xE2\x80\xAE right to left",
                                    "\x1b[2J\x07\x7f",
                                    "\xff\xfe"};

// What is wrong with LaTeX that we made: a special character that is not escaped, groups or environments that
// do not end, a command that we never write. Empty: nothing.
std::string Fault(const std::string& text) {
  static const std::set<std::string> known = {"begin",
                                              "end",
                                              "centering",
                                              "caption",
                                              "label",
                                              "toprule",
                                              "midrule",
                                              "bottomrule",
                                              "footnotesize",
                                              "setlength",
                                              "tabcolsep",
                                              "textbackslash",
                                              "textasciicircum",
                                              "textasciitilde",
                                              "textless",
                                              "textgreater",
                                              "textbar",
                                              "textasciigrave",
                                              "char",
                                              "pm",
                                              "times",
                                              "div",
                                              "textdegree",
                                              "textmu",
                                              "textperiodcentered",
                                              "S",
                                              "ldots",
                                              "leftarrow",
                                              "to",
                                              "approx",
                                              "le",
                                              "ge",
                                              "endfirsthead",
                                              "endhead",
                                              "endfoot",
                                              "documentclass",
                                              "usepackage",
                                              "title",
                                              "date",
                                              "maketitle",
                                              "clearpage",
                                              "section",
                                              "subsection",
                                              "subsubsection",
                                              "item",
                                              "input",
                                              "textbf",
                                              "ttfamily",
                                              "mbox"};
  int depth = 0;
  bool mathematics = false;
  std::vector<std::string> environments;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return "a control character";
    if (c == '%') {  // a comment stands on a line of its own
      if (i > 0 && text[i - 1] != '\n') return "a comment";
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (c == '\\') {
      if (!std::isalpha(static_cast<unsigned char>(text[i + 1]))) {
        if (std::string("\\{}$&#_%,").find(text[i + 1]) == std::string::npos) return text.substr(i, 2);
        ++i;
        continue;
      }
      size_t end = i + 1;
      while (std::isalpha(static_cast<unsigned char>(text[end]))) ++end;
      const std::string name = text.substr(i + 1, end - i - 1);
      if (!known.contains(name)) return text.substr(i, end - i);
      if (name == "begin") environments.push_back(text.substr(end, text.find('}', end) - end));
      if (name == "end") {
        if (environments.empty() || environments.back() != text.substr(end, text.find('}', end) - end))
          return "an environment ends that has not begun";
        environments.pop_back();
      }
      i = end - 1;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}') {
      if (--depth < 0) return "a group ends that has not begun";
    } else if (c == '$') {
      mathematics = !mathematics;
    } else if (!mathematics && std::string("^#_~").find(c) != std::string::npos && c != '~') {
      // In names of labels and files they stand for themselves.
      const size_t group = text.rfind('{', i);
      const std::string before = group == std::string::npos ? "" : text.substr(group < 6 ? 0 : group - 6, 6);
      if (c != '_' || (!before.ends_with("\\label") && !before.ends_with("\\input")))
        return std::string(1, c);
    }
  }
  if (depth != 0) return "a group does not end";
  if (mathematics) return "mathematics do not end";
  return environments.empty() ? "" : "an environment does not end";
}

Document Hostile() {
  Document document{"Report of 100 % \\bad", {}, {}};
  Table table{
      "accuracy", {{"model_name", Align::kLeft}, {"accuracy, %"}, {"p"}}, {}, "Caption of {all} & 50 %."};
  Notes notes;
  Code code;
  for (const char* text : kHostile) {
    table.rows.push_back({text, DifferenceCell(-0.015, Interval{-0.5, 0.25}, 100), PValueCell(4.45e-8)});
    notes.notes.push_back({text, text, true});
    code.text += std::string("run --system '") + text + "'\n";
  }
  Section inner{"Inner _ & #", "suite_accuracy", {Paragraph{kHostile[2]}, table, notes, code}};
  document.sections.push_back({"Suite % one", "suite", {}, {inner}});
  Table longer{"pairs", {{"n"}}, {}};
  for (size_t i = 0; i <= kMostFloatRows; ++i) longer.rows.push_back({CountCell(static_cast<int64_t>(i))});
  document.sections.push_back({"Long", "suite_pairs", {longer, Notes{}}});
  return document;
}

TEST(Latex, TextsAreEscaped) {
  EXPECT_EQ(LatexText("a_b & 100 % #1 $x$ {y} ~ ^"),
            "a\\_b \\& 100 \\% \\#1 \\$x\\$ \\{y\\} \\textasciitilde{} \\textasciicircum{}");
  EXPECT_EQ(LatexText("\\input{x}"), "\\textbackslash{}input\\{x\\}");
  EXPECT_EQ(LatexText("[1] *"), "{[}1{]} {*}");
  EXPECT_EQ(LatexText("--store '' well-known"), "-{}-store '{}' well-known");
  EXPECT_EQ(LatexText("“a” – b … −1"), "``a'' -- b \\ldots{} $-$1");
  EXPECT_EQ(LatexText("é 😀"), "é {[}U+1F600{]}");
  EXPECT_EQ(LatexText("a\n\nb"), "a  b");
  EXPECT_EQ(LatexText("\x1b"), "\\textbackslash{}x1b");
  for (const char* text : kHostile) EXPECT_EQ(Fault(LatexText(text)), "") << text;
}

TEST(Latex, FiguresAreSetAsSuch) {
  EXPECT_EQ(LatexCell(PercentCell(0.25)), "25.0\\,\\%");
  EXPECT_EQ(LatexCell(PercentIntervalCell(Interval{0.19, 0.234})), "19.0--23.4");
  EXPECT_EQ(LatexCell(PercentErrorCell(0.458, 0.208)), "45.8\\,\\%\\,$\\pm$\\,20.8");
  EXPECT_EQ(LatexCell(DifferenceCell(-1.0, Interval{-3.0, 0.8})), "$-$1.0 ($-$3.0\\,\\ldots\\,$+$0.8)");
  EXPECT_EQ(LatexCell(PValueCell(4.45e-8)), "4.45$\\times10^{-8}$");
  EXPECT_EQ(LatexCell(CountCell(-1234)), "$-$1,234");
  EXPECT_EQ(LatexCell(BytesCell(int64_t{3} << 29)), "1.5 GiB");
  EXPECT_EQ(LatexCell("–"), "--");
  EXPECT_EQ(LatexCell("latent@2, 5e-3 -1"), "latent@2, 5e-3 -1");  // a name, not a figure
}

TEST(Latex, ATableIsAFloat) {
  const Table table{"accuracy", {{"model", Align::kLeft}, {"n"}}, {{"a", CountCell(1)}}, "What it shows."};
  EXPECT_EQ(LatexTable({"gsm8k_accuracy", nullptr, &table}),
            "% Made by fullband report. Needs \\usepackage{booktabs}\n"
            "\\begin{table}[htbp]\n\\centering\n\\caption{What it shows.}\n\\label{tab:gsm8k_accuracy}\n"
            "\\footnotesize\\setlength{\\tabcolsep}{4pt}\n\\begin{tabular}{lr}\n\\toprule\nmodel & n \\\\\n"
            "\\midrule\na & 1 \\\\\n\\bottomrule\n\\end{tabular}\n\\end{table}\n");
}

TEST(Latex, LongTablesGoOnOverPages) {
  const std::vector<ReportFile> files = LatexFiles(Hostile());
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[2].path, "latex/suite_pairs.tex");
  EXPECT_THAT(files[2].content, HasSubstr("\\begin{longtable}{r}"));
  EXPECT_THAT(files[2].content, HasSubstr("\\caption{Long}\\label{tab:suite_pairs}\\\\"));
}

TEST(Latex, NothingThatATextHoldsIsACommand) {
  for (const ReportFile& file : LatexFiles(Hostile())) EXPECT_EQ(Fault(file.content), "") << file.path;
}

// The check above sees what it is for.
TEST(Latex, TheCheckFindsFaults) {
  for (const char* text : {"a % b", "\\input{x} \\foo", "{a", "a}", "a_b", "x^2", "$x", "\\begin{table}",
                           "\\end{table}", "a#b", "\\[", "\x1b"})
    EXPECT_NE(Fault(text), "") << text;
}

TEST(Latex, TheDocumentInputsEveryTable) {
  const std::vector<ReportFile> files = LatexFiles(Hostile());
  ASSERT_EQ(files[0].path, "latex/report.tex");
  EXPECT_THAT(files[0].content, HasSubstr("\\input{suite_accuracy.tex}"));
  EXPECT_THAT(files[0].content, HasSubstr("\\input{suite_pairs.tex}"));
  EXPECT_THAT(files[0].content, HasSubstr("\\section{Suite \\% one}"));
  EXPECT_THAT(files[0].content, HasSubstr("\\subsection{Inner \\_ \\& \\#}"));
}

TEST(Latex, Compiles) {
  if (std::system("command -v pdflatex >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "there is no pdflatex here; the other tests check braces, environments and escapes";
  TempFolder folder;
  WriteFiles(LatexFiles(Hostile()), folder.path());
  const std::string command =
      "cd '" + (folder / "latex").string() +
      "' && pdflatex -interaction=nonstopmode -halt-on-error -no-shell-escape report.tex "
      ">out.txt 2>&1";
  const int status = std::system(command.c_str());
  std::ifstream log(folder / "latex" / "out.txt");
  EXPECT_EQ(status, 0) << std::string(std::istreambuf_iterator<char>(log), {});
  EXPECT_TRUE(std::filesystem::exists(folder / "latex" / "report.pdf"));
}

}  // namespace
}  // namespace fullband
