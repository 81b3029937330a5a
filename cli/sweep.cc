// `fullband sweep`: what a file declares, planned, run and reported.
#include "evals/sweep.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "cli/command.h"
#include "cli/stop_signals.h"
#include "cli/sweep_end.h"
#include "cli/sweep_report.h"
#include "evals/forecast.h"
#include "evals/sweep_file.h"

namespace fullband {
namespace {

struct SweepOptions {
  std::filesystem::path file;
  bool dry_run = false;
  bool quiet = false;
};

void MakeFolderOf(const std::filesystem::path& store) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::absolute(store).parent_path(), error);
  if (error)
    throw Error(store.string(), "its folder cannot be made (" + error.message() + ")", "choose another");
}

ExitCode Sweep(const SweepOptions& options) {
  SweepFile file = ReadSweepFile(options.file);
  std::vector<Plan> plans;
  for (const SweepRequest& request : file.requests) plans.push_back(MakePlan(request));
  std::vector<SweepModel> models = ModelsOf(plans);
  const Forecast forecast = MakeForecast(file.runner, &models);
  fmt::print("{}", ForecastText(forecast, file.runner.store));
  if (options.dry_run) return ExitCode::kDone;
  fmt::print("\n");
  std::fflush(stdout);
  MakeFolderOf(file.runner.store);
  CatchStopSignals();  // before, there is nothing to keep
  file.runner.stop = &StopAsked();
  Progress progress(stderr, isatty(STDERR_FILENO) == 1, options.quiet);
  const ExitCode code = EndSweep(RunSweep(models, file.runner, progress), file.runner.store);
  if (!file.report.empty()) WriteSweepReport(file.runner.store, file.report);
  return code;
}

}  // namespace

void AddSweep(CLI::App& app, Action* action) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* command =
      app.add_subcommand("sweep", "Run all that a file declares: models, suites, settings, formats, shots");
  command->add_option("file", options->file, "TOML file (docs/sweeps.md names its keys)")
      ->required()
      ->type_name("FILE");
  command->add_flag("--dry-run", options->dry_run,
                    "say what there is to do and what it takes, and stop there");
  command->add_flag("--quiet", options->quiet, "show no progress");
  command->callback([options, action] { *action = [options] { return Sweep(*options); }; });
}

}  // namespace fullband
