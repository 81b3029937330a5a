// `fullband regrade`: runs graders over a store again, without a model.
#include "evals/regrade.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/grading_options.h"
#include "cli/stop_signals.h"
#include "common/error.h"
#include "evals/budgets.h"

namespace fullband {
namespace {

struct RegradeOptions {
  RegradeRequest request;
  std::string budgets;  // "auto", or numbers with commas between; empty: the samples as they are
  bool quiet = false;
};

std::vector<int64_t> ParseBudgets(const std::string& text) {
  std::vector<int64_t> budgets;
  if (text == "auto") return budgets;
  const std::string remedy = "e.g. --budgets 16,32,64, or auto";
  for (const std::string& part : CLI::detail::split(text, ',')) {
    int64_t budget = 0;
    if (!CLI::detail::lexical_cast(part, budget) || budget < 1)
      throw UsageError("--budgets", fmt::format("'{}' is no number of tokens", part), remedy);
    budgets.push_back(budget);
  }
  return budgets;
}

// What is said alike of both kinds of grading; ends the program where it was stopped.
void Conclude(const RegradeRequest& request, bool stopped, bool faults) {
  const std::string store = request.store.string();
  if (stopped) {
    fmt::print(
        stderr,
        "fullband: stopped: all that was graded is in {} (the same command again goes on from there)\n",
        store);
    EndBySignal();
  }
  if (faults)
    fmt::print(stderr, "fullband: {}: some samples could not be graded (the store says why, item by item)\n",
               store);
}

ExitCode RunBudgets(const RegradeOptions& options, Progress& progress) {
  const BudgetResult result = RegradeBudgets({options.request, ParseBudgets(options.budgets)}, progress);
  for (const std::string& note : result.notes) fmt::print(stderr, "fullband: note: {}\n", note);
  fmt::print("{}", BudgetTable(result.rows));
  Conclude(options.request, result.stopped, result.faults);
  return result.faults ? ExitCode::kIncomplete : ExitCode::kDone;
}

ExitCode Run(RegradeOptions options) {
  CatchStopSignals();
  options.request.stop = &StopAsked();
  Progress progress(stderr, isatty(STDERR_FILENO) == 1, options.quiet);
  if (!options.budgets.empty()) return RunBudgets(options, progress);
  const RegradeResult result = Regrade(options.request, progress);
  for (const std::string& note : result.notes) fmt::print(stderr, "fullband: note: {}\n", note);
  fmt::print("{}", RegradeTable(result.rows));
  if (result.different && !result.stopped)
    fmt::print(stderr,
               "fullband: {}: some verdicts are not what the same version had given (see the notes)\n",
               options.request.store.string());
  Conclude(options.request, result.stopped, result.faults);
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
  command
      ->add_option(
          "--budgets", options->budgets,
          "Grade the samples as they would be, had their traces been cut at so many generated tokens; "
          "auto: powers of two and the run's limit. By the headline grader unless --grader names others; "
          "kept apart from the ordinary verdicts")
      ->type_name("N,...|auto");
  command
      ->add_flag("--missing", request.missing,
                 "Grade only what this version has not graded, and compare nothing with what it has")
      ->excludes("--budgets");
  command->add_flag("--force", request.replace,
                    "Put verdicts in the place of those of the same version that differ");
  AddGradingOptions(*command, &request.grading);
  command->add_flag("--quiet", options->quiet, "Show no progress");
  command->callback([options, action] { *action = [options] { return Run(*options); }; });
}

}  // namespace fullband
