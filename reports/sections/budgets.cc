// Accuracy against token budget.
#include "reports/budgets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <set>

#include "reports/document/cells.h"
#include "reports/sections/sections.h"
#include "reports/spelling.h"

namespace fullband {
namespace {

std::vector<int64_t> BudgetsOf(std::span<const BudgetCurve> curves) {
  std::set<int64_t> budgets;
  for (const BudgetCurve& curve : curves)
    for (const BudgetFigures& point : curve.points) budgets.insert(point.budget);
  return {budgets.begin(), budgets.end()};
}

template <typename Point>
const Point* At(const std::vector<Point>& points, int64_t budget) {
  for (const Point& point : points)
    if (point.budget == budget) return &point;
  return nullptr;
}

std::vector<Column> BudgetColumns(const std::vector<int64_t>& budgets) {
  std::vector<Column> columns;
  for (const int64_t budget : budgets) columns.push_back({Count(budget)});
  return columns;
}

// "53.8 % (49.4 – 58.1)"
Cell AccuracyCell(const BudgetFigures* point) {
  if (!point || !point->share) return kNoValue;
  Cell cell = PercentIntervalCell(point->interval);
  cell.text = fmt::format("{} ({})", Percent(point->share), cell.text);
  cell.number = point->share;
  return cell;
}

Cell TruncatedCell(const BudgetFigures* point) {
  return PercentCell(point ? point->truncated_share : std::nullopt);
}

Cell DifferenceAt(const BudgetDifference* point) {
  if (!point) return kNoValue;
  return DifferenceCell(point->difference.value, point->difference.interval, 100);
}

Table CurveTable(std::span<const BudgetCurve> curves, const std::vector<int64_t>& budgets,
                 const std::string& name, const std::string& caption,
                 const std::function<Cell(const BudgetFigures*)>& cell) {
  Table table{name, RunColumns(BudgetColumns(budgets)), {}, caption};
  for (const BudgetCurve& curve : curves) {
    std::vector<Cell> cells;
    for (const int64_t budget : budgets) cells.push_back(cell(At(curve.points, budget)));
    table.rows.push_back(RunCells(*curve.results, std::move(cells)));
  }
  return table;
}

Table DifferenceTable(const std::vector<BudgetPair>& pairs, const std::vector<int64_t>& budgets,
                      const std::string& caption) {
  Table table{"differences", {}, {}, caption};
  table.columns = {
      {"model", Align::kLeft}, {"A", Align::kLeft}, {"B", Align::kLeft}, {"asked as", Align::kLeft}};
  for (Column& column : BudgetColumns(budgets)) table.columns.push_back(std::move(column));
  for (const BudgetPair& pair : pairs) {
    const RunResults &a = *pair.a->results, &b = *pair.b->results;
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells = {a.model.name, a.run.setting, b.run.setting, AskedAs(b)};
    for (const int64_t budget : budgets) cells.push_back(DifferenceAt(At(pair.points, budget)));
  }
  return table;
}

void AddNotes(const BudgetCurve& curve, Notes* notes) {
  const std::string about = NameOf(*curve.results);
  std::vector<std::string> open;
  int64_t uncertain = 0;
  for (const BudgetFigures& point : curve.points) {
    uncertain += point.uncertain;
    if (point.ungraded > 0)
      open.push_back(fmt::format("{} at {}", Count(point.ungraded), Count(point.budget)));
  }
  if (!open.empty())
    notes->notes.push_back(
        {about,
         fmt::format("samples without a verdict on their cut, left out: {}; fullband regrade "
                     "--budgets goes on with them.",
                     fmt::join(open, ", ")),
         true});
  if (uncertain > 0)
    notes->notes.push_back(
        {about,
         fmt::format("verdicts that hang on the last character of a cut, which the store does not tell: {}.",
                     Count(uncertain))});
  if (curve.versions.size() > 1)
    notes->notes.push_back(
        {about,
         fmt::format("grader {} judged the cuts in versions {}; fullband regrade --budgets before "
                     "comparing.",
                     curve.results->run.headline, fmt::join(curve.versions, ", ")),
         true});
}

}  // namespace

std::optional<Section> BudgetSection(const SuiteRows& suite, std::span<const BudgetCurve> curves) {
  std::vector<BudgetCurve> ours;
  for (const BudgetCurve& curve : curves)
    if (curve.results->run.suite == suite.suite) ours.push_back(curve);
  if (ours.empty()) return std::nullopt;
  const std::vector<int64_t> budgets = BudgetsOf(ours);
  Section section = SectionOf(suite, "Accuracy against token budget", "budgets");
  section.blocks = {
      Paragraph{
          "Had every trace been cut at so many generated tokens: accuracy by the headline grader, with its "
          "95 % interval; then the share of traces that would have been truncated. With greedy "
          "decoding these are the figures of runs with these limits."},
      CurveTable(
          ours, budgets, "accuracy",
          CaptionOf(suite, "accuracy, had every trace been cut at so many tokens, with its 95 % interval."),
          AccuracyCell),
      CurveTable(ours, budgets, "truncated",
                 CaptionOf(suite, "share of traces that so many tokens would have truncated."),
                 TruncatedCell)};
  if (const std::vector<BudgetPair> pairs = PairBudgets(ours); !pairs.empty()) {
    section.blocks.push_back(Paragraph{
        "B's accuracy less A's at each budget, in points, with a 95 % interval for each by itself; the "
        "budgets are cuts of the same traces, so that their differences go together."});
    section.blocks.push_back(DifferenceTable(
        pairs, budgets,
        CaptionOf(suite,
                  "difference in accuracy in points, had every trace been cut at so many tokens; 95 % "
                  "intervals.")));
  }
  Notes notes;
  for (const BudgetCurve& curve : ours) AddNotes(curve, &notes);
  if (!notes.notes.empty()) section.blocks.push_back(std::move(notes));
  return section;
}

}  // namespace fullband
