#include "reports/columns.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>

namespace fullband {
namespace {

struct Character {
  std::string_view bytes;
  utf8proc_int32_t code = -1;  // -1: not UTF-8
};

// The first character of a text that is not empty; one byte of what is not UTF-8.
Character First(std::string_view text) {
  Character character;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t size =
      utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &character.code);
  character.bytes = text.substr(0, size > 0 ? static_cast<size_t>(size) : 1);
  return character;
}

int WidthOf(const Character& character) {
  return character.code < 0 ? 1 : utf8proc_charwidth(character.code);
}

// The longest beginning of `line` that fits into `width` columns: at least one character.
size_t Fitting(std::string_view line, int width) {
  size_t end = 0;
  int used = 0;
  while (end < line.size()) {
    const Character character = First(line.substr(end));
    used += WidthOf(character);
    if (used > width && end > 0) break;
    end += character.bytes.size();
  }
  return end;
}

}  // namespace

std::string TerminalText(std::string_view text) {
  std::string printable;
  while (!text.empty()) {
    const Character character = First(text);
    text.remove_prefix(character.bytes.size());
    const utf8proc_int32_t code = character.code;
    const bool steers = code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
                        (code >= 0x2066 && code <= 0x2069);  // the last two change the direction of writing
    if (code == '\n' || !steers)
      printable += character.bytes;
    else if (code == '\t')
      printable += "\\t";
    else if (code < 0)
      printable += fmt::format("\\x{:02x}", static_cast<unsigned char>(character.bytes[0]));
    else
      printable += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
  }
  return printable;
}

std::string TerminalLine(std::string_view text) {
  std::string line;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool pair = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (!pair) line += text[i] == '\n' || text[i] == '\r' ? ' ' : text[i];
  }
  return TerminalText(line);
}

int DisplayWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Character character = First(text);
    width += WidthOf(character);
    text.remove_prefix(character.bytes.size());
  }
  return width;
}

std::vector<std::string> Wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    while (DisplayWidth(line) > width) {
      size_t cut = Fitting(line, width);
      const size_t space = line.substr(0, cut + 1).rfind(' ');
      const bool at_space = space != std::string_view::npos && space > 0;
      if (at_space) cut = space;
      lines.emplace_back(line.substr(0, cut));
      line.remove_prefix(cut + (at_space ? 1 : 0));
    }
    lines.emplace_back(line);
    begin = end + 1;
  }
  return lines;
}

std::string SideBySide(const std::vector<std::vector<std::string>>& columns, int width) {
  size_t rows = 0;
  for (const auto& column : columns) rows = std::max(rows, column.size());
  std::string text;
  for (size_t row = 0; row < rows; ++row) {
    std::string line;
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string cell = row < columns[i].size() ? columns[i][row] : "";
      line += cell;
      if (i + 1 < columns.size())
        line += std::string(static_cast<size_t>(std::max(0, width - DisplayWidth(cell))), ' ') + " | ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace fullband
