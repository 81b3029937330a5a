// Runs what was planned: loads each model once, does all its runs, frees it before the next.
#pragma once

#include <span>
#include <vector>

#include "evals/runner.h"
#include "evals/sweep_runs.h"

namespace fullband {

struct SweepResult {
  std::vector<RunSummary> summaries;
  bool stopped = false;
  bool faults = false;  // some items could not be asked or graded
};

// `options.samples` and `options.grading` are the plans'.
SweepResult RunSweep(std::span<const SweepModel> models, RunnerOptions options, Progress& progress);

}  // namespace fullband
