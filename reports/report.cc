#include "reports/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/error.h"
#include "reports/budgets.h"
#include "reports/charts/charts.h"
#include "reports/comparisons/families.h"
#include "reports/comparisons/sections.h"
#include "reports/comparisons/sources.h"
#include "reports/document/markdown.h"
#include "reports/document/tables.h"
#include "reports/passes/section.h"
#include "reports/sections/sections.h"

namespace fullband {

namespace {

// What the sections of one suite are made of.
struct SuiteParts {
  const SuiteRows& rows;
  std::span<const Comparison> comparisons;
  std::span<const BudgetCurve> curves;
  const ChartLooks& looks;  // of the whole report
};

std::optional<Chart> BudgetChartOf(const SuiteParts& suite) {
  std::vector<const BudgetCurve*> curves;
  std::vector<const RunResults*> runs;
  for (const BudgetCurve& curve : suite.curves) {
    if (curve.results->run.suite != suite.rows.suite) continue;
    curves.push_back(&curve);
    runs.push_back(curve.results);
  }
  const std::vector<RunLabel> labels = LabelRuns(runs, suite.looks);
  std::vector<BudgetPoint> points;
  for (size_t i = 0; i < curves.size(); ++i) {
    const std::string& setting = runs[i]->run.setting;
    // Runs that their setting does not tell apart have panels of their own.
    const bool alone = labels[i].label == suite.looks.Shown(setting);
    const std::string group = alone ? labels[i].group : labels[i].group + " " + labels[i].label;
    for (const BudgetFigures& at : curves[i]->points)
      if (at.share)
        points.push_back({setting, at.budget, *at.share, at.interval.low, at.interval.high, group});
  }
  return BudgetChart(points, suite.looks);
}

// Charts go to the end of the section whose figures they draw.
void AddChart(std::optional<Chart> chart, std::optional<Section>* section) {
  if (chart && *section) (*section)->blocks.emplace_back(std::move(*chart));
}

void AddCharts(std::vector<Chart> charts, std::optional<Section>* section) {
  for (Chart& chart : charts) AddChart(std::move(chart), section);
}

Section SuiteSection(const SuiteParts& suite) {
  const SuiteRows& rows = suite.rows;
  Section section{rows.suite, SafeName(rows.suite), {}};
  const auto add = [&](std::optional<Section> part) {
    if (part) section.sections.push_back(std::move(*part));
  };
  std::optional<Section> accuracy = AccuracySection(rows);
  AddChart(AccuracyChart(rows.runs, suite.looks), &accuracy);
  AddChart(DifferenceChart(suite.comparisons, suite.looks), &accuracy);
  add(std::move(accuracy));
  add(SettingsSection(rows.suite, suite.comparisons));
  add(ModelsSection(rows.suite, suite.comparisons));
  add(GraderSection(rows));
  add(PerplexitySection(rows));
  add(SampleSection(rows));
  std::vector<Section> breakdowns = BreakdownSections(rows);
  for (size_t i = 0; i < breakdowns.size(); ++i) {
    std::optional<Section> part = std::move(breakdowns[i]);
    if (i + 1 == breakdowns.size()) AddCharts(DifficultyCharts(rows.breakdowns, suite.looks), &part);
    add(std::move(part));
  }
  std::optional<Section> lengths = LengthSection(rows);
  AddCharts(LengthCharts(suite.comparisons, suite.looks), &lengths);
  AddChart(LengthAccuracyChart(rows.runs, suite.looks), &lengths);
  add(std::move(lengths));
  add(ThoughtSection(rows));
  std::optional<Section> budgets = BudgetSection(rows, suite.curves);
  AddChart(BudgetChartOf(suite), &budgets);
  add(std::move(budgets));
  std::optional<Section> cost = CostSection(rows);
  AddChart(ThroughputChart(rows.runs, suite.looks), &cost);
  add(std::move(cost));
  return section;
}

void CheckKs(std::span<const RunResults> runs, const std::vector<int>& ks) {
  int most = 0;
  for (const RunResults& results : runs) most = std::max(most, results.samples_per_item);
  for (const int k : ks) {
    if (k < 1) throw UsageError(fmt::format("--pass-k {}", k), "must be 1 or more");
    if (k > most)
      throw UsageError(fmt::format("--pass-k {}", k),
                       fmt::format("no run here has so many samples of an item (the most is {})", most),
                       "ask for more with fullband run --samples");
  }
}

}  // namespace

Document BuildReport(Store& store, std::span<const RunResults> runs, const ReportOptions& options) {
  if (runs.empty()) throw Error(store.path().string(), "holds no runs", "fullband run --store adds some");
  CheckKs(runs, options.pass_k);
  std::vector<MeasuredPasses> measured;
  for (const std::filesystem::path& file : options.contraction)
    measured.push_back(ReadMeasuredPasses(file, runs));
  Document document{"Fullband report", HeadBlocks(store.path(), runs), {}};
  const std::vector<BudgetCurve> curves = ReadBudgetCurves(store, runs);
  const ComparisonSources sources = SourcesOf(store);
  const ChartLooks looks(runs);
  std::vector<Comparison> all;
  for (auto begin = runs.begin(); begin != runs.end();) {
    const auto end =
        std::find_if(begin, runs.end(), [&](const RunResults& r) { return r.run.suite != begin->run.suite; });
    std::vector<Comparison> comparisons = CompareSuite({begin, end});
    AddSources(sources, &comparisons);
    const SuiteRows rows = RowsOfSuite({begin, end}, options.pass_k);
    document.sections.push_back(SuiteSection({rows, comparisons, curves, looks}));
    std::move(comparisons.begin(), comparisons.end(), std::back_inserter(all));
    begin = end;
  }
  // What holds over all suites comes before the suites.
  if (const std::vector<AcrossSuites> across = CompareAcrossSuites(all); !across.empty())
    document.sections.insert(document.sections.begin(), AcrossSuitesSection(across));
  if (std::optional<Section> passes = PassesSection(measured))
    document.sections.push_back(std::move(*passes));
  document.sections.push_back(ProvenanceSection(runs, options.suite_has_name));
  return document;
}

Document BuildReport(Store& store, const ReportOptions& options) {
  return BuildReport(store, ReadResults(store, options.read), options);
}

std::string RenderReport(Store& store, const ReportOptions& options) {
  return RenderMarkdown(BuildReport(store, options));
}

}  // namespace fullband
