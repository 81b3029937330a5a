// The memory that a run will take, stated before it starts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/memory_plan.h"
#include "evals/order.h"
#include "evals/sweep_runs.h"

namespace fullband {

struct RunMemory {
  int batch = 0;        // sequences in flight at most
  int64_t program = 0;  // bytes of the program with tokenizer, suites and bookkeeping: as this process has
  EngineMemory engine;
  int64_t total() const { return program + engine.total(); }
};

// Of the program as this process is, and an engine that was asked something.
RunMemory MemoryOf(const DryRun& dry, int batch);

// Asks a dry run's engine for the samples `wanted` of a run, every trace as long as it may become. Returns
// the position-forwards that prefill and scoring then take; those of decoding are the traces'. What cannot be
// asked is left out.
int64_t AskDry(const SweepRun& run, std::span<const Wanted> wanted, Engine* engine);

// Of a run of `plan`, which has one model, whose files are mapped as `model`: all its suites under all its
// settings, in their order, every trace as long as it may become. `batch`: for --batch auto. Throws as a run
// would before it asks anything.
RunMemory PlanRunMemory(const Plan& plan, const std::shared_ptr<const Model>& model,
                        const EngineOptions& options, int batch);

// Of as many sequences as are in flight, of `context` positions each, half of them prompt.
RunMemory PlanContextMemory(const std::shared_ptr<const Model>& model, const std::vector<Setting>& settings,
                            int context, const EngineOptions& options, int batch);

}  // namespace fullband
