// A document's tables as comma-separated values (RFC 4180, UTF-8): for programs, so with the full numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/document/document.h"
#include "reports/output.h"

namespace fullband {

// csv/NAME.csv for every table (NAME: reports/document/tables.h).
std::vector<ReportFile> CsvFiles(const Document& document);

// A line of titles, then one for each row. A column whose cells stand for numbers has these, with as many
// digits as it takes to read the same double back; what else its cells show is in columns behind it, named
// after it: "accuracy low", "accuracy high". What a table shows as a dash is empty. Equal titles are told
// apart by numbers: "items", "items 2". Throws std::logic_error for a row that has another number of cells
// than there are columns.
std::string CsvTable(const Table& table);

// A text as a field. Spreadsheets run what begins with =, +, -, @, a tab or a line end as a formula, and what
// models and suites are called may be anything: an apostrophe goes before it, which they take for "text".
std::string CsvText(std::string_view text);

}  // namespace fullband
