#include "cli/sweep_end.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/stop_signals.h"

namespace fullband {

ExitCode EndSweep(const SweepResult& result, const std::filesystem::path& store) {
  fmt::print("{}", SummaryTable(result.summaries));
  if (result.stopped) {
    fmt::print(
        stderr,
        "fullband: stopped: all that was finished is in {} (the same command again goes on from there)\n",
        store.string());
    EndBySignal();
  }
  if (!result.faults) return ExitCode::kDone;
  fmt::print(stderr,
             "fullband: {}: some items could not be asked or graded (the store says why, item by item)\n",
             store.string());
  return ExitCode::kIncomplete;
}

}  // namespace fullband
