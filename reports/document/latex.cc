#include "reports/document/latex.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <map>

#include "reports/columns.h"

namespace fullband {
namespace {

// Braces around what would otherwise be an option: the ends of rows and the rules look for [ and *.
const std::map<char32_t, const char*>& Replacements() {
  static const std::map<char32_t, const char*> replacements = {
      {'\\', "\\textbackslash{}"},
      {'{', "\\{"},
      {'}', "\\}"},
      {'$', "\\$"},
      {'&', "\\&"},
      {'#', "\\#"},
      {'_', "\\_"},
      {'%', "\\%"},
      {'^', "\\textasciicircum{}"},
      {'~', "\\textasciitilde{}"},
      {'<', "\\textless{}"},
      {'>', "\\textgreater{}"},
      {'|', "\\textbar{}"},
      {'"', "\\char34{}"},
      {'`', "\\textasciigrave{}"},
      {'[', "{[}"},
      {']', "{]}"},
      {'*', "{*}"},
      {U'\u00a0', "~"},
      {U'\u00a7', "\\S{}"},
      {U'\u00b0', "\\textdegree{}"},
      {U'\u00b1', "$\\pm$"},
      {U'\u00b5', "\\textmu{}"},
      {U'\u00b7', "\\textperiodcentered{}"},
      {U'\u00d7', "$\\times$"},
      {U'\u00f7', "$\\div$"},
      {U'\u2009', "\\,"},
      {U'\u202f', "\\,"},
      {U'\u2013', "--"},
      {U'\u2014', "---"},
      {U'\u2018', "`{}"},
      {U'\u2019', "'{}"},
      {U'\u201c', "``"},
      {U'\u201d', "''"},
      {U'\u2026', "\\ldots{}"},
      {U'\u2190', "$\\leftarrow$"},
      {U'\u2192', "$\\to$"},
      {U'\u2212', "$-$"},
      {U'\u2248', "$\\approx$"},
      {U'\u2264', "$\\le$"},
      {U'\u2265', "$\\ge$"},
  };
  return replacements;
}

std::string OfCharacter(std::string_view bytes, char32_t code) {
  const auto found = Replacements().find(code);
  if (found != Replacements().end()) return found->second;
  const bool letter = code >= 0xc0 && code <= 0xff;
  if (code < 0x80 || letter) return std::string(bytes);
  return fmt::format("{{[}}U+{:04X}{{]}}", static_cast<uint32_t>(code));
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The text of a figure, piece by piece from the left.
struct Piece {
  const char* shown;
  const char* set;
};
constexpr Piece kPieces[] = {
    {" – ", "--"},             // a range
    {" … ", "\\,\\ldots\\,"},  // an interval of signed numbers
    {" ± ", "\\,$\\pm$\\,"},
    {" %", "\\,\\%"},
};

// "4.45e-08": where its exponent begins and ends.
bool ExponentAt(std::string_view text, size_t at, size_t* end) {
  if (text[at] != 'e' || at == 0 || !IsDigit(text[at - 1])) return false;
  size_t i = at + 1;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  const size_t digits = i;
  while (i < text.size() && IsDigit(text[i])) ++i;
  *end = i;
  return i > digits;
}

std::string FigureText(std::string_view text) {
  std::string set;
  for (size_t i = 0; i < text.size();) {
    const Piece* piece = std::find_if(std::begin(kPieces), std::end(kPieces), [&](const Piece& candidate) {
      return text.substr(i).starts_with(candidate.shown);
    });
    size_t end = 0;
    if (piece != std::end(kPieces)) {
      set += piece->set;
      i += std::string_view(piece->shown).size();
    } else if (ExponentAt(text, i, &end)) {
      set += fmt::format("$\\times10^{{{}}}$", std::stoi(std::string(text.substr(i + 1, end - i - 1))));
      i = end;
    } else if ((text[i] == '-' || text[i] == '+') && i + 1 < text.size() && IsDigit(text[i + 1])) {
      set += fmt::format("${}$", text[i]);
      ++i;
    } else {
      // Up to where the next piece may begin.
      const size_t next = std::min(text.find_first_of(" -+e", i + 1), text.size());
      set += LatexText(text.substr(i, next - i));
      i = next;
    }
  }
  return set;
}

std::string Row(const std::vector<std::string>& cells) {
  return fmt::format("{} \\\\\n", fmt::join(cells, " & "));
}

struct Lines {
  std::string alignment, head, body;
};

Lines LinesOf(const Table& table) {
  Lines lines;
  std::vector<std::string> titles;
  for (const Column& column : table.columns) {
    lines.alignment += column.align == Align::kLeft ? 'l' : 'r';
    titles.push_back(LatexText(column.title));
  }
  lines.head = Row(titles);
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::string> cells;
    for (const Cell& cell : row) cells.push_back(LatexCell(cell));
    lines.body += Row(cells);
  }
  return lines;
}

constexpr char kNeeds[] = "% Made by fullband report. Needs \\usepackage{{{}}}\n";
constexpr char kSize[] = "\\footnotesize\\setlength{\\tabcolsep}{4pt}";
constexpr char kFloat[] =
    "\\begin{{table}}[htbp]\n\\centering\n\\caption{{{}}}\n\\label{{tab:{}}}\n{}\n\\begin{{tabular}}{{{}}}\n"
    "\\toprule\n{}\\midrule\n{}\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n";
constexpr char kLong[] =
    "{{{}\n\\begin{{longtable}}{{{}}}\n\\caption{{{}}}\\label{{tab:{}}}\\\\\n\\toprule\n{}"
    "\\midrule\n\\endfirsthead\n"
    "\\toprule\n{}\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n{}\\end{{longtable}}}}\n";

std::string CaptionOf(const NamedTable& table) {
  if (!table.table->caption.empty()) return table.table->caption;
  return table.section ? table.section->title : table.table->name;
}

// --- The document of its own.

constexpr char kPreamble[] =
    "% Made by fullband report. Compile in this folder: pdflatex report.tex\n"
    "\\documentclass{article}\n"
    "\\usepackage[utf8]{inputenc}\n"
    "\\usepackage[T1]{fontenc}\n"
    "\\usepackage{textcomp}\n"
    "\\usepackage{booktabs}\n"
    "\\usepackage{longtable}\n"
    "\\usepackage[a3paper,landscape,margin=15mm]{geometry}\n"
    "\\begin{document}\n";

class Writer {
 public:
  explicit Writer(const Document& document) : tables_(TablesOf(document)) {
    text_ = kPreamble;
    text_ += fmt::format("\\title{{{}}}\n\\date{{}}\n\\maketitle\n", LatexText(document.title));
    Add(document.head);
    Add(document.sections, 0);
    text_ += "\\end{document}\n";
  }

  std::string Take() { return std::move(text_); }

  void operator()(const Paragraph& paragraph) { text_ += fmt::format("\n{}\n", LatexText(paragraph.text)); }
  void operator()(const Notes& notes) {
    if (notes.notes.empty()) return;
    text_ += "\\begin{itemize}\n";
    for (const Note& note : notes.notes) {
      const std::string about = LatexText(note.about), text = LatexText(note.text);
      text_ += fmt::format("\\item {}{}{}\n", about, about.empty() ? "" : ": ",
                           note.warns ? fmt::format("\\textbf{{{}}}", text) : text);
    }
    text_ += "\\end{itemize}\n";
  }
  void operator()(const Table&) { text_ += fmt::format("\\input{{{}.tex}}\n", tables_[next_++].name); }
  void operator()(const Chart&) {}
  void operator()(const Code& code) {
    text_ += "\\begin{flushleft}\\ttfamily\\footnotesize\n";
    for (size_t begin = 0; begin <= code.text.size();) {
      const size_t end = std::min(code.text.find('\n', begin), code.text.size());
      text_ += fmt::format("\\mbox{{}}{}\\\\\n",
                           LatexText(std::string_view(code.text).substr(begin, end - begin)));
      begin = end + 1;
    }
    text_ += "\\end{flushleft}\n";
  }

 private:
  void Add(const std::vector<Block>& blocks) {
    for (const Block& block : blocks) std::visit(*this, block);
  }

  void Add(const std::vector<Section>& sections, size_t level) {
    static constexpr const char* kCommands[] = {"section", "subsection", "subsubsection", "paragraph"};
    for (const Section& section : sections) {
      // Floats of one section do not go on into the next.
      text_ += fmt::format("{}\\{}{{{}}}\n", level == 0 ? "\n\\clearpage\n" : "\n",
                           kCommands[std::min<size_t>(level, 3)], LatexText(section.title));
      Add(section.blocks);
      Add(section.sections, level + 1);
    }
  }

  std::vector<NamedTable> tables_;
  size_t next_ = 0;
  std::string text_;
};

}  // namespace

std::string LatexText(std::string_view text) {
  const std::string line = TerminalLine(text);
  std::string escaped;
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(line.data());
  auto left = static_cast<utf8proc_ssize_t>(line.size());
  while (left > 0) {
    utf8proc_int32_t code = -1;
    const utf8proc_ssize_t size = utf8proc_iterate(at, left, &code);  // TerminalLine leaves UTF-8
    const auto bytes = static_cast<size_t>(std::max<utf8proc_ssize_t>(size, 1));
    escaped += OfCharacter({reinterpret_cast<const char*>(at), bytes}, static_cast<char32_t>(code));
    at += bytes;
    left -= static_cast<utf8proc_ssize_t>(bytes);
    // Fonts draw two of them as one sign.
    if ((code == '-' || code == '\'') && left > 0 && *at == code) escaped += "{}";
  }
  return escaped;
}

std::string LatexCell(const Cell& cell) {
  return cell.number || !cell.further.empty() ? FigureText(cell.text) : LatexText(cell.text);
}

std::string LatexTable(const NamedTable& table) {
  const Lines lines = LinesOf(*table.table);
  const std::string caption = LatexText(CaptionOf(table));
  if (table.table->rows.size() > kMostFloatRows)
    return fmt::format(kNeeds, "booktabs,longtable") + fmt::format(kLong, kSize, lines.alignment, caption,
                                                                   table.name, lines.head, lines.head,
                                                                   lines.body);
  return fmt::format(kNeeds, "booktabs") +
         fmt::format(kFloat, caption, table.name, kSize, lines.alignment, lines.head, lines.body);
}

std::vector<ReportFile> LatexFiles(const Document& document) {
  const std::filesystem::path folder = "latex";
  std::vector<ReportFile> files = {{folder / "report.tex", Writer(document).Take()}};
  for (const NamedTable& table : TablesOf(document))
    files.push_back({folder / (table.name + ".tex"), LatexTable(table)});
  return files;
}

}  // namespace fullband
