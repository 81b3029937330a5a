// A suite's items through the engine, without a store and without grading: what a run costs.
#pragma once

#include <atomic>

#include "bench/figures.h"
#include "bench/measure.h"
#include "engine/engine.h"
#include "tasks/task.h"

namespace fullband {

// Asks all questions of `task` under `setting`. The engine is made anew on `backend`, so that its prefix tree
// is empty. Throws BenchStopped; throws Error where an
// answer is a fault or nothing can be asked.
SuiteFigure MeasureSuite(Backend* backend, const std::shared_ptr<const Tokenizer>& tokenizer,
                         const EngineOptions& options, const Task& task, const Setting& setting,
                         const BenchClock& now, const std::atomic<bool>* stop);

}  // namespace fullband
