// Runs as a sweep leaves them, made in memory: models in several settings over the same items.
#pragma once

#include <string>
#include <vector>

#include "reports/charts/charts.h"
#include "reports/results.h"

namespace fullband {

struct MadeSweep {
  std::vector<std::string> models = {"toy-1m"};
  std::vector<std::string> settings = {"standard", "latent", "latent@2"};
  int items = 200;
  int64_t limit = 512;  // longer traces are truncated; 0: none is
};

// Items have the groups "kind" and "steps". Figures look like real ones: later settings are a little better
// and longer; the same on every machine.
std::vector<RunResults> MakeSweep(const MadeSweep& sweep);

// Every chart of these runs, as a report has them.
std::vector<Chart> ChartsOf(const std::vector<RunResults>& runs);

}  // namespace fullband
