// `fullband compare`: two runs against each other, over every suite that has both.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/command.h"
#include "evals/store/store.h"
#include "reports/comparisons/compared.h"
#include "reports/document/markdown.h"

namespace fullband {

void AddCompare(CLI::App& app, Action* action) {
  struct Options {
    std::string store;
    CompareRequest request;
    std::string format;
    int shots = -1;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "compare", "Two runs item by item: which is better, whether by chance, how long, at what cost");
  command->add_option("--store", options->store, "The store (made by fullband run)")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("A", options->request.a,
                   "A model and a setting (MODEL/SETTING), one of the two, or how a run's key begins")
      ->required();
  command->add_option("B", options->request.b, "What is compared with it, likewise")->required();
  command
      ->add_option("--suite", options->request.suites,
                   "Only these suites; default: all that have runs of both")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  command->add_option("--format", options->format, "Only runs that were asked in this format")
      ->check(CLI::IsMember({"completion", "chat"}))
      ->type_name("NAME");
  command->add_option("--shots", options->shots, "Only runs that were asked with so many shots")
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, action] {
    *action = [options] {
      CompareRequest& request = options->request;
      if (!options->format.empty()) request.format = options->format;
      if (options->shots >= 0) request.shots = options->shots;
      const Compared compared =
          CompareChosen(*OpenStore(options->store, StoreMode::kReadOnly), request, ReadOptions{});
      if (options->json) {
        fmt::print("{}\n",
                   ComparedAsJson(compared).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
      } else {
        fmt::print("{}", RenderMarkdown(ComparedAsDocument(compared)));
      }
      return ExitCode::kDone;
    };
  });
}

}  // namespace fullband
