// Grades a store's samples as they would be, had every trace been cut at a budget of generated tokens
// (evals/cuts.h): accuracy against token budget, of runs that were made once.
//
// - Verdicts are kept apart from those on the samples as they are (BudgetGradeRecord), one for every sample
// and budget.
// - A grader is asked once for each text: where a cut leaves the text as it was, or as a smaller budget's,
// there is a
//   verdict already. Those that the store has of this version are not given again, but for `replace`, and for
//   what was no verdict (a fault of the grader, a time-out).
// - All of a sample's verdicts are committed together as soon as they are there: a process that is killed
// loses the
//   samples in hand, and the same request again goes on.
// - Where the store does not tell a cut's last characters (Cut::other_texts), each text that it may be is
// graded. Where
//   the verdicts differ, the likeliest text's is kept, marked as not certain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evals/progress.h"
#include "evals/regrade.h"
#include "evals/store/store.h"

namespace fullband {

struct BudgetRequest {
  // Without graders: each run's headline. `missing` has no meaning here.
  RegradeRequest regrade;
  std::vector<int64_t>
      budgets;  // empty: UsualBudgets of each run's limit, and the chosen runs' limits below it
};

// One run, grader and budget.
struct BudgetRow {
  RunRecord run;
  std::string model;
  std::string grader;
  int version = 0;
  int64_t budget = 0;
  int64_t graded = 0;                            // by asking the grader
  int64_t unchanged = 0;                         // by a verdict on the same text
  int64_t kept = 0;                              // were there already
  int64_t correct = 0, counted = 0, faults = 0;  // of all samples
  int64_t truncated = 0;                         // of `counted`
  int64_t uncertain = 0;
};

struct BudgetResult {
  std::vector<BudgetRow> rows;     // by run, grader, budget
  std::vector<std::string> notes;  // one line each: what a user should know of
  bool stopped = false;
  bool faults = false;  // some samples could not be graded
};

// Throws Error as Regrade does; a usage Error where nothing of the suite can be cut: it asks by choices, its
// runs were imported without tokens, or their limits lie below all budgets.
BudgetResult RegradeBudgets(const BudgetRequest& request, Progress& progress);

// A table with a header line, columns aligned.
std::string BudgetTable(const std::vector<BudgetRow>& rows);

}  // namespace fullband
