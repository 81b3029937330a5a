// Tables of comma-separated values (RFC 4180), as MMLU's are kept.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fullband {

struct CsvRow {
  std::string where;                // file and the line that the row begins on
  std::vector<std::string> values;  // one a column; quotes taken off, all else as it stands

  // Throws Error naming file, line and column.
  [[noreturn]] void Fail(const std::string& column, const std::string& why) const;
};

// The rows behind the header, which must name just these columns. Values may be quoted, then a quote stands
// twice and commas and line breaks are text; rows end with \n or \r\n. Throws Error naming file and line for
// other columns or another number of them, quotes that are never closed or stand amid a value, and bytes that
// are not UTF-8.
std::vector<CsvRow> ReadCsv(std::string_view bytes, const std::filesystem::path& path,
                            const std::vector<std::string>& columns);

}  // namespace fullband
