#include "evals/sandbox/detail.h"

#include <iterator>

namespace fullband {
namespace {

struct Row {
  Detail detail;
  const char* word;
  Outcome outcome;
};

// A program over its limits is wrong, not a fault: only what is the harness's own failure is one.
constexpr Row kRows[] = {
    {Detail::kPassed, "passed", Outcome::kCorrect},
    {Detail::kAssertion, "assertion", Outcome::kIncorrect},
    {Detail::kException, "exception", Outcome::kIncorrect},
    {Detail::kNoEntryPoint, "no_entry_point", Outcome::kIncorrect},
    {Detail::kSyntaxError, "syntax_error", Outcome::kIncorrect},
    {Detail::kExitedEarly, "exited_early", Outcome::kIncorrect},
    {Detail::kSignal, "signal", Outcome::kIncorrect},
    {Detail::kAlwaysEqual, "always_equal", Outcome::kIncorrect},
    {Detail::kTimeout, "timeout", Outcome::kIncorrect},
    {Detail::kCpuLimit, "cpu_limit", Outcome::kIncorrect},
    {Detail::kMemoryLimit, "memory_limit", Outcome::kIncorrect},
    {Detail::kRecursionLimit, "recursion_limit", Outcome::kIncorrect},
    {Detail::kProcessLimit, "process_limit", Outcome::kIncorrect},
    {Detail::kDiskLimit, "disk_limit", Outcome::kIncorrect},
    {Detail::kOutputLimit, "output_limit", Outcome::kIncorrect},
    {Detail::kBadTests, "bad_tests", Outcome::kFault},
    {Detail::kSandboxFailed, "sandbox_failed", Outcome::kFault},
};

const Row& RowOf(Detail detail) {
  for (const Row& row : kRows)
    if (row.detail == detail) return row;
  return kRows[std::size(kRows) - 1];
}

}  // namespace

Outcome OutcomeOf(Detail detail) { return RowOf(detail).outcome; }

std::string DetailText(Detail detail, int signal) {
  const std::string word = RowOf(detail).word;
  return detail == Detail::kSignal ? word + "_" + std::to_string(signal) : word;
}

Detail DetailOfWord(std::string_view word) {
  for (const Row& row : kRows)
    if (word == row.word) return row.detail;
  return Detail::kException;
}

}  // namespace fullband
