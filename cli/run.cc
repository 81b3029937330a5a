// `fullband run`: suites under settings on models, into a store.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/grading_options.h"
#include "cli/stop_signals.h"
#include "cli/sweep_end.h"
#include "evals/sweep.h"

namespace fullband {
namespace {

struct RunOptions {
  SweepRequest sweep;
  std::string format = "completion";
  RunnerOptions runner;
  bool quiet = false;
};

ExitCode Run(RunOptions options) {
  options.sweep.task.format = ParseFormat(options.format);
  CatchStopSignals();
  const std::vector<Plan> plans = {MakePlan(options.sweep)};
  options.runner.stop = &StopAsked();
  Progress progress(stderr, isatty(STDERR_FILENO) == 1, options.quiet);
  return EndSweep(RunSweep(ModelsOf(plans), options.runner, progress), options.runner.store);
}

void AddListOption(CLI::App& command, const std::string& name, std::vector<std::string>* values,
                   const char* help) {
  command.add_option(name, *values, help)
      ->required()
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
}

void AddTaskOptions(CLI::App& command, RunOptions* options) {
  TaskOptions& task = options->sweep.task;
  AddItemOptions(command, &task);
  command.add_option("--fewshot-seed", task.fewshot_seed, "seed of the draw of the examples")
      ->check(WholeNumber(0))
      ->capture_default_str()
      ->type_name("S");
  command.add_option("--format", options->format, "completion, or chat with the model's own template")
      ->capture_default_str()
      ->type_name("NAME");
  command.add_option("--system", task.system, "system prompt (chat format)")->type_name("TEXT");
  AddStopOption(command, &task.extra_stop_strings);
}

}  // namespace

void AddRun(CLI::App& app, Action* action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run suites under several settings on the same weights");
  command->add_option("--model", options->sweep.models, "checkpoint folder; may be given several times")
      ->required()
      ->allow_extra_args(false)
      ->type_name("DIR");
  AddListOption(*command, "--suite", &options->sweep.suites,
                "what to ask: names of suites and groups, or paths to TOML files");
  AddListOption(*command, "--setting", &options->sweep.settings,
                "how to decode, e.g. standard,latent,latent@2");
  AddTaskOptions(*command, options.get());
  command
      ->add_option("--samples", options->sweep.samples,
                   "completions of each item; more than 1 needs --temperature")
      ->check(WholeNumber(1))
      ->capture_default_str()
      ->type_name("N");
  AddSamplingOptions(*command, &options->sweep.sampling);
  command
      ->add_option("--think", options->sweep.think,
                   "what the model's thoughts stand between, e.g. <think>,</think>; default: the model's own")
      ->type_name("OPEN,CLOSE");
  AddEngineOptions(*command, &options->runner.engine);
  command
      ->add_option("--shuffle", options->runner.shuffle,
                   "ask in an order drawn from this seed; never changes a result")
      ->check(WholeNumber(0))
      ->type_name("SEED");
  command
      ->add_option("--store", options->runner.store,
                   "the SQLite file that keeps everything; made where there is none")
      ->required()
      ->type_name("FILE");
  AddUnprotectedOption(*command, &options->sweep.grading);
  command->add_flag("--quiet", options->quiet, "show no progress");
  command->callback([options, action] { *action = [options] { return Run(*options); }; });
}

}  // namespace fullband
