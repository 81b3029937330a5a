#include "reports/document/markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/columns.h"
#include "reports/document/tables.h"

namespace fullband {
namespace {

bool IsSpace(char c) { return c == ' '; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWord(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
}

// Whether the character at `at` may begin or end something that is no text, anywhere in a line. What cannot
// is left as it is, so that tables read well in a terminal: "a * b", "trace_tokens", "p < 0.05".
bool Marks(std::string_view line, size_t at) {
  const char before = at > 0 ? line[at - 1] : ' ';
  const char after = at + 1 < line.size() ? line[at + 1] : ' ';
  switch (line[at]) {
    case '\\':
    case '`':
    case '|':
    case '~':
    case '[':
    case '$':
      return true;
    case '*':
      return at == 0 || !IsSpace(before) || !IsSpace(after);
    case '_':
      return !(IsWord(before) && IsWord(after)) && !(IsSpace(before) && IsSpace(after));
    case '<':
      return !IsSpace(after) && !IsDigit(after) && after != '=';
    case '&':
      return IsWord(after) || after == '#';
    default:
      return false;
  }
}

// Whether it may begin a heading, quote or list, or end a heading.
bool MarksABlock(std::string_view line, size_t at) {
  const auto digits = [&] {
    return at > 0 && std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(at), IsDigit);
  };
  switch (line[at]) {
    case '#':
      return at == 0 || IsSpace(line[at - 1]) || line[at - 1] == '#';
    case '>':
    case '-':
    case '+':
      return at == 0;
    case '.':
    case ')':
      return digits() && (at + 1 == line.size() || IsSpace(line[at + 1]));
    default:
      return false;
  }
}

std::string Escaped(const std::string& line, bool in_cell) {
  std::string escaped;
  for (size_t i = 0; i < line.size(); ++i) {
    if (Marks(line, i) || (!in_cell && MarksABlock(line, i))) escaped += '\\';
    escaped += line[i];
  }
  return escaped;
}

std::string CellText(const std::string& text) { return Escaped(TerminalLine(text), true); }

std::string Padded(const std::string& text, size_t width, Align align) {
  const std::string space(width - static_cast<size_t>(DisplayWidth(text)), ' ');
  return align == Align::kLeft ? text + space : space + text;
}

std::string Bullet(const Note& note) {
  const std::string about = MarkdownText(note.about);
  const std::string text = MarkdownText(note.text);
  return fmt::format("- {}{}{}\n", about, about.empty() ? "" : ": ",
                     note.warns && !text.empty() ? "**" + text + "**" : text);
}

// A fence longer than any that the code holds.
std::string Fenced(const std::string& code) {
  size_t longest = 2, here = 0;
  for (const char c : code) {
    here = c == '`' ? here + 1 : 0;
    longest = std::max(longest, here);
  }
  const std::string fence(longest + 1, '`');
  return fence + "\n" + TerminalText(code) + "\n" + fence + "\n\n";
}

struct RenderBlock {
  std::string operator()(const Paragraph& paragraph) const { return MarkdownText(paragraph.text) + "\n\n"; }
  std::string operator()(const Notes& notes) const {
    std::string text;
    for (const Note& note : notes.notes) text += Bullet(note);
    return text.empty() ? "" : text + "\n";
  }
  std::string operator()(const Table& table) const { return MarkdownTable(table); }
  std::string operator()(const Chart&) const { return ""; }
  std::string operator()(const Code& code) const { return Fenced(code.text); }
};

std::string RenderBlocks(const std::vector<Block>& blocks) {
  std::string text;
  for (const Block& block : blocks) text += std::visit(RenderBlock(), block);
  return text;
}

std::string RenderSections(const std::vector<Section>& sections, size_t level) {
  std::string text;
  for (const Section& section : sections) {
    text += std::string(std::min<size_t>(level, 6), '#') + " " + MarkdownText(section.title) + "\n\n" +
            RenderBlocks(section.blocks) + RenderSections(section.sections, level + 1);
  }
  return text;
}

}  // namespace

std::string MarkdownText(std::string_view text) {
  std::string line = TerminalLine(text);
  line.erase(0, line.find_first_not_of(' '));  // four of them would make it code
  return Escaped(line, false);
}

std::string MarkdownTable(const Table& table) {
  CheckShape(table);
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (const Column& column : table.columns) {
    titles.push_back(CellText(column.title));
    widths.push_back(std::max<size_t>(3, static_cast<size_t>(DisplayWidth(titles.back()))));
  }
  std::vector<std::vector<std::string>> rows;
  for (const std::vector<Cell>& cells : table.rows) {
    std::vector<std::string>& row = rows.emplace_back();
    for (size_t i = 0; i < cells.size(); ++i) {
      row.push_back(CellText(cells[i].text));
      widths[i] = std::max(widths[i], static_cast<size_t>(DisplayWidth(row.back())));
    }
  }
  std::string head, rule, body;
  for (size_t i = 0; i < titles.size(); ++i) {
    const bool right = table.columns[i].align == Align::kRight;
    head += fmt::format("| {} ", Padded(titles[i], widths[i], table.columns[i].align));
    rule += fmt::format("|{}{}", std::string(widths[i] + (right ? 1 : 2), '-'), right ? ":" : "");
  }
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i)
      body += fmt::format("| {} ", Padded(row[i], widths[i], table.columns[i].align));
    body += "|\n";
  }
  return head + "|\n" + rule + "|\n" + body + "\n";
}

std::string RenderMarkdown(const Document& document) {
  std::string text = "# " + MarkdownText(document.title) + "\n\n" + RenderBlocks(document.head) +
                     RenderSections(document.sections, 2);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace fullband
