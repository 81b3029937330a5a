#include "evals/sweep.h"

#include <utility>

namespace fullband {
namespace {

void Add(RunSummary summary, SweepResult* result) {
  result->faults |= summary.faults > 0;
  result->summaries.push_back(std::move(summary));
}

// False where it was stopped.
bool RunModelOf(const SweepModel& model, RunnerOptions options, Progress& progress, SweepResult* result) {
  Engine engine(model.folder, options.engine);
  RunModel described = DescribeModel(engine, model.folder, WeightsSha256(*engine.model()));
  const SweepRuns runs = RunsOf(model, described.identity, *engine.tokenizer(), engine.max_context());
  for (const SweepRun& run : runs.runs) {
    options.samples = run.samples;
    options.grading = run.plan->grading;
    described.identity = run.model;
    RunResult done =
        Runner(engine, described, options, progress).Run(*run.task, run.setting, run.plan->sampling);
    Add(std::move(done.summary), result);
    if (done.stopped) return false;
  }
  return true;
}

}  // namespace

SweepResult RunSweep(std::span<const SweepModel> models, RunnerOptions options, Progress& progress) {
  // What is wrong with the store is said before minutes go into loading weights.
  OpenStore(options.store, StoreMode::kReadWrite);
  SweepResult result;
  for (const SweepModel& model : models) {
    if (model.finished) {
      for (const RunSummary& summary : *model.finished) Add(summary, &result);
    } else if (!RunModelOf(model, options, progress, &result)) {
      result.stopped = true;
      break;
    }
  }
  return result;
}

}  // namespace fullband
