#include "evals/sweep.h"

#include <utility>

#include "evals/sample_thoughts.h"

namespace fullband {
namespace {

std::vector<Task> BuildTasks(const Plan& plan, const PlannedModel& model, const Engine& engine) {
  std::vector<Task> tasks;
  for (TaskData data : plan.suites) {
    data.options.max_context = engine.max_context();
    tasks.push_back(BuildTask(data, *engine.tokenizer(), model.chat.get()));
  }
  return tasks;
}

}  // namespace

SweepResult RunSweep(const Plan& plan, RunnerOptions options, Progress& progress) {
  options.samples = plan.samples;
  options.grading = plan.grading;
  // What is wrong with the store is said before minutes go into loading weights.
  OpenStore(options.store, StoreMode::kReadWrite);
  SweepResult result;
  for (const PlannedModel& model : plan.models) {
    Engine engine(model.folder, options.engine);
    const std::vector<Task> tasks = BuildTasks(plan, model, engine);
    RunModel described = DescribeModel(engine, model.folder, WeightsSha256(*engine.model()));
    described.identity.thoughts = MarkersOfModel(model.thoughts, *engine.tokenizer());
    Runner runner(engine, std::move(described), options, progress);
    for (const Task& task : tasks) {
      for (const Setting& setting : plan.settings) {
        RunResult run = runner.Run(task, setting, plan.sampling);
        result.faults |= run.summary.faults > 0;
        result.summaries.push_back(std::move(run.summary));
        if (run.stopped) {
          result.stopped = true;
          return result;
        }
      }
    }
  }
  return result;
}

}  // namespace fullband
