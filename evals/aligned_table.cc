#include "evals/aligned_table.h"

#include <algorithm>

namespace fullband {
namespace {

// Continuation bytes of UTF-8 take no column.
size_t Width(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

}  // namespace

std::string AlignedTable(const std::vector<std::vector<std::string>>& rows, size_t left) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const std::vector<std::string>& cells : rows)
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], Width(cells[i]));
  std::string text;
  for (const std::vector<std::string>& cells : rows) {
    std::string line;
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string space(widths[i] - Width(cells[i]), ' ');
      line += (i == 0 ? "" : "  ") + (i < left ? cells[i] + space : space + cells[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace fullband
