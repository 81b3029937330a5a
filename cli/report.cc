// `fullband report`: what a store holds, as figures and comparisons.
#include "reports/report.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/report_readers.h"
#include "evals/store/store.h"
#include "reports/document/markdown.h"
#include "reports/formats/formats.h"

namespace fullband {

namespace {

struct Options {
  std::string store, out;
  std::vector<std::string> formats;
  std::vector<int> pass_k;
  std::vector<std::filesystem::path> contraction;
};

// "md (report.md), csv (…)"
std::string FormatHelp() {
  std::string help;
  for (const ReportFormat& format : ReportFormats())
    help += fmt::format("{}{} ({})", help.empty() ? "" : ", ", format.name, format.files);
  return help;
}

ExitCode Report(const Options& options) {
  const std::vector<const ReportFormat*> formats =
      FindFormats(options.formats.empty() ? std::vector<std::string>{"md"} : options.formats);
  const std::unique_ptr<Store> store = OpenStore(options.store, StoreMode::kReadOnly);
  const ReportOptions how = {options.pass_k, ReportReaders(), IsSuiteName, options.contraction};
  const std::vector<RunResults> runs = ReadResults(*store, how.read);
  const Document document = BuildReport(*store, runs, how);
  if (!options.out.empty())
    for (const ReportFormat* format : formats) format->write({*store, runs, document}, options.out);
  fmt::print("{}", RenderMarkdown(document));
  return ExitCode::kDone;
}

}  // namespace

void AddReport(CLI::App& app, Action* action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("report", "Figures and comparisons of a store's runs");
  command->add_option("--store", options->store, "The store (made by fullband run)")
      ->required()
      ->type_name("FILE");
  CLI::Option* out = command->add_option("--out", options->out, "Also write files into this folder");
  out->type_name("DIR");
  command
      ->add_option("--format", options->formats, "What to write into it: " + FormatHelp() + "; default: md")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(out)
      ->type_name("NAME,...");
  command
      ->add_option(
          "--pass-k", options->pass_k,
          "The k of pass@k and maj@k, where items have several samples; default: 1, the powers of two "
          "and of five, and all")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("K,...");
  command
      ->add_option("--contraction", options->contraction,
                   "What fullband contraction --json printed of one of the store's models: residual and loss "
                   "of pass after pass; may be given several times")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command->callback([options, action] { *action = [options] { return Report(*options); }; });
}

}  // namespace fullband
