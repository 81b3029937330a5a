// `fullband import`: samples that another engine made, into a store.
#include "evals/import/import.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/grading_options.h"
#include "cli/stop_signals.h"

namespace fullband {
namespace {

struct ImportOptions {
  ImportRequest request;
  std::string format = "completion";
  bool no_grade = false;
  bool quiet = false;
};

ExitCode Run(ImportOptions options) {
  options.request.task.format = ParseFormat(options.format);
  options.request.grade = !options.no_grade;
  CatchStopSignals();
  options.request.stop = &StopAsked();
  Progress progress(stderr, isatty(STDERR_FILENO) == 1, options.quiet);
  const ImportResult result = Import(options.request, progress);
  for (const std::string& note : result.notes) fmt::print(stderr, "fullband: note: {}\n", note);
  const RunRecord& run = result.run;
  fmt::print("run {}: {}, {} under {}: {} items, {} samples{}{}\n", run.key.substr(0, 8), run.suite,
             options.request.model_name, run.setting, result.items, result.samples,
             result.faults > 0 ? fmt::format(" ({} faults)", result.faults) : "",
             result.there_already ? "; this file is there already, nothing was added" : "");
  if (result.counted > 0) fmt::print("{}: {}/{} correct\n", run.headline, result.correct, result.counted);
  const std::string store = options.request.store.string();
  if (result.stopped) {
    fmt::print(stderr, "fullband: stopped: all samples are in {} (the same command again grades the rest)\n",
               store);
    EndBySignal();
  }
  if (result.ungraded)
    fmt::print(stderr, "fullband: {}: some samples could not be graded (the store says why, item by item)\n",
               store);
  return result.ungraded || result.faults > 0 ? ExitCode::kIncomplete : ExitCode::kDone;
}

void AddFileOptions(CLI::App& command, ImportRequest& request) {
  command
      .add_option(
          "file", request.file,
          "JSON lines {\"item\": id, \"completion\": text, ...} (docs/import.md names the fields), or a "
          "samples file of lm-evaluation-harness")
      ->required()
      ->type_name("FILE");
  command.add_option("--store", request.store, "The store; made where there is none")
      ->required()
      ->type_name("FILE");
  command.add_option("--suite", request.suite, "Whose items were answered")->required()->type_name("SUITE");
  command.add_option("--model-name", request.model_name, "What reports call the model")
      ->required()
      ->type_name("NAME");
  command
      .add_option("--setting", request.setting,
                  "How it decoded: a setting of ours that means the same, e.g. standard or latent@2; "
                  "other:NAME for a mode that is none of ours")
      ->required()
      ->type_name("NAME");
}

}  // namespace

void AddImport(CLI::App& app, Action* action) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = app.add_subcommand(
      "import", "Bring samples of another engine into a store: graded and compared as ours");
  ImportRequest& request = options->request;
  AddFileOptions(*command, request);
  command->add_flag("--partial", request.partial, "Import what is there where items are missing");
  command->add_option("--shots", request.task.shots, "Solved examples in its prompts; default: the suite's")
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N");
  command->add_option("--format", options->format, "How it was asked: completion or chat")
      ->capture_default_str()
      ->type_name("NAME");
  command->add_option("--temperature", request.temperature, "It sampled at; default: 0, greedy")
      ->type_name("T");
  command->add_option("--wall-seconds", request.wall_seconds, "What the whole run took")->type_name("S");
  command
      ->add_option("--tokenizer", request.tokenizer,
                   "The model's folder (tokenizer.json): texts and trace lengths come of the \"tokens\"")
      ->type_name("DIR");
  command
      ->add_option("--stop", request.task.extra_stop_strings,
                   "Completions count up to here (beside the suite's own stop strings)")
      ->allow_extra_args(false)
      ->type_name("TEXT");
  command
      ->add_option("--think", request.think,
                   "What thoughts stand between, which are no answers; default: <think>,</think>")
      ->type_name("OPEN,CLOSE");
  command->add_option("--data-dir", request.task.data_folder, "Folder that holds the data files")
      ->type_name("DIR");
  command->add_flag("--no-grade", options->no_grade, "Leave grading to fullband regrade");
  AddGradingOptions(*command, &request.grading);
  command->add_flag("--quiet", options->quiet, "Show no progress");
  command->callback([options, action] { *action = [options] { return Run(*options); }; });
}

}  // namespace fullband
