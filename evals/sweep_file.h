// A sweep declared in a TOML file (docs/sweeps.md): models x suites x settings x formats x shots, in groups
// that share what stands above them.
#pragma once

#include <filesystem>
#include <vector>

#include "evals/plan.h"
#include "evals/runner.h"

namespace fullband {

struct SweepFile {
  // As declared: group by group, format by format, number of shots by number of shots.
  std::vector<SweepRequest> requests;
  RunnerOptions runner;          // store, engine, order of items
  std::filesystem::path report;  // folder; empty: no report is asked for
};

// Paths in the file are relative to its folder. Throws Error naming file, line and key: a file that cannot be
// read or is not TOML, a key that is unknown (with near names), missing or of the wrong type, a value out of
// range.
SweepFile ReadSweepFile(const std::filesystem::path& file);

}  // namespace fullband
