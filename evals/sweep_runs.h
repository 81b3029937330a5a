// A sweep, model by model: what each is asked, as runs with their keys.
#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "evals/identity.h"
#include "evals/plan.h"
#include "evals/summary.h"

namespace fullband {

// A model with the plans that it occurs in, which must outlive this.
struct SweepModel {
  std::filesystem::path folder;
  std::vector<std::pair<const Plan*, const PlannedModel*>> parts;
  // Where the store has all that is asked of it (evals/forecast.h): it need not be loaded.
  std::optional<std::vector<RunSummary>> finished = {};
};

// The models of all plans in the order in which they are first named, each once.
std::vector<SweepModel> ModelsOf(std::span<const Plan> plans);

struct SweepRun {
  const Plan* plan = nullptr;
  const Task* task = nullptr;
  Setting setting;
  ModelIdentity model;  // with the plan's markers of thoughts
  std::string key;      // as the store will have it
  int samples = 1;      // of each item
};

struct SweepRuns {
  std::deque<Task> tasks;
  // Plan by plan, suite by suite, setting by setting. Where a run is part of one that is declared elsewhere
  // (the same key, no more items, no more samples), it is not asked twice: the larger one stands in the place
  // of the first.
  std::vector<SweepRun> runs;
};

// `identity` is the model's but for the markers; prompts may have `max_context` positions.
SweepRuns RunsOf(const SweepModel& model, const ModelIdentity& identity, const Tokenizer& tokenizer,
                 int max_context);

}  // namespace fullband
