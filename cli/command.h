// Subcommands: one file each, no logic of their own.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "common/error.h"

namespace fullband {

// Adds a subcommand to `app`. When the command line has been read and names it, `*action` is set to what to
// do; the action returns the exit code and may throw Error.
using Action = std::function<ExitCode()>;

void AddBench(CLI::App& app, Action* action);
void AddRun(CLI::App& app, Action* action);
void AddSweep(CLI::App& app, Action* action);
void AddCompare(CLI::App& app, Action* action);
void AddReport(CLI::App& app, Action* action);
void AddDecode(CLI::App& app, Action* action);
void AddScore(CLI::App& app, Action* action);
void AddContraction(CLI::App& app, Action* action);
void AddTokenize(CLI::App& app, Action* action);
void AddGrade(CLI::App& app, Action* action);
void AddImport(CLI::App& app, Action* action);
void AddRegrade(CLI::App& app, Action* action);
void AddInspect(CLI::App& app, Action* action);
void AddSuites(CLI::App& app, Action* action);
void AddShow(CLI::App& app, Action* action);
void AddData(CLI::App& app, Action* action);
void AddSandboxCheck(CLI::App& app, Action* action);

}  // namespace fullband
