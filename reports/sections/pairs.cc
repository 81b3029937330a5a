#include <fmt/format.h>

#include <iterator>
#include <set>

#include "reports/comparison.h"
#include "reports/document/cells.h"
#include "reports/sections/sections.h"
#include "reports/spelling.h"

namespace fullband {
namespace {

std::vector<Cell> PairCells(const Comparison& pair, std::vector<Cell> more) {
  const std::string mark = pair.also_differs.empty() ? "" : " *";
  std::vector<Cell> cells = {pair.a->model.name, pair.a->run.setting, pair.b->run.setting + mark,
                             AskedAs(*pair.b)};
  std::move(more.begin(), more.end(), std::back_inserter(cells));
  return cells;
}

std::vector<Column> PairColumns(std::vector<Column> more) {
  std::vector<Column> columns = {
      {"model", Align::kLeft}, {"A", Align::kLeft}, {"B", Align::kLeft}, {"asked as", Align::kLeft}};
  std::move(more.begin(), more.end(), std::back_inserter(columns));
  return columns;
}

Table PairedAccuracy(const SuiteRows& suite, const std::vector<Comparison>& pairs) {
  Table table{"accuracy",
              PairColumns({{"items"},
                           {"both right"},
                           {"only A"},
                           {"only B"},
                           {"neither"},
                           {"McNemar p"},
                           {"B − A, points"},
                           {"left out"}}),
              {},
              CaptionOf(suite,
                        "settings compared item by item; exact two-sided McNemar test; difference in "
                        "accuracy with a 95 % bootstrap interval over items.")};
  for (const Comparison& pair : pairs) {
    const auto count = [&](int64_t value) { return pair.single ? CountCell(value) : Cell(kNoValue); };
    const bool tested = pair.single && pair.items > 0;
    table.rows.push_back(
        PairCells(pair, {CountCell(pair.items), count(pair.both), count(pair.only_a), count(pair.only_b),
                         count(pair.neither), PValueCell(tested ? std::optional(pair.p) : std::nullopt),
                         DifferenceCell(pair.accuracy.mean, pair.accuracy.interval, 100),
                         CountCell(pair.faults + pair.ungraded + pair.unpaired)}));
  }
  return table;
}

Table PairedLengths(const SuiteRows& suite, const std::vector<Comparison>& pairs) {
  Table table{
      "lengths",
      PairColumns({{"identical traces"},
                   {"B − A, all items"},
                   {"items"},
                   {"B − A, both finished"},
                   {"items"},
                   {"B − A, both right"},
                   {"items"}}),
      {},
      CaptionOf(suite, "trace length item by item: mean difference in tokens, 95 % bootstrap interval.")};
  for (const Comparison& pair : pairs) {
    if (pair.a->run.ask != "generate") continue;
    const bool unknown = pair.a->imported && !pair.identical && !pair.length.mean;
    if (unknown) continue;
    std::vector<Cell> cells = {PercentCell(pair.identical)};
    for (const PairedDifference* difference : {&pair.length, &pair.length_finished, &pair.length_right}) {
      cells.push_back(DifferenceCell(difference->mean, difference->interval));
      cells.push_back(CountCell(difference->items));
    }
    table.rows.push_back(PairCells(pair, std::move(cells)));
  }
  return table;
}

Notes PairNotes(const std::vector<Comparison>& pairs) {
  Notes notes;
  std::set<int64_t> imported;  // models
  for (const Comparison& pair : pairs) {
    const std::string name = fmt::format("{}, {} and {} ({}, {})", pair.a->model.name, pair.a->run.setting,
                                         pair.b->run.setting, KeyOf(*pair.a), KeyOf(*pair.b));
    if (!pair.also_differs.empty())
      notes.notes.push_back(
          {"* " + name,
           fmt::format("the runs also differ in {}. Their difference is not attributable to the setting.",
                       Joined(pair.also_differs)),
           true});
    if (pair.a->imported && imported.insert(pair.a->model.id).second)
      notes.notes.push_back({pair.a->model.name, "that the weights are the same rests on the name alone."});
    std::vector<std::string> left_out;
    if (pair.faults > 0) left_out.push_back(Count(pair.faults) + " with a fault");
    if (pair.ungraded > 0) left_out.push_back(Count(pair.ungraded) + " not graded yet");
    if (pair.unpaired > 0) left_out.push_back(Count(pair.unpaired) + " answered in one run only");
    if (!left_out.empty())
      notes.notes.push_back({name, fmt::format("items left out: {}.", Joined(left_out))});
  }
  return notes;
}

}  // namespace

std::optional<Section> PairSection(const SuiteRows& suite) {
  const std::vector<Comparison> pairs = CompareSettings(suite.runs);
  if (pairs.empty()) return std::nullopt;
  Section section = SectionOf(suite, "Settings compared on the same weights", "pairs");
  section.blocks = {
      Paragraph{
          "Right and wrong by the headline grader, item by item; exact two-sided McNemar test; difference in "
          "accuracy with a 95 % bootstrap interval over items."},
      PairedAccuracy(suite, pairs)};
  if (Table lengths = PairedLengths(suite, pairs); !lengths.rows.empty()) {
    section.blocks.push_back(
        Paragraph{"Trace length, item by item (mean difference in tokens, 95 % bootstrap interval):"});
    section.blocks.push_back(std::move(lengths));
  }
  if (Notes notes = PairNotes(pairs); !notes.notes.empty()) section.blocks.push_back(std::move(notes));
  return section;
}

}  // namespace fullband
