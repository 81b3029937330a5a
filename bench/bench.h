// The whole of a measurement, in its order: bounds of the machine, prefill, decode, overheads, sharing,
// suites.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/figures.h"
#include "bench/measure.h"
#include "bench/plan.h"
#include "engine/engine.h"
#include "tasks/task.h"

namespace fullband {

// What measuring needs around it.
struct BenchSurroundings {
  BenchClock now = SteadyBenchClock();
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const std::string&)> say = [](const std::string&) {};  // what is measured next
  CpuProfile* profile = nullptr;  // the backend's; null: nothing is said of where steps' time goes
  int64_t page_memory = 0;        // bytes that pages may take; what needs more is left out. 0: no limit
};

// Opens the folder as any command does, once and then as often as the plan repeats, one engine at a time;
// says nothing where it was stopped. Throws Error.
void MeasureLoading(const std::filesystem::path& folder, const EngineOptions& engine, const BenchPlan& plan,
                    const BenchSurroundings& around, BenchReport* report);

// Adds to `report` what the plan asks of steps: prefill, decode, the overhead of latent feedback over
// standard decoding and of P passes over P times one, and what a shared beginning saves. Throws BenchStopped.
void MeasureSteps(StepRunner* runner, const BenchPlan& plan, const BenchSurroundings& around,
                  BenchReport* report);

// What `suites` cost, each with each of `limits` (the first items; empty: all), under the plan's settings.
struct SuiteWork {
  std::vector<TaskData> suites;
  std::vector<size_t> limits;
  std::shared_ptr<const Tokenizer> tokenizer;
  EngineOptions engine;
};
void MeasureSuites(Backend* backend, const BenchPlan& plan, const SuiteWork& work,
                   const BenchSurroundings& around, BenchReport* report);

}  // namespace fullband
