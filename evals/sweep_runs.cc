#include "evals/sweep_runs.h"

#include <algorithm>

#include "evals/sample_thoughts.h"

namespace fullband {
namespace {

// A task's items are the first ones of its suite, so that of two tasks of one key the longer has the other's.
bool Covers(const SweepRun& a, const SweepRun& b) {
  return a.key == b.key && a.task->questions.size() >= b.task->questions.size() && a.samples >= b.samples;
}

void Add(SweepRun run, std::vector<SweepRun>* runs) {
  for (const SweepRun& other : *runs)
    if (Covers(other, run)) return;
  const auto covered =
      std::find_if(runs->begin(), runs->end(), [&](const SweepRun& other) { return Covers(run, other); });
  if (covered == runs->end()) {
    runs->push_back(std::move(run));
    return;
  }
  runs->erase(
      std::remove_if(covered + 1, runs->end(), [&](const SweepRun& other) { return Covers(run, other); }),
      runs->end());
  *covered = std::move(run);
}

}  // namespace

std::vector<SweepModel> ModelsOf(std::span<const Plan> plans) {
  std::vector<SweepModel> models;
  for (const Plan& plan : plans) {
    for (const PlannedModel& planned : plan.models) {
      auto model = std::find_if(models.begin(), models.end(), [&](const SweepModel& one) {
        return std::filesystem::equivalent(one.folder, planned.folder);
      });
      if (model == models.end()) model = models.insert(models.end(), {planned.folder, {}, {}});
      model->parts.emplace_back(&plan, &planned);
    }
  }
  return models;
}

SweepRuns RunsOf(const SweepModel& model, const ModelIdentity& identity, const Tokenizer& tokenizer,
                 int max_context) {
  SweepRuns result;
  for (const auto& [plan, planned] : model.parts) {
    ModelIdentity described = identity;
    described.thoughts = MarkersOfModel(planned->thoughts, tokenizer);
    for (TaskData data : plan->suites) {
      data.options.max_context = max_context;
      const Task& task = result.tasks.emplace_back(BuildTask(data, tokenizer, planned->chat.get()));
      const int samples = task.suite.ask == Ask::kGenerate ? plan->samples : 1;
      for (const Setting& setting : plan->settings)
        Add({plan, &task, setting, described, RunKey(Identify(described, task, setting, plan->sampling)),
             samples},
            &result.runs);
    }
  }
  return result;
}

}  // namespace fullband
