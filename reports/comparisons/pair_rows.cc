#include "reports/comparisons/pair_rows.h"

#include <fmt/format.h>

#include <iterator>

#include "reports/sections/suite_rows.h"

namespace fullband {
namespace {

// Where the two were not asked alike, as one was and as the other.
std::string AskedAs(const Comparison& pair) {
  const std::string a = AskedAs(*pair.a), b = AskedAs(*pair.b);
  return a == b ? a : a + " | " + b;
}

}  // namespace

std::vector<Column> PairColumns(PairRows rows, std::vector<Column> more) {
  std::vector<Column> columns;
  if (rows == PairRows::kSuites) {
    columns = {{"suite", Align::kLeft}};
  } else {
    columns = {{rows == PairRows::kSettings ? "model" : "setting", Align::kLeft},
               {"A", Align::kLeft},
               {"B", Align::kLeft}};
  }
  columns.push_back({"asked as", Align::kLeft});
  std::move(more.begin(), more.end(), std::back_inserter(columns));
  return columns;
}

std::vector<Cell> PairCells(PairRows rows, const Comparison& pair, std::vector<Cell> more) {
  const std::string mark = pair.also_differs.empty() ? "" : " *";
  std::vector<Cell> cells;
  if (rows == PairRows::kSuites) {
    cells = {pair.a->run.suite + mark};
  } else if (rows == PairRows::kSettings) {
    cells = {pair.a->model.name, pair.a->run.setting, pair.b->run.setting + mark};
  } else {
    cells = {pair.a->run.setting, pair.a->model.name, pair.b->model.name + mark};
  }
  cells.push_back(AskedAs(pair));
  std::move(more.begin(), more.end(), std::back_inserter(cells));
  return cells;
}

std::string NameOfPair(const Comparison& pair) {
  const RunResults &a = *pair.a, &b = *pair.b;
  const std::string keys = fmt::format(" ({}, {})", KeyOf(a), KeyOf(b));
  if (pair.same_model) return fmt::format("{}, {} and {}", a.model.name, a.run.setting, b.run.setting) + keys;
  if (pair.same_setting)
    return fmt::format("{}, {} and {}", a.run.setting, a.model.name, b.model.name) + keys;
  return NameOfSide(a) + " and " + NameOfSide(b) + keys;
}

std::string NameOfSide(const RunResults& run) { return run.model.name + "/" + run.run.setting; }

}  // namespace fullband
