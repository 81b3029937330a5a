#include <fmt/format.h>

#include <algorithm>

#include "reports/breakdown.h"
#include "reports/document/cells.h"
#include "reports/document/tables.h"
#include "reports/sections/sections.h"
#include "reports/spelling.h"

namespace fullband {
namespace {

Table TableOf(const SuiteRows& suite, const Breakdown& breakdown) {
  const std::string by = Joined(breakdown.fields, " and ");
  Table table{
      SafeName("by " + by), {}, {}, CaptionOf(suite, "accuracy by " + by + "; in brackets the items.")};
  for (const std::string& field : breakdown.fields) table.columns.push_back({field, Align::kLeft});
  for (const std::string& title : TitlesOf(breakdown.runs)) table.columns.push_back({title});
  for (const BreakdownRow& row : breakdown.rows) {
    std::vector<Cell>& cells = table.rows.emplace_back(row.labels.begin(), row.labels.end());
    for (const BreakdownCell& cell : row.cells) {
      if (cell.items == 0)
        cells.push_back(kNoValue);
      else
        cells.emplace_back(fmt::format("{} ({})", Percent(cell.Share()), Count(cell.items)), cell.Share(),
                           std::vector<NamedNumber>{{"items", static_cast<double>(cell.items)}});
    }
  }
  return table;
}

Section SectionOfTable(const SuiteRows& suite, const Breakdown& breakdown) {
  Table table = TableOf(suite, breakdown);
  Section section = SectionOf(suite, "Accuracy by " + Joined(breakdown.fields, " and "), table.name);
  const bool means = std::any_of(breakdown.rows.begin(), breakdown.rows.end(), [](const BreakdownRow& row) {
    return row.kind == BreakdownRow::Kind::kMean;
  });
  std::string text = "By the headline grader; in brackets the items that count.";
  if (means)
    text += fmt::format(" “all” weighs every item alike, “mean” every {} (in brackets their number).",
                        breakdown.fields.back());
  section.blocks = {Paragraph{text}, std::move(table)};
  return section;
}

}  // namespace

std::vector<Section> BreakdownSections(const SuiteRows& suite) {
  std::vector<Section> sections;
  for (const Breakdown& breakdown : suite.breakdowns) sections.push_back(SectionOfTable(suite, breakdown));
  if (sections.empty()) return {};
  Notes notes;
  for (const RunResults& results : suite.runs) {
    const bool grouped = std::any_of(results.items.begin(), results.items.end(),
                                     [](const ItemResult& item) { return !item.groups.empty(); });
    if (!grouped && !results.items.empty())
      notes.notes.push_back(
          {NameOf(results),
           "its items' groups are not in the store; running it once more adds them, without "
           "asking anything anew."});
  }
  if (!notes.notes.empty()) sections.back().blocks.push_back(std::move(notes));
  return sections;
}

}  // namespace fullband
