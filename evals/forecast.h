// What a sweep will take, said before it starts: what is still to be asked, how many positions, how long, how
// much memory and disk. Loads a model only to measure how fast it is, where the store does not tell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evals/run_memory.h"
#include "evals/runner.h"
#include "evals/sweep_runs.h"

namespace fullband {

struct RunForecast {
  std::string suite, setting, key, format;
  int shots = 0;
  int64_t samples = 0;    // asked for; what another run of the sweep asks, too, counts there
  int64_t done = 0;       // of these, in the store
  int64_t positions = 0;  // position-forwards still to be run
  // Traces of a suite of which nothing is known are taken for as long as they may become.
  bool at_most = false;
  double seconds = 0;
  std::string rate;   // where the seconds come from (evals/rates.h); empty where nothing is to do
  int64_t bytes = 0;  // that the store grows by
};

struct ModelForecast {
  std::string name;
  std::vector<RunForecast> runs;
  std::vector<RunMemory> memory;  // with the smallest and the largest batch; none where nothing is to do
};

struct Forecast {
  std::vector<ModelForecast> models;
  int64_t to_do() const;  // samples
};

// Sets `finished` of the models of which the store has everything, graded. The store need not exist. Throws
// Error as a run would for what is wrong with a checkpoint or the store.
Forecast MakeForecast(const RunnerOptions& options, std::vector<SweepModel>* models);

// A table of the runs, and what they add up to; `store` and its disk are named.
std::string ForecastText(const Forecast& forecast, const std::filesystem::path& store);

}  // namespace fullband
