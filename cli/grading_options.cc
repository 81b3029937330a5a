#include "cli/grading_options.h"

namespace fullband {

void AddUnprotectedOption(CLI::App& command, GradingOptions* options) {
  command.add_flag("--unprotected", options->unprotected,
                   "run the programs of code suites with your own rights and network, where no sandbox is "
                   "possible; for models that you trust");
}

}  // namespace fullband
