// Measuring: which work is done, how often, and in which order.
#pragma once

#include <functional>

#include "bench/figures.h"
#include "bench/step_runner.h"
#include "engine/compute/cpu/profile.h"

namespace fullband {

// Seconds since some fixed moment.
using BenchClock = std::function<double()>;
BenchClock SteadyBenchClock();

// `repeats` + 1 times, of which the first warms up and tells the work.
Figure MeasurePrefill(StepRunner* runner, const BenchClock& now, const Setting& setting, int prompt,
                      int chunk, int repeats);
Figure MeasureDecode(StepRunner* runner, const BenchClock& now, DecodeBatch* batch, const Setting& setting,
                     int repeats);

// `pairs` + 1 times, of which the first warms up. ratios[i] = second[i] / first[i] * scale.
Pairs MeasurePairs(const BenchClock& now, int pairs, double scale, const std::function<void()>& first,
                   const std::function<void()>& second);

// Does `work` once to warm up and `repeats` times with `profile` on, which must be the runner's backend's.
StepProfile ProfileSteps(StepRunner* runner, CpuProfile* profile, int repeats,
                         const std::function<void()>& work);

}  // namespace fullband
