// `fullband suites`: what there is to ask, and how a question looks to a model.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/engine_options.h"
#include "engine/tokenizer/tokenizer.h"
#include "tasks/chat_template.h"
#include "tasks/data_file.h"
#include "tasks/groups.h"
#include "tasks/suite.h"
#include "tasks/task.h"

namespace fullband {
namespace {

struct SuitesOptions {
  std::string name;
  bool show = false;
  bool json = false;
  std::string model;
  std::string format = "completion";
  TaskOptions task;
};

// What one suite is, as JSON; `data` is "at hand" or why not.
nlohmann::json Describe(const Suite& suite, const TaskOptions& options) {
  nlohmann::json about{{"name", suite.name},
                       {"version", suite.version},
                       {"title", suite.title},
                       {"file", suite.file.string()},
                       {"ask", AskName(suite.ask)},
                       {"reader", suite.reader},
                       {"graders", suite.graders},
                       {"report_by", suite.report_by},
                       {"default_shots", suite.shots},
                       {"shots_from", suite.shot_data.path.empty() ? suite.data.path : suite.shot_data.path},
                       {"data_file", suite.data.path},
                       {"origin", suite.data.origin},
                       {"items", nullptr}};
  if (suite.ask == Ask::kGenerate) {
    about["max_new_tokens"] = suite.max_new_tokens;
    about["stop_strings"] = suite.wording(options.format).stop_strings;
  }
  try {
    const TaskData data = LoadTaskData(suite, options);
    about["items"] = data.items.size();
    about["shots"] = options.shots.value_or(suite.shots);
    about["shot_ids"] = nlohmann::json::array();
    for (const Item& shot : data.shots) about["shot_ids"].push_back(shot.id);
    about["data"] = "at hand";
  } catch (const Error& error) {
    if (error.code() == ExitCode::kUsage) throw;
    about["data"] = error.what();
  }
  return about;
}

// A cell of the list: what is known of the data in a word.
std::string DataWord(const nlohmann::json& about, const Suite& suite, const TaskOptions& options) {
  if (about["data"] == "at hand") return "at hand";
  const std::vector<DataFile> files = DataFiles(suite);
  const bool all_there = std::all_of(files.begin(), files.end(), [&](const DataFile& file) {
    return FindData(suite, file, options.data_folder).has_value();
  });
  return all_there ? "unusable" : "missing";
}

ExitCode List(const std::vector<std::string>& names, const SuitesOptions& options) {
  nlohmann::json list = nlohmann::json::array();
  size_t width = 0;
  for (const std::string& name : names) width = std::max(width, name.size());
  std::string table = fmt::format("{:<{}} {:>6}  {:<9} {:>5}  {:<9} {}\n", "suite", width, "items",
                                  "asked as", "shots", "data", "title");
  for (const std::string& name : names) {
    const Suite suite = LoadSuite(name);
    const nlohmann::json about = Describe(suite, options.task);
    const std::string items = about["items"].is_null() ? "-" : about["items"].dump();
    table += fmt::format("{:<{}} {:>6}  {:<9} {:>5}  {:<9} {}\n", suite.name, width, items,
                         AskName(suite.ask), suite.shots, DataWord(about, suite, options.task), suite.title);
    list.push_back(about);
  }
  if (options.json) {
    fmt::print("{}\n", list.dump(2));
    return ExitCode::kDone;
  }
  fmt::print("{}", table);
  if (!options.name.empty()) return ExitCode::kDone;
  fmt::print("\n{:<{}} suites\n", "group", width);
  for (const SuiteGroup& group : SuiteGroups())
    fmt::print("{:<{}} {}\n", group.name, width,
               group.suites == names ? "all of the above" : fmt::format("{}", fmt::join(group.suites, ", ")));
  return ExitCode::kDone;
}

std::string Join(const nlohmann::json& texts) {
  return fmt::format("{}", fmt::join(texts.get<std::vector<std::string>>(), ", "));
}

void PrintDetails(const nlohmann::json& about) {
  const auto line = [](const std::string& name, const std::string& value) {
    fmt::print("{:<15}{}\n", name, value);
  };
  line("suite",
       fmt::format("{} (version {})", about["name"].get<std::string>(), about["version"].get<int>()));
  line("title", about["title"]);
  line("file", about["file"]);
  line("asked as", about["ask"]);
  line("graders", Join(about["graders"]));
  line("default shots", about["default_shots"].dump());
  line("shots from", about["shots_from"]);
  if (about.contains("max_new_tokens")) {
    line("new tokens", about["max_new_tokens"].dump());
    line("stop strings", about["stop_strings"].dump());
  }
  line("data file", about["data_file"]);
  line("origin", about["origin"]);
  line("data", about["data"]);
  if (about["items"].is_null()) return;
  line("items", about["items"].dump());
  line("shot ids", Join(about["shot_ids"]));
}

// The prompt of item 0 as a model reads it.
nlohmann::json ShowPrompt(const Suite& suite, const SuitesOptions& options) {
  TaskOptions task_options = options.task;
  task_options.limit = 1;
  const TaskData data = LoadTaskData(suite, task_options);
  if (options.model.empty()) {
    if (task_options.format == Format::kChat)
      throw UsageError("--format chat", "a chat prompt is written by a model's template", "add --model DIR");
    nlohmann::json shown{{"item", data.items[0].id},
                         {"prompt", CompletionPrompt(data, data.items[0], data.shots.size())}};
    if (suite.ask == Ask::kChoose) shown["continuations"] = Continuations(data, data.items[0]);
    if (suite.choices == Choices::kContexts) shown["contexts"] = ChoiceTexts(data.items[0]);
    return shown;
  }
  const auto tokenizer = Tokenizer::Load(options.model);
  std::unique_ptr<ChatTemplate> chat;
  if (task_options.format == Format::kChat) chat = std::make_unique<ChatTemplate>(options.model);
  const Question question = BuildTask(data, *tokenizer, chat.get()).questions.at(0);
  nlohmann::json shown{{"item", question.item}, {"prompt", question.prompt_text}};
  if (suite.ask == Ask::kGenerate) shown["prompt_tokens"] = question.prompt.size();
  for (const Choice& choice : question.choices) {
    shown["prompt_tokens"] = choice.context.size();
    shown[suite.choices == Choices::kContexts ? "contexts" : "continuations"].push_back(choice.text);
    shown["continuation_tokens"].push_back(choice.continuation.size());
  }
  return shown;
}

void PrintPrompt(const nlohmann::json& shown) {
  fmt::print("{}\n", shown["prompt"].get<std::string>());
  for (const char* what : {"contexts", "continuations"}) {
    if (!shown.contains(what)) continue;
    fmt::print("--- {}\n", what);
    for (const nlohmann::json& text : shown[what]) fmt::print("{}\n", text.dump());
  }
  if (shown.contains("prompt_tokens")) {
    fmt::print("--- prompt tokens: {}", shown["prompt_tokens"].get<size_t>());
    if (shown.contains("continuation_tokens"))
      fmt::print(", continuation tokens: {}", shown["continuation_tokens"].dump());
    fmt::print("\n");
  }
}

ExitCode Run(SuitesOptions options) {
  options.task.format = ParseFormat(options.format);
  if (options.name.empty()) {
    if (options.show) throw UsageError("--show", "needs the name of a suite", "fullband suites NAME --show");
    return List(SuiteNames(), options);
  }
  for (const SuiteGroup& group : SuiteGroups())
    if (group.name == options.name && !options.show) return List(group.suites, options);
  const Suite suite = LoadSuite(options.name);
  if (options.show) {
    const nlohmann::json shown = ShowPrompt(suite, options);
    if (options.json) {
      fmt::print("{}\n", shown.dump(2));
    } else {
      PrintPrompt(shown);
    }
    return ExitCode::kDone;
  }
  const nlohmann::json about = Describe(suite, options.task);
  if (options.json) {
    fmt::print("{}\n", about.dump(2));
  } else {
    PrintDetails(about);
  }
  return ExitCode::kDone;
}

}  // namespace

void AddSuites(CLI::App& app, Action* action) {
  auto options = std::make_shared<SuitesOptions>();
  CLI::App* command = app.add_subcommand("suites", "List the suites, or show one and its prompt");
  command->add_option("name", options->name, "A suite's or a group's name, or the path of a suite file")
      ->type_name("NAME");
  command->add_flag("--show", options->show, "Print the prompt of the first item");
  command->add_flag("--json", options->json, "Print JSON");
  command->add_option("--model", options->model, "Checkpoint folder: count tokens, write chat prompts")
      ->type_name("DIR");
  command->add_option("--data-dir", options->task.data_folder, "Folder that holds the data files")
      ->type_name("DIR");
  command->add_option("--shots", options->task.shots, "Number of few-shot examples")
      ->check(WholeNumber(0))
      ->type_name("N");
  command->add_option("--fewshot-seed", options->task.fewshot_seed, "Seed of their draw")
      ->check(WholeNumber(0))
      ->type_name("S");
  command->add_option("--format", options->format, "Prompt format: completion or chat")->type_name("FORMAT");
  command->add_option("--system", options->task.system, "System prompt of the chat format")
      ->type_name("TEXT");
  command->callback([options, action] { *action = [options] { return Run(*options); }; });
}

}  // namespace fullband
