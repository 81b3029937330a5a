#include <algorithm>

#include "reports/document/cells.h"
#include "reports/sections/sections.h"
#include "reports/spelling.h"

namespace fullband {
namespace {

std::vector<std::string> GradersOf(const SuiteRows& suite) {
  std::vector<std::string> graders;
  for (const RunRow& row : suite.rows)
    for (const Accuracy& accuracy : row.figures.graders)
      if (std::find(graders.begin(), graders.end(), accuracy.grader) == graders.end())
        graders.push_back(accuracy.grader);
  return graders;
}

Cell AccuracyCell(const RunRow& row, const std::string& grader) {
  const std::vector<Accuracy>& graders = row.figures.graders;
  const auto found = std::find_if(graders.begin(), graders.end(),
                                  [&](const Accuracy& accuracy) { return accuracy.grader == grader; });
  if (found == graders.end() || !found->share) return kNoValue;
  Cell cell(Percent(found->share) + " (" + PercentInterval(found->interval) + ")", found->share,
            {{"low", found->interval.low}, {"high", found->interval.high}});
  if (row.results->run.ask == "generate" && found->answered) {
    cell.text += ", found " + Percent(found->answered);
    cell.further.push_back({"found", *found->answered});
  }
  return cell;
}

}  // namespace

std::optional<Section> GraderSection(const SuiteRows& suite) {
  const std::vector<std::string> graders = GradersOf(suite);
  if (graders.size() < 2) return std::nullopt;
  std::vector<Column> columns;
  for (const std::string& grader : graders) columns.push_back({grader});
  const std::string found =
      suite.runs.front().run.ask == "generate" ? ", and the share in which it found an answer" : "";
  Table table{"graders",
              RunColumns(columns),
              {},
              CaptionOf(suite, "accuracy and 95 % interval by each grader" + found + ".")};
  for (const RunRow& row : suite.rows) {
    std::vector<Cell> cells;
    for (const std::string& grader : graders) cells.push_back(AccuracyCell(row, grader));
    table.rows.push_back(RunCells(*row.results, std::move(cells)));
  }
  Section section = SectionOf(suite, "Graders", "graders");
  section.blocks = {Paragraph{"Accuracy and 95 % interval by each grader" + found + "."}, std::move(table)};
  return section;
}

}  // namespace fullband
