// Options of the subcommands that grade.
#pragma once

#include <CLI/CLI.hpp>

#include "evals/judge.h"

namespace fullband {

// --unprotected
void AddUnprotectedOption(CLI::App& command, GradingOptions* options);

// --unprotected and --workers, for commands that do nothing but grade.
void AddGradingOptions(CLI::App& command, GradingOptions* options);

}  // namespace fullband
