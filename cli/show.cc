// `fullband show`: one item as runs answered it, side by side.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/command.h"
#include "evals/store/store.h"
#include "reports/shown.h"

namespace fullband {
namespace {

// Columns of the terminal; where the output goes elsewhere, of $COLUMNS, else 80.
int TerminalWidth() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int width = columns ? std::atoi(columns) : 0;
  return width > 0 && width < 10000 ? width : 80;
}

}  // namespace

void AddShow(CLI::App& app, Action* action) {
  struct Options {
    std::string store;
    ShowRequest request;
    int width = 0;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("show", "One item as runs answered it: prompt, trace, answer, grades");
  command->add_option("--store", options->store, "The store (made by fullband run)")
      ->required()
      ->type_name("FILE");
  command->add_option("--run", options->request.runs, "A run: how its key begins; may be given several times")
      ->required()
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("KEY");
  command->add_option("--item", options->request.item, "The item's id in its data set")
      ->required()
      ->type_name("ID");
  command
      ->add_option("--setting", options->request.settings,
                   "Also the runs that differ from the first in this setting alone")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  command->add_option("--sample", options->request.sample, "Which sample of the item; default: 0")
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N");
  command->add_option("--width", options->width, "Columns to write in; default: the terminal's")
      ->check(CLI::Range(20, 10'000))
      ->type_name("N");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, action] {
    *action = [options] {
      const Shown shown = ReadShown(*OpenStore(options->store, StoreMode::kReadOnly), options->request);
      if (options->json) {
        fmt::print("{}\n", ShownAsJson(shown).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
      } else {
        fmt::print("{}", RenderShown(shown, options->width > 0 ? options->width : TerminalWidth()));
      }
      return ExitCode::kDone;
    };
  });
}

}  // namespace fullband
