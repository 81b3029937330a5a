// One run: claims it, asks the engine what the store does not have yet, commits every sample at once, has it
// graded.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "engine/engine.h"
#include "evals/identity.h"
#include "evals/judge.h"
#include "evals/lease.h"
#include "evals/progress.h"
#include "evals/summary.h"
#include "tasks/task.h"

namespace fullband {

struct RunnerOptions {
  std::filesystem::path store;
  EngineOptions engine;  // as the engine was made with: batch, and what the session's row says
  int samples = 1;       // per item, generate suites
  GradingOptions grading;
  std::optional<uint64_t> shuffle;          // asks in an order drawn from this seed
  const std::atomic<bool>* stop = nullptr;  // ends the run early when it becomes true
  LeaseTimes lease;
  // Called for every (item, sample) handed to the engine: for tests.
  std::function<void(const std::string& item, int sample)> on_ask;
};

struct RunResult {
  RunRecord run;
  RunSummary summary;
  bool stopped = false;  // before all was asked
};

// A model as runs refer to it.
struct RunModel {
  ModelRecord record;
  ModelIdentity identity;
};

class Runner {
 public:
  // `engine` and `progress` outlive the runner.
  Runner(Engine& engine, RunModel model, RunnerOptions options, Progress& progress);

  // Throws Error: another process holds the run, trouble with the store. What went wrong with single items is
  // in the store and counted in the summary.
  RunResult Run(const Task& task, const Setting& setting, const Sampling& sampling);

 private:
  Engine& engine_;
  RunModel model_;
  RunnerOptions options_;
  Progress& progress_;
};

// What people call the model in a folder: its last part.
std::string ModelName(const std::filesystem::path& folder);

// The engine's model as runs refer to it. For an engine without files the weights' SHA-256 is the caller's.
RunModel DescribeModel(const Engine& engine, const std::filesystem::path& folder,
                       const std::string& weights_sha256);

}  // namespace fullband
