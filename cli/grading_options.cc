#include "cli/grading_options.h"

#include "cli/engine_options.h"

namespace fullband {

void AddUnprotectedOption(CLI::App& command, GradingOptions* options) {
  command.add_flag("--unprotected", options->unprotected,
                   "run the programs of code suites with your own rights and network, where no sandbox is "
                   "possible; for models that you trust");
}

void AddGradingOptions(CLI::App& command, GradingOptions* options) {
  AddUnprotectedOption(command, options);
  command
      .add_option("--workers", options->workers,
                  "Programs of code suites to run at the same time; default: one a processor")
      ->check(WholeNumber(1))
      ->type_name("N");
}

}  // namespace fullband
