#include "reports/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/document/cells.h"
#include "reports/sections/sections.h"
#include "reports/spelling.h"

namespace fullband {
namespace {

struct SampleRow {
  const RunResults* results;
  SampleFigures figures;
};

using Chances = std::vector<ChanceAtK> SampleFigures::*;

std::vector<SampleRow> RowsOf(const SuiteRows& suite) {
  std::vector<SampleRow> rows;
  for (const RunResults& results : suite.runs) {
    if (results.samples_per_item < 2) continue;
    const std::vector<int> ks = suite.pass_k.empty() ? UsualKs(results.samples_per_item) : suite.pass_k;
    rows.push_back({&results, FiguresOfSamples(results, ks)});
  }
  return rows;
}

// Lowest and highest accuracy of the first samples, the second ones, ...
Cell RangeCell(const std::vector<double>& by_sample) {
  if (by_sample.empty()) return kNoValue;
  const auto [low, high] = std::minmax_element(by_sample.begin(), by_sample.end());
  return {fmt::format("{} … {}", Fixed(100 * *low, 1), Percent(*high)),
          std::nullopt,
          {{"low", *low}, {"high", *high}}};
}

Table SpreadTable(const SuiteRows& suite, const std::vector<SampleRow>& rows) {
  Table table{
      "spread",
      RunColumns({{"samples"}, {"accuracy"}, {"of one sample each"}, {"deviation"}, {"run", Align::kLeft}}),
      {},
      CaptionOf(suite,
                "accuracy and its standard error over items; lowest and highest of the first "
                "samples of all items, the second ones and so on; their deviation in points.")};
  for (const auto& [results, figures] : rows) {
    const std::optional<double> deviation =
        figures.spread ? std::optional(100 * *figures.spread) : std::nullopt;
    table.rows.push_back(
        RunCells(*results, {CountCell(figures.samples), PercentErrorCell(figures.accuracy, figures.error),
                            RangeCell(figures.by_sample), FixedCell(deviation, 1), KeyOf(*results)}));
  }
  return table;
}

// A column for every k of any run; nothing where no run has such chances.
std::optional<Table> ChanceTable(const SuiteRows& suite, const std::vector<SampleRow>& rows, Chances chances,
                                 const std::string& name) {
  std::set<int> ks;
  for (const SampleRow& row : rows)
    for (const ChanceAtK& chance : row.figures.*chances) ks.insert(chance.k);
  if (ks.empty()) return std::nullopt;
  std::vector<Column> columns;
  for (const int k : ks) columns.push_back({fmt::format("{}@{}", name, k)});
  Table table{name + "_at_k",
              RunColumns(columns),
              {},
              CaptionOf(suite, name + "@k and its standard error over items.")};
  for (const SampleRow& row : rows) {
    const std::vector<ChanceAtK>& found = row.figures.*chances;
    if (found.empty()) continue;
    std::vector<Cell> cells;
    for (const int k : ks) {
      const auto at = std::find_if(found.begin(), found.end(), [k](const ChanceAtK& c) { return c.k == k; });
      cells.push_back(at == found.end() ? kNoValue : PercentErrorCell(at->mean, at->error));
    }
    table.rows.push_back(RunCells(*row.results, std::move(cells)));
  }
  return table;
}

// Which items could not take part. They are the same for pass@k and maj@k.
Notes ShortNotes(const std::vector<SampleRow>& rows) {
  Notes notes;
  for (const SampleRow& row : rows) {
    std::vector<std::string> without;
    for (const ChanceAtK& chance : row.figures.pass)
      if (chance.short_items > 0)
        without.push_back(fmt::format("{} of {} for k = {}", Count(chance.short_items),
                                      Count(chance.items + chance.short_items), chance.k));
    if (!without.empty())
      notes.notes.push_back(
          {NameOf(*row.results),
           fmt::format("items left out because fewer than k of their samples count: {}.", Joined(without))});
  }
  return notes;
}

}  // namespace

std::optional<Section> SampleSection(const SuiteRows& suite) {
  const std::vector<SampleRow> rows = RowsOf(suite);
  if (rows.empty()) return std::nullopt;
  Section section = SectionOf(suite, "Several samples of an item", "samples");
  section.blocks = {
      Paragraph{
          "By the headline grader. Accuracy with its standard error over items; lowest and highest accuracy "
          "of the first samples of all items, the second ones and so on, and their standard deviation in "
          "points."},
      SpreadTable(suite, rows)};
  if (std::optional<Table> table = ChanceTable(suite, rows, &SampleFigures::pass, "pass")) {
    section.blocks.push_back(Paragraph{
        "pass@k: whether one of k samples is right, over all choices of k (unbiased); mean and standard "
        "error over items."});
    section.blocks.push_back(std::move(*table));
  }
  if (std::optional<Table> table = ChanceTable(suite, rows, &SampleFigures::majority, "maj")) {
    section.blocks.push_back(Paragraph{
        "maj@k: whether the answer that most of k samples give is right, over all choices of k; answers "
        "count by value, what has no answer has no vote, and answers with equally many votes share the "
        "chance evenly."});
    section.blocks.push_back(std::move(*table));
  }
  if (Notes notes = ShortNotes(rows); !notes.notes.empty()) section.blocks.push_back(std::move(notes));
  return section;
}

}  // namespace fullband
