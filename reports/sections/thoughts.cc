#include <algorithm>

#include "reports/document/cells.h"
#include "reports/sections/sections.h"

namespace fullband {

std::optional<Section> ThoughtSection(const SuiteRows& suite) {
  if (std::none_of(suite.rows.begin(), suite.rows.end(),
                   [](const RunRow& row) { return row.figures.thoughts.thinking > 0; }))
    return std::nullopt;
  Table table{
      "thoughts",
      RunColumns({{"traces that think"}, {"thought tokens"}, {"visible tokens"}, {"unfinished thoughts"}}),
      {},
      CaptionOf(suite, "mean tokens inside and outside thoughts.")};
  for (const auto& [results, figures] : suite.rows) {
    const ThoughtFigures& thoughts = figures.thoughts;
    table.rows.push_back(
        RunCells(*results, {PercentCell(thoughts.share), FixedCell(thoughts.thought, 1),
                            FixedCell(thoughts.visible, 1), CountCell(thoughts.unfinished)}));
  }
  Section section = SectionOf(suite, "Thoughts", "thoughts");
  section.blocks = {
      Paragraph{
          "Mean tokens of the kept text inside thoughts, their markers included, and outside; traces that "
          "end inside a thought have no answer there."},
      std::move(table)};
  return section;
}

}  // namespace fullband
