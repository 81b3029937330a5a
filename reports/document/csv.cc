#include "reports/document/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "reports/document/tables.h"
#include "reports/spelling.h"

namespace fullband {
namespace {

// What a spreadsheet takes for the beginning of a formula, the wide forms included.
bool BeginsAFormula(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return false;
  text.remove_prefix(begin);
  if (std::string_view("=+-@\t\r\n").find(text[0]) != std::string_view::npos) return true;
  for (const std::string_view wide : {"＝", "＋", "－", "＠"})
    if (text.starts_with(wide)) return true;
  return false;
}

// A column of the file: the cells' own texts and numbers, or one of the further numbers.
struct Field {
  size_t column = 0;
  std::optional<std::string> further;
};

bool IsNothing(const Cell& cell) { return !cell.number && cell.text == kNoValue; }

std::vector<Field> FieldsOf(const Table& table) {
  std::vector<Field> fields;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    std::vector<std::string> names;
    bool own = false;
    for (const std::vector<Cell>& row : table.rows) {
      const Cell& cell = row[i];
      own |= cell.number || (cell.further.empty() && !IsNothing(cell));
      for (const NamedNumber& number : cell.further)
        if (std::find(names.begin(), names.end(), number.name) == names.end()) names.push_back(number.name);
    }
    // An interval alone is in its two columns; one that no row has still has a title.
    if (own || names.empty()) fields.push_back({i, std::nullopt});
    for (const std::string& name : names) fields.push_back({i, name});
  }
  return fields;
}

std::string Value(const Cell& cell, const Field& field) {
  if (field.further) {
    for (const NamedNumber& number : cell.further)
      if (number.name == *field.further) return fmt::format("{}", number.value);
    return "";
  }
  if (cell.number) return fmt::format("{}", *cell.number);
  return IsNothing(cell) ? "" : CsvText(cell.text);
}

std::string Line(const std::vector<std::string>& values) {
  return fmt::format("{}\r\n", fmt::join(values, ","));
}

}  // namespace

std::string CsvText(std::string_view text) {
  std::string field = BeginsAFormula(text) ? "'" : "";
  field += text;
  const bool plain = field.find_first_of(",;\t\"\r\n") == std::string::npos && !field.starts_with(' ') &&
                     !field.ends_with(' ');
  if (plain) return field;
  std::string quoted = "\"";
  for (const char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string CsvTable(const Table& table) {
  CheckShape(table);
  const std::vector<Field> fields = FieldsOf(table);
  std::vector<std::string> titles;
  std::map<std::string, int> seen;
  for (const Field& field : fields) {
    std::string title = table.columns[field.column].title;
    if (field.further) title += " " + *field.further;
    if (const int times = ++seen[title]; times > 1) title += fmt::format(" {}", times);
    titles.push_back(CsvText(title));
  }
  std::string text = Line(titles);
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::string> values;
    for (const Field& field : fields) values.push_back(Value(row[field.column], field));
    text += Line(values);
  }
  return text;
}

std::vector<ReportFile> CsvFiles(const Document& document) {
  std::vector<ReportFile> files;
  for (const NamedTable& table : TablesOf(document))
    files.push_back({std::filesystem::path("csv") / (table.name + ".csv"), CsvTable(*table.table)});
  return files;
}

}  // namespace fullband
