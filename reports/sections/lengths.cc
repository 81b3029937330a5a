#include "reports/document/cells.h"
#include "reports/sections/sections.h"
#include "reports/spelling.h"

namespace fullband {

std::optional<Section> LengthSection(const SuiteRows& suite) {
  Table table{"lengths",
              RunColumns({{"mean"},
                          {"median"},
                          {"90th percentile"},
                          {"finished"},
                          {"right"},
                          {"not right"},
                          {"truncated"},
                          {"truncated traces"}}),
              {},
              CaptionOf(suite, "trace length in tokens, of all traces and the means of some.")};
  for (const auto& [results, figures] : suite.rows) {
    if (results->run.ask != "generate" || !results->Knows("trace_tokens")) continue;
    const TraceLengths& lengths = figures.lengths;
    table.rows.push_back(RunCells(
        *results, {FixedCell(lengths.mean, 1), FixedCell(lengths.median, 1),
                   FixedCell(lengths.percentile90, 1), FixedCell(lengths.finished, 1),
                   FixedCell(lengths.right, 1), FixedCell(lengths.wrong, 1), FixedCell(lengths.cut, 1),
                   results->Knows("stop_reason") ? CountCell(lengths.truncated) : kNoValue}));
  }
  if (table.rows.empty()) return std::nullopt;
  Section section = SectionOf(suite, "Trace length", "lengths");
  section.blocks = {
      Paragraph{
          "Tokens of the kept text (trace_tokens): mean, median and 90th percentile of all traces; then "
          "the means of those that finished, that are right or not by the headline grader, and that were "
          "truncated."},
      std::move(table)};
  return section;
}

}  // namespace fullband
