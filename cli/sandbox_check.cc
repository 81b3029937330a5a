// `fullband sandbox-check`: whether this machine can run model-written code, and what is missing.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "evals/sandbox/support.h"

namespace fullband {
namespace {

struct CheckOptions {
  bool json = false;
  int repeats = 11;
};

nlohmann::json TextOrNull(const std::string& text) {
  return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

nlohmann::json ToJson(const SandboxReport& report) {
  nlohmann::json about{{"works", report.works},
                       {"bubblewrap", TextOrNull(report.bubblewrap.string())},
                       {"bubblewrap_version", TextOrNull(report.bubblewrap_version)},
                       {"python_version", TextOrNull(report.python_version)},
                       {"numpy_version", TextOrNull(report.numpy_version)},
                       {"obstacles", nlohmann::json::array()},
                       {"program_ms", nullptr},
                       {"python_ms", nullptr}};
  for (const Obstacle& obstacle : report.obstacles)
    about["obstacles"].push_back({{"why", obstacle.why}, {"remedy", obstacle.remedy}});
  if (report.program_ms) about["program_ms"] = *report.program_ms;
  if (report.python_ms) about["python_ms"] = *report.python_ms;
  return about;
}

void PrintReadably(const SandboxReport& report) {
  const auto line = [](const char* name, const std::string& value) { fmt::print("{:<12}{}\n", name, value); };
  const auto or_missing = [](const std::string& text) { return text.empty() ? "missing" : text; };
  line("sandbox", report.works ? "works" : "does not work");
  line("bubblewrap", or_missing(report.bubblewrap_version));
  line("python", or_missing(report.python_version));
  line("numpy", report.numpy_version.empty() ? "missing (the suites humaneval_plus and mbpp_plus need it)"
                                             : report.numpy_version);
  if (report.program_ms)
    line("start-up", fmt::format("{:.0f} ms a program, of which Python alone {:.0f} ms (medians)",
                                 *report.program_ms, *report.python_ms));
  for (const Obstacle& obstacle : report.obstacles)
    line("missing", fmt::format("{} ({})", obstacle.why, obstacle.remedy));
}

ExitCode Check(const CheckOptions& options) {
  const SandboxReport report = CheckSandbox({}, options.repeats);
  if (options.json)
    fmt::print("{}\n", ToJson(report).dump(2));
  else
    PrintReadably(report);
  return report.works ? ExitCode::kDone : ExitCode::kFailed;
}

}  // namespace

void AddSandboxCheck(CLI::App& app, Action* action) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command =
      app.add_subcommand("sandbox-check", "Say whether this machine can run model-written code");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->add_option("--repeats", options->repeats, "How often to time the start-up; 0: not at all")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000))
      ->type_name("N");
  command->callback([options, action] { *action = [options] { return Check(*options); }; });
}

}  // namespace fullband
