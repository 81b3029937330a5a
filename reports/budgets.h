// Accuracy against token budget: had every trace been cut at n generated tokens. Reads what `fullband regrade
// --budgets` has graded; grades nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "evals/store/store.h"
#include "reports/document/document.h"
#include "reports/results.h"
#include "reports/sections/suite_rows.h"
#include "reports/statistics/estimate.h"

namespace fullband {

// One item at one budget.
struct BudgetItem {
  std::optional<double> score;  // mean over its samples that count; nothing where none does
  bool complete = false;        // each of its samples has a verdict, and none is a fault
};

// A run at one budget, by its headline grader. What counts is as in Accuracy (reports/figures.h): at the
// run's own limit the figures are the same.
struct BudgetFigures {
  int64_t budget = 0;           // generated tokens
  int64_t items = 0;            // with at least one sample that counts
  double correct = 0;           // sum of the items' scores
  std::optional<double> share;  // correct / items
  Interval interval;            // as Accuracy::interval
  int64_t samples = 0;          // graded at this budget that are no faults of their own
  int64_t truncated = 0;        // of these: a run with this limit would have cut them
  std::optional<double> truncated_share;
  int64_t ungraded = 0;                 // samples of the run without a verdict at this budget
  int64_t uncertain = 0;                // verdicts that hang on what the store does not tell (evals/cuts.h)
  std::vector<BudgetItem> item_scores;  // as RunResults::items
};

struct BudgetCurve {
  const RunResults* results = nullptr;
  std::vector<int> versions;          // of the grader, ascending
  std::vector<BudgetFigures> points;  // by budget, ascending
};

// Of the runs that have any verdicts on cuts, in their order; `runs`, which must live on, as ReadResults read
// them.
std::vector<BudgetCurve> ReadBudgetCurves(Store& store, std::span<const RunResults> runs);

// Two runs at one budget, over the items that are complete in both.
struct BudgetDifference {
  int64_t budget = 0;
  bool single = false;                                    // one sample an item in either run
  int64_t both = 0, only_a = 0, only_b = 0, neither = 0;  // right; only where `single`
  // B's accuracy less A's, 95 %: Newcombe's interval, or, with several samples, Student's t over items.
  Estimate difference;
};

struct BudgetPair {
  const BudgetCurve *a = nullptr, *b = nullptr;
  std::vector<BudgetDifference> points;  // at the budgets that both have
};

// Every two curves of runs that differ in their setting and their limit alone (a cut makes limits equal), in
// the order of `curves`. Runs that differ in more make no pair: no difference could be put down to the
// setting.
std::vector<BudgetPair> PairBudgets(std::span<const BudgetCurve> curves);

// Tables of accuracy, of truncated shares and of paired differences, runs or pairs down and budgets across.
// Curves of other suites are left out; nothing where none is left.
std::optional<Section> BudgetSection(const SuiteRows& suite, std::span<const BudgetCurve> curves);

}  // namespace fullband
