// How `run` and `sweep` end: with the table of what was run.
#pragma once

#include <filesystem>

#include "common/error.h"
#include "evals/sweep.h"

namespace fullband {

// Prints the runs and says what became of them: stopped (then ends the process by the signal), or with items
// that could not be asked or graded.
ExitCode EndSweep(const SweepResult& result, const std::filesystem::path& store);

}  // namespace fullband
