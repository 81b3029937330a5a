#include "reports/sections/suite_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "reports/document/tables.h"

namespace fullband {

SuiteRows RowsOfSuite(std::span<const RunResults> runs, const std::vector<int>& pass_k) {
  SuiteRows suite{runs.front().run.suite, runs, {}, BreakDown(runs), pass_k};
  for (const RunResults& results : runs) suite.rows.push_back({&results, Figures(results)});
  return suite;
}

Section SectionOf(const SuiteRows& suite, std::string title, const std::string& part) {
  return {std::move(title), SafeName(suite.suite) + "_" + part, {}};
}

std::string CaptionOf(const SuiteRows& suite, const std::string& text) { return suite.suite + ": " + text; }

std::string KeyOf(const RunResults& results) { return results.run.key.substr(0, 8); }

std::string AskedAs(const RunResults& results) {
  const RunRecord& run = results.run;
  std::string text = fmt::format("{}, {} shot{}", run.format, run.shots, run.shots == 1 ? "" : "s");
  if (run.temperature > 0) text += fmt::format(", T {:g}", run.temperature);
  if (results.samples_per_item > 1) text += fmt::format(", {} samples", results.samples_per_item);
  return text;
}

std::string NameOf(const RunResults& results) {
  return fmt::format("{}, {} ({})", results.model.name, results.run.setting, KeyOf(results));
}

std::vector<std::string> TitlesOf(const std::vector<const RunResults*>& runs) {
  std::set<std::string> models, prompts;
  for (const RunResults* results : runs) {
    models.insert(results->model.name);
    prompts.insert(AskedAs(*results));
  }
  std::vector<std::string> titles;
  for (const RunResults* results : runs) {
    std::string title = models.size() > 1 ? results->model.name + ", " : "";
    title += results->run.setting;
    if (prompts.size() > 1) title += ", " + AskedAs(*results);
    titles.push_back(title);
  }
  const std::vector<std::string> short_titles = titles;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (std::count(short_titles.begin(), short_titles.end(), titles[i]) > 1)
      titles[i] += " (" + KeyOf(*runs[i]) + ")";
  }
  return titles;
}

std::vector<Column> RunColumns(std::vector<Column> more) {
  std::vector<Column> columns = {
      {"model", Align::kLeft}, {"setting", Align::kLeft}, {"asked as", Align::kLeft}};
  std::move(more.begin(), more.end(), std::back_inserter(columns));
  return columns;
}

std::vector<Cell> RunCells(const RunResults& results, std::vector<Cell> more) {
  std::vector<Cell> cells = {results.model.name, results.run.setting, AskedAs(results)};
  std::move(more.begin(), more.end(), std::back_inserter(cells));
  return cells;
}

}  // namespace fullband
