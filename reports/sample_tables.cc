#include "reports/sample_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "reports/markdown.h"

namespace fullband {
namespace {

constexpr Table::Align kLeft = Table::Align::kLeft;
using Cells = std::vector<std::string>;
using Chances = std::vector<ChanceAtK> SampleFigures::*;

std::string WithError(std::optional<double> share, std::optional<double> error) {
  std::string cell = Percent(share);
  if (error) cell += " ± " + Fixed(100 * *error, 1);
  return cell;
}

std::vector<Table::Column> Columns(const std::vector<Table::Column>& more) {
  std::vector<Table::Column> columns = {{"model", kLeft}, {"setting", kLeft}, {"asked as", kLeft}};
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

std::string SpreadTable(const std::vector<SampleRow>& rows) {
  Table table(Columns({{"samples"}, {"accuracy"}, {"of one sample each"}, {"deviation"}, {"run", kLeft}}));
  for (const SampleRow& row : rows) {
    const std::vector<double>& by_sample = row.figures.by_sample;
    Cells cells = row.run;
    std::string range = kNoValue;
    if (!by_sample.empty())
      range = fmt::format("{} … {}", Fixed(100 * *std::min_element(by_sample.begin(), by_sample.end()), 1),
                          Percent(*std::max_element(by_sample.begin(), by_sample.end())));
    const std::optional<double>& spread = row.figures.spread;
    const std::string deviation = spread ? Fixed(100 * *spread, 1) : std::string(kNoValue);
    for (const std::string& cell :
         {fmt::format("{}", row.figures.samples), WithError(row.figures.accuracy, row.figures.error), range,
          deviation, row.key})
      cells.push_back(cell);
    table.Add(cells);
  }
  return table.Render();
}

// A column for every k of any run; nothing where no run has such chances.
std::string ChanceTable(const std::vector<SampleRow>& rows, Chances chances, const std::string& name) {
  std::set<int> ks;
  for (const SampleRow& row : rows)
    for (const ChanceAtK& chance : row.figures.*chances) ks.insert(chance.k);
  if (ks.empty()) return "";
  std::vector<Table::Column> columns;
  for (const int k : ks) columns.push_back({fmt::format("{}@{}", name, k)});
  Table table(Columns(columns));
  for (const SampleRow& row : rows) {
    const std::vector<ChanceAtK>& found = row.figures.*chances;
    if (found.empty()) continue;
    Cells cells = row.run;
    for (const int k : ks) {
      const auto at = std::find_if(found.begin(), found.end(), [k](const ChanceAtK& c) { return c.k == k; });
      cells.push_back(at == found.end() ? std::string(kNoValue) : WithError(at->mean, at->error));
    }
    table.Add(cells);
  }
  return table.Render();
}

// Which items could not take part. They are the same for pass@k and maj@k.
std::string Notes(const std::vector<SampleRow>& rows) {
  std::string text;
  for (const SampleRow& row : rows) {
    std::string without;
    for (const ChanceAtK& chance : row.figures.pass) {
      if (chance.short_items == 0) continue;
      without += fmt::format("{}{} of {} for k = {}", without.empty() ? "" : ", ", Count(chance.short_items),
                             Count(chance.items + chance.short_items), chance.k);
    }
    if (!without.empty())
      text += fmt::format("- {}, {} ({}): items left out because fewer than k of their samples count: {}.\n",
                          row.run[0], row.run[1], row.key, without);
  }
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::string SampleSection(const std::vector<SampleRow>& all) {
  std::vector<SampleRow> rows;
  for (const SampleRow& row : all)
    if (row.figures.samples > 1) rows.push_back(row);
  if (rows.empty()) return "";
  const std::string majority = ChanceTable(rows, &SampleFigures::majority, "maj");
  std::string section =
      "### Several samples of an item\n\nBy the headline grader. Accuracy with its standard error over "
      "items; "
      "lowest and highest accuracy of the first samples of all items, the second ones and so on, and their "
      "standard deviation in points.\n\n" +
      SpreadTable(rows) +
      "pass@k: whether one of k samples is right, over all choices of k (unbiased); mean and standard error "
      "over "
      "items.\n\n" +
      ChanceTable(rows, &SampleFigures::pass, "pass");
  if (!majority.empty())
    section +=
        "maj@k: whether the answer that most of k samples give is right, over all choices of k; answers "
        "count by "
        "value, what has no answer has no vote, and answers with equally many votes share the chance "
        "evenly.\n\n" +
        majority;
  return section + Notes(rows);
}

}  // namespace fullband
