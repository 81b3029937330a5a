// `fullband data`: the public data sets. A face of scripts/fetch_data, which does the work.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "cli/command.h"
#include "common/paths.h"

namespace fullband {
namespace {

struct DataOptions {
  std::string action;
  std::vector<std::string> names, suites;
  std::string data_folder, base_url, timeout, retries;
  bool json = false;
};

// The script needs the standard library alone, so that any Python will do where scripts/setup has not run.
std::string Python() {
  const std::filesystem::path own = PythonInterpreter();
  std::error_code ignored;
  return std::filesystem::exists(own, ignored) ? own.string() : "python3";
}

std::vector<std::string> CommandLine(const DataOptions& options) {
  const std::filesystem::path script = HomeFolder() / "scripts" / "fetch_data";
  if (!std::filesystem::exists(script))
    throw Error(script.string(), "is missing",
                "point $FULLBAND_HOME at the folder that has tasks/ and scripts/");
  // -E, -s: neither PYTHONPATH nor the user's site folder changes what runs; -B: the source folder stays as
  // it is.
  std::vector<std::string> words{Python(), "-E", "-s", "-B", script.string(), options.action};
  words.insert(words.end(), options.names.begin(), options.names.end());
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.push_back(std::string(name) + "=" + value);
  };
  for (const std::string& suite : options.suites) add("--suite", suite);
  add("--data-dir", options.data_folder);
  add("--base-url", options.base_url);
  add("--timeout", options.timeout);
  add("--retries", options.retries);
  if (options.json) words.emplace_back("--json");
  return words;
}

// The process becomes the script: signals, the terminal and the exit status are its own.
[[noreturn]] void Become(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  execvp(arguments[0], arguments.data());
  throw Error(words[0], "cannot be started: " + std::system_category().message(errno), "run scripts/setup");
}

}  // namespace

void AddData(CLI::App& app, Action* action) {
  const auto options = std::make_shared<DataOptions>();
  CLI::App* command = app.add_subcommand("data", "Fetch public data sets, list and verify what is there");
  command->add_option("action", options->action, "fetch, list or verify")
      ->required()
      ->check(CLI::IsMember({"fetch", "list", "verify"}))
      ->type_name("ACTION");
  command
      ->add_option("names", options->names,
                   "Data sets, folders or files of them, or all (list has the names)")
      ->type_name("NAME");
  command->add_option("--suite", options->suites, "What these suites need: names, or paths to TOML files")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  command
      ->add_option("--data-dir", options->data_folder,
                   "Where the data are; default: $FULLBAND_DATA, else the user's cache folder")
      ->type_name("DIR");
  command
      ->add_option("--base-url", options->base_url,
                   "A mirror, in place of https://raw.githubusercontent.com; default: $FULLBAND_DATA_URL")
      ->type_name("URL");
  command->add_option("--timeout", options->timeout, "Longest silence of a server, in seconds; default: 30")
      ->check(CLI::PositiveNumber)
      ->type_name("S");
  command->add_option("--retries", options->retries, "Further tries after a broken transfer; default: 2")
      ->check(CLI::Range(0, 100))
      ->type_name("N");
  command->add_flag("--json", options->json, "list: print JSON");
  command->callback(
      [options, action] { *action = [options]() -> ExitCode { Become(CommandLine(*options)); }; });
}

}  // namespace fullband
