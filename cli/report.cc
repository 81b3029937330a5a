// `fullband report`: what a store holds, as figures and comparisons.
#include "reports/report.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/report_readers.h"
#include "evals/store/store.h"

namespace fullband {

void AddReport(CLI::App& app, Action* action) {
  struct Options {
    std::string store, out;
    std::vector<int> pass_k;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("report", "Figures and comparisons of a store's runs");
  command->add_option("--store", options->store, "The store (made by fullband run)")
      ->required()
      ->type_name("FILE");
  command->add_option("--out", options->out, "Also write report.md into this folder")->type_name("DIR");
  command
      ->add_option(
          "--pass-k", options->pass_k,
          "The k of pass@k and maj@k, where items have several samples; default: 1, the powers of two "
          "and of five, and all")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("K,...");
  command->callback([options, action] {
    *action = [options] {
      const std::string report =
          RenderReport(*OpenStore(options->store, StoreMode::kReadOnly), {options->pass_k, ReportReaders()});
      if (!options->out.empty()) WriteReport(report, options->out);
      fmt::print("{}", report);
      return ExitCode::kDone;
    };
  });
}

}  // namespace fullband
