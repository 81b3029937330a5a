// `fullband regrade`: runs graders over a store again, without a model.
#include "evals/regrade.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/grading_options.h"
#include "cli/stop_signals.h"

namespace fullband {
namespace {

struct RegradeOptions {
  RegradeRequest request;
  bool quiet = false;
};

ExitCode Run(RegradeOptions options) {
  CatchStopSignals();
  options.request.stop = &StopAsked();
  Progress progress(stderr, isatty(STDERR_FILENO) == 1, options.quiet);
  const RegradeResult result = Regrade(options.request, progress);
  for (const std::string& note : result.notes) fmt::print(stderr, "fullband: note: {}\n", note);
  fmt::print("{}", RegradeTable(result.rows));
  const std::string store = options.request.store.string();
  if (result.stopped) {
    fmt::print(
        stderr,
        "fullband: stopped: all that was graded is in {} (the same command again goes on from there)\n",
        store);
    EndBySignal();
  }
  if (result.different)
    fmt::print(stderr,
               "fullband: {}: some verdicts are not what the same version had given (see the notes)\n",
               store);
  if (result.faults)
    fmt::print(stderr, "fullband: {}: some samples could not be graded (the store says why, item by item)\n",
               store);
  return result.different || result.faults ? ExitCode::kIncomplete : ExitCode::kDone;
}

}  // namespace

void AddRegrade(CLI::App& app, Action* action) {
  auto options = std::make_shared<RegradeOptions>();
  CLI::App* command = app.add_subcommand("regrade", "Grade the samples of a store again, without a model");
  RegradeRequest& request = options->request;
  command->add_option("--store", request.store, "The store (made by fullband run)")
      ->required()
      ->type_name("FILE");
  command->add_option("--suite", request.suite, "Whose runs to grade")->required()->type_name("SUITE");
  command
      ->add_option("--grader", request.graders,
                   "Only these graders; also ones that the suite does not name; default: the suite's")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("GRADER,...");
  command->add_option("--run", request.run, "Only this run: how its key begins")->type_name("KEY");
  command->add_flag("--missing", request.missing,
                    "Grade only what this version has not graded, and compare nothing with what it has");
  command->add_flag("--force", request.replace,
                    "Put verdicts in the place of those of the same version that differ");
  AddGradingOptions(*command, &request.grading);
  command->add_flag("--quiet", options->quiet, "Show no progress");
  command->callback([options, action] { *action = [options] { return Run(*options); }; });
}

}  // namespace fullband
