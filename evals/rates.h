// How many position-forwards a model runs in a second on this machine: as earlier runs of the store say, or
// as measured now.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evals/store/store.h"
#include "evals/sweep_runs.h"

namespace fullband {

struct Rate {
  double prefill = 0, decode = 0;  // position-forwards a second; scoring counts as prefill
  std::string from;                // "earlier runs", "measured now on 32 items"
};

// What the sessions of a store's runs on this machine took. Runs that other machines worked on are left out.
class EarlierRates {
 public:
  EarlierRates() = default;
  explicit EarlierRates(Store& store);

  // The same run's; else that of the same weights, suite and setting; else of weights and suite; else of what
  // was asked of the same weights in the same way (generate or choose). Prefill and decode are not told
  // apart.
  std::optional<Rate> For(const SweepRun& run) const;

 private:
  struct Earlier {
    std::string key, weights, suite, setting, ask;
    double positions = 0, seconds = 0;
  };
  std::vector<Earlier> earlier_;
};

// Asks a loaded engine some of the run's first items, for about a second, without a store. Nothing where none
// can be asked.
std::optional<Rate> MeasureRate(const SweepRun& run, Engine* engine);

}  // namespace fullband
