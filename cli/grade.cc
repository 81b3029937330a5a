// `fullband grade`: grades texts without a store or a model.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/grading_options.h"
#include "evals/grade_file.h"
#include "evals/sample_thoughts.h"

namespace fullband {
namespace {

struct GradeOptions {
  GradeRequest request;
  std::string format = "completion";
  std::string think;
  bool json = false;
};

ExitCode Run(GradeOptions options) {
  options.request.task.format = ParseFormat(options.format);
  if (!options.think.empty()) options.request.grading.thoughts = ParseMarkers(options.think, "--think");
  const GradedFile graded = GradeFile(options.request);
  const auto fault = std::find_if(graded.items.begin(), graded.items.end(),
                                  [](const GradedItem& one) { return one.grade.outcome == "fault"; });
  if (fault != graded.items.end())
    fmt::print(stderr, "fullband: item {}: could not be graded: {} {}\n", fault->item, fault->grade.detail,
               fault->grade.extracted);
  if (options.json) {
    fmt::print("{}\n", AsJson(graded).dump(2));
  } else {
    fmt::print("{:<12}{}\n{:<12}{}\n", "n", graded.items.size(), "correct", graded.outcomes.at("correct"));
    for (const auto& [outcome, count] : graded.outcomes) {
      if (outcome != "correct" && count > 0) fmt::print("{:<12}{}\n", outcome, count);
    }
    const auto suspicious =
        std::count_if(graded.items.begin(), graded.items.end(),
                      [](const GradedItem& one) { return one.grade.detail == "suspicious"; });
    if (suspicious > 0)
      fmt::print("{:<12}{} of the correct ones (see SECURITY.md)\n", "suspicious", suspicious);
  }
  return graded.outcomes.at("fault") > 0 ? ExitCode::kIncomplete : ExitCode::kDone;
}

}  // namespace

void AddGrade(CLI::App& app, Action* action) {
  auto options = std::make_shared<GradeOptions>();
  CLI::App* command = app.add_subcommand("grade", "Grade texts of a file, without a store or a model");
  GradeRequest& request = options->request;
  command
      ->add_option("--pairs", request.pairs, "Lines {\"completion\": text, \"gold\": text}; needs --grader")
      ->type_name("FILE");
  command
      ->add_option("--completions", request.completions,
                   "Lines {\"item\": id, \"completion\": text}; needs --suite")
      ->type_name("FILE");
  command->add_option("--suite", request.suite, "Suite whose items were answered")->type_name("SUITE");
  command->add_option("--grader", request.grader, "Grader; with --suite, its headline grader by default")
      ->type_name("GRADER");
  command
      ->add_option("--stop", request.stop_strings,
                   "Cut completions here first (with --suite, beside its own)")
      ->type_name("TEXT");
  command->add_option("--format", options->format, "Prompt format whose stop strings cut: completion or chat")
      ->type_name("FORMAT");
  command
      ->add_option("--think", options->think,
                   "What thoughts stand between, which are no answers; default: <think>,</think>")
      ->type_name("OPEN,CLOSE");
  command->add_option("--data-dir", request.task.data_folder, "Folder that holds the data files")
      ->type_name("DIR");
  AddGradingOptions(*command, &request.grading);
  command->add_flag("--json", options->json, "Print JSON, item by item");
  command->callback([options, action] { *action = [options] { return Run(*options); }; });
}

}  // namespace fullband
