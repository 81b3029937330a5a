// The charts of a report, as Vega-Lite specs: figures are in the data, distributions binned. Shares are drawn
// in per cent, lengths in tokens. Every function gives nothing where there is nothing to draw. Charts of one
// section have names of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/breakdown.h"
#include "reports/charts/labels.h"
#include "reports/comparison.h"
#include "reports/document/document.h"
#include "reports/passes/measured.h"
#include "reports/results.h"

namespace fullband {

// The runs are all of one suite; the looks are those of the whole report.

// "accuracy": by the headline grader, with its 95 % interval, a row a run, runs of one model together.
std::optional<Chart> AccuracyChart(std::span<const RunResults> runs, const ChartLooks& looks);

// "throughput": generated tokens by second of wall time.
std::optional<Chart> ThroughputChart(std::span<const RunResults> runs, const ChartLooks& looks);

// "accuracy_by_length": accuracy, with its interval, against mean trace length. Hollow where more than a
// tenth of the traces were truncated: their length is then too small.
std::optional<Chart> LengthAccuracyChart(std::span<const RunResults> runs, const ChartLooks& looks);

// "accuracy_by_FIELD": against a field of numbers (the last one of its breakdown), with Wilson intervals; a
// panel for each value of the fields before it; one chart for each model, or way of asking.
std::vector<Chart> DifficultyCharts(std::span<const Breakdown> breakdowns, const ChartLooks& looks);

// Of these comparisons those whose A is "standard"; where a model has no such run, those with its first one.
std::vector<const Comparison*> AgainstBaseline(std::span<const Comparison> pairs);

// "accuracy_differences": the paired difference with its interval, a row for each pair of AgainstBaseline.
std::optional<Chart> DifferenceChart(std::span<const Comparison> pairs, const ChartLooks& looks);

// "lengths_B", one for each pair of AgainstBaseline. Left: the share of traces that have finished within n
// tokens; what was truncated never has, so that the curve ends below 100 per cent. Right: how many items have
// which difference in length, B less A (means over an item's samples), those apart in which either run was
// truncated. Same items as Comparison::lengths, faults left out.
std::vector<Chart> LengthCharts(std::span<const Comparison> pairs, const ChartLooks& looks);

// Accuracy if every trace had been cut after `budget` tokens.
struct BudgetPoint {
  std::string series;  // a setting; other names get looks of their own
  int64_t budget = 0;  // tokens, 1 or more
  double share = 0, low = 0, high = 0;
  std::string group = {};  // panel: the model, where there are several
};

// "accuracy_by_budget". Points of one series stand together, budgets ascending.
std::optional<Chart> BudgetChart(std::span<const BudgetPoint> points, const ChartLooks& looks);

// "passes": open residual and distance, and loss, of each pass, a line for each of `measured`. All are of one
// suite or text.
std::optional<Chart> PassChart(std::span<const MeasuredPasses> measured);

}  // namespace fullband
