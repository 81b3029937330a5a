#include "reports/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace fullband {

namespace {

// Characters, not bytes: continuation bytes of UTF-8 take no column.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c == '\n' || c == '\r' ? ' ' : c;
  }
  return escaped;
}

std::string Padded(const std::string& text, size_t width, Table::Align align) {
  const std::string space(width - Width(text), ' ');
  return align == Table::Align::kLeft ? text + space : space + text;
}

}  // namespace

void Table::Add(const std::vector<std::string>& cells) {
  if (cells.size() != columns_.size()) throw std::logic_error("a table's row has another number of cells");
  std::vector<std::string>& row = rows_.emplace_back();
  for (const std::string& cell : cells) row.push_back(Escaped(cell));
}

std::string Table::Render() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = std::max<size_t>(3, Width(columns_[i].title));
    for (const std::vector<std::string>& row : rows_) width = std::max(width, Width(row[i]));
    widths.push_back(width);
  }
  std::string head, rule, body;
  for (size_t i = 0; i < columns_.size(); ++i) {
    head += fmt::format("| {} ", Padded(columns_[i].title, widths[i], columns_[i].align));
    const bool right = columns_[i].align == Align::kRight;
    rule += fmt::format("|{}{}", std::string(widths[i] + (right ? 1 : 2), '-'), right ? ":" : "");
  }
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      body += fmt::format("| {} ", Padded(row[i], widths[i], columns_[i].align));
    }
    body += "|\n";
  }
  return head + "|\n" + rule + "|\n" + body + "\n";
}

std::string Fixed(std::optional<double> value, int digits, bool sign) {
  if (!value) return kNoValue;
  std::string text = sign ? fmt::format("{:+.{}f}", *value, digits) : fmt::format("{:.{}f}", *value, digits);
  const bool zero = text.find_first_not_of("+-0.") == std::string::npos;
  if (zero && (text.front() == '-' || text.front() == '+')) text.erase(0, 1);
  return text;
}

std::string Percent(std::optional<double> share) {
  return share ? Fixed(100 * *share, 1) + " %" : std::string(kNoValue);
}

std::string PercentInterval(const Interval& interval) {
  return Fixed(100 * interval.low, 1) + " – " + Fixed(100 * interval.high, 1);
}

std::string Difference(std::optional<double> mean, const std::optional<Interval>& interval, double scale) {
  if (!mean) return kNoValue;
  std::string text = Fixed(scale * *mean, 1, true);
  if (interval) {
    text +=
        " (" + Fixed(scale * interval->low, 1, true) + " … " + Fixed(scale * interval->high, 1, true) + ")";
  }
  return text;
}

std::string Count(int64_t value) {
  std::string text = std::to_string(value);
  const size_t first = text.front() == '-' ? 1 : 0;
  for (size_t i = text.size(); i > first + 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string Bytes(int64_t bytes) {
  if (bytes <= 0) return kNoValue;
  const double mib = static_cast<double>(bytes) / (1 << 20);
  return mib < 1024 ? fmt::format("{:.0f} MiB", mib) : fmt::format("{:.1f} GiB", mib / 1024);
}

std::string PValue(double p) { return p < 0.001 ? fmt::format("{:.2e}", p) : fmt::format("{:.3f}", p); }

}  // namespace fullband
