// Runs a plan: loads each model once, does all its runs, frees it before the next.
#pragma once

#include <vector>

#include "evals/plan.h"
#include "evals/runner.h"

namespace fullband {

struct SweepResult {
  std::vector<RunSummary> summaries;
  bool stopped = false;
  bool faults = false;  // some items could not be asked or graded
};

// `options.samples` and `options.grading` are the plan's.
SweepResult RunSweep(const Plan& plan, RunnerOptions options, Progress& progress);

}  // namespace fullband
