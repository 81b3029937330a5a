#include "tasks/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/error.h"
#include "tasks/data_line.h"

namespace fullband {
namespace {

constexpr char kRemedy[] = "correct the table, or fetch the file again";

class Parser {
 public:
  Parser(std::string_view bytes, const std::filesystem::path& path) : bytes_(bytes), path_(path) {}

  bool done() const { return at_ == bytes_.size(); }

  CsvRow Row() {
    CsvRow row{fmt::format("{}, line {}", path_.string(), line_), {}};
    do {
      row.values.push_back(at_ < bytes_.size() && bytes_[at_] == '"' ? Quoted(row) : Plain(row));
    } while (Take(','));
    Take('\r');
    if (!done() && !Take('\n')) throw Error(row.where, "has text behind a closed quote", kRemedy);
    return row;
  }

 private:
  bool Take(char c) {
    if (at_ == bytes_.size() || bytes_[at_] != c) return false;
    ++at_;
    line_ += c == '\n';
    return true;
  }

  std::string Plain(const CsvRow& row) {
    const size_t end = std::min(bytes_.find_first_of(",\r\n\"", at_), bytes_.size());
    if (end < bytes_.size() && bytes_[end] == '"')
      throw Error(row.where, "has a quote amid a value that is not quoted", kRemedy);
    const std::string value(bytes_.substr(at_, end - at_));
    at_ = end;
    return value;
  }

  std::string Quoted(const CsvRow& row) {
    std::string value;
    for (++at_; at_ < bytes_.size(); ++at_) {
      const char c = bytes_[at_];
      line_ += c == '\n';
      if (c == '"') {
        ++at_;
        if (at_ == bytes_.size() || bytes_[at_] != '"') return value;
      }
      value += c;
    }
    throw Error(row.where, "has a quote that is never closed", "is the file complete?");
  }

  std::string_view bytes_;
  const std::filesystem::path& path_;
  size_t at_ = 0, line_ = 1;
};

}  // namespace

void CsvRow::Fail(const std::string& column, const std::string& why) const {
  throw Error(where + ", " + column, why, kRemedy);
}

std::vector<CsvRow> ReadCsv(std::string_view bytes, const std::filesystem::path& path,
                            const std::vector<std::string>& columns) {
  if (const auto bad = FirstBadByte(bytes))
    throw Error(
        fmt::format("{}, line {}", path.string(),
                    1 + std::count(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(*bad), '\n')),
        "is not UTF-8", "convert the file to UTF-8");
  Parser parser(bytes, path);
  std::vector<CsvRow> rows;
  while (!parser.done()) {
    rows.push_back(parser.Row());
    const CsvRow& row = rows.back();
    if (rows.size() == 1 && row.values != columns)
      throw Error(row.where, fmt::format("has the columns {}", fmt::join(row.values, ", ")),
                  fmt::format("expected a header: {}", fmt::join(columns, ",")));
    if (row.values.size() != columns.size())
      throw Error(row.where, fmt::format("has {} values, not {}", row.values.size(), columns.size()),
                  kRemedy);
  }
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

}  // namespace fullband
