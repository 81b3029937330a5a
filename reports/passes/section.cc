#include "reports/passes/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/charts/charts.h"
#include "reports/charts/labels.h"
#include "reports/document/cells.h"
#include "reports/spelling.h"

namespace fullband {
namespace {

// What several files measured on the same suite or text.
std::vector<std::vector<MeasuredPasses>> BySource(std::span<const MeasuredPasses> measured) {
  std::vector<std::vector<MeasuredPasses>> groups;
  for (const MeasuredPasses& one : measured) {
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group[0].source == one.source && group[0].suite == one.suite;
    });
    (found == groups.end() ? groups.emplace_back() : *found).push_back(one);
  }
  return groups;
}

// Three digits that count, whatever the size.
Cell SmallCell(const std::optional<double>& value) {
  return value ? Cell(fmt::format("{:.3g}", *value), *value) : Cell(kNoValue);
}

Table PassTable(std::span<const MeasuredPasses> measured, const std::string& name) {
  Table table;
  table.name = name;
  table.columns = {{"model", Align::kLeft}, {"pass"},     {"residual"},
                   {"open residual"},       {"distance"}, {"open distance"},
                   {"loss, nats/token"}};
  const std::vector<std::string> names = NamesOf(measured);
  for (size_t i = 0; i < measured.size(); ++i) {
    for (const MeasuredPass& pass : measured[i].passes)
      table.rows.push_back({names[i], CountCell(pass.pass), SmallCell(pass.residual),
                            SmallCell(pass.open_residual), SmallCell(pass.distance),
                            SmallCell(pass.open_distance), FixedCell(pass.loss, 4)});
    table.rows.push_back({names[i], "exact", kNoValue, kNoValue, CountCell(0), CountCell(0),
                          FixedCell(measured[i].recurrence_loss, 4)});
  }
  return table;
}

Section SourceSection(std::span<const MeasuredPasses> measured, std::set<std::string>* taken) {
  const MeasuredPasses& first = measured[0];
  Section section;
  section.title = first.source;
  section.name = TakeName(ChartName(first.source), taken);
  section.blocks.push_back(Paragraph{fmt::format(
      "Pass p against pass p − 1 (residual) and against the exact recurrence (distance), relative, over all "
      "positions of {} {}; open: without positions that are the recurrence whatever the map. Loss of {}.",
      Count(first.texts), first.suite ? "items" : "texts",
      first.suite ? "the reference answers" : "all tokens")});
  if (auto chart = PassChart(measured)) section.blocks.push_back(std::move(*chart));
  section.blocks.push_back(PassTable(measured, "passes"));
  Notes verdicts;
  const std::vector<std::string> names = NamesOf(measured);
  for (size_t i = 0; i < measured.size(); ++i)
    verdicts.notes.push_back({names[i], fmt::format("{}: {}", measured[i].verdict, measured[i].reason)});
  section.blocks.push_back(std::move(verdicts));
  return section;
}

}  // namespace

std::optional<Section> PassesSection(std::span<const MeasuredPasses> measured) {
  if (measured.empty()) return std::nullopt;
  Section section;
  section.title = "Passes";
  section.name = "passes";
  std::set<std::string> taken;
  for (const auto& group : BySource(measured)) section.sections.push_back(SourceSection(group, &taken));
  return section;
}

}  // namespace fullband
