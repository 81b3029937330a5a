#include "evals/progress.h"

#include <fmt/format.h>

#include "evals/summary.h"

namespace fullband {
namespace {

constexpr std::chrono::milliseconds kTerminalInterval{200};
constexpr std::chrono::milliseconds kLogInterval{10000};

}  // namespace

std::string ProgressLine(const ProgressState& state) {
  std::string line = fmt::format("{}: {}/{}", state.run, state.done, state.total);
  if (state.seconds > 0 && state.tokens > 0)
    line += fmt::format(", {:.1f} tokens/s", static_cast<double>(state.tokens) / state.seconds);
  if (state.counted > 0)
    line += fmt::format(", accuracy {:.1f} %",
                        100 * static_cast<double>(state.correct) / static_cast<double>(state.counted));
  const int64_t fresh = state.done - state.done_before, left = state.total - state.done;
  if (left == 0)
    line += fmt::format(", took {}", DurationText(state.seconds));
  else if (fresh > 0)
    line += fmt::format(", {} left",
                        DurationText(state.seconds / static_cast<double>(fresh) * static_cast<double>(left)));
  return line;
}

Progress::Progress(std::FILE* out, bool terminal, bool quiet)
    : out_(out), terminal_(terminal), quiet_(quiet) {}

void Progress::Begin(const std::string& run, int64_t total, int64_t done) {
  state_ = {};
  state_.run = run;
  state_.total = total;
  state_.done = state_.done_before = done;
  began_ = shown_ = std::chrono::steady_clock::now();
  if (done > 0 && !quiet_) fmt::print(out_, "{}: {} of {} are in the store already\n", run, done, total);
}

void Progress::Advance(int64_t samples, int64_t tokens, int64_t counted, int64_t correct) {
  state_.done += samples;
  state_.tokens += tokens;
  state_.counted = counted;
  state_.correct = correct;
  if (std::chrono::steady_clock::now() - shown_ >= (terminal_ ? kTerminalInterval : kLogInterval))
    Show(false);
}

void Progress::End(int64_t counted, int64_t correct) {
  state_.counted = counted;
  state_.correct = correct;
  Show(true);
}

void Progress::Show(bool last) {
  if (quiet_) return;
  shown_ = std::chrono::steady_clock::now();
  state_.seconds = std::chrono::duration<double>(shown_ - began_).count();
  // Back to the line's start and erase to its end (ECMA-48 EL).
  fmt::print(out_, "{}{}{}", terminal_ ? "\r\x1b[K" : "", ProgressLine(state_),
             terminal_ && !last ? "" : "\n");
  std::fflush(out_);
}

}  // namespace fullband
