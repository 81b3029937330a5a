// How a program ended, and what that means for its grade.
#pragma once

#include <string>
#include <string_view>

#include "evals/graders/grader.h"

namespace fullband {

enum class Detail {
  kPassed,
  kAssertion,
  kException,
  kNoEntryPoint,  // the tested function is not defined
  kSyntaxError,
  kExitedEarly,  // the process ended before the last test had
  kSignal,
  kAlwaysEqual,  // a compared object agrees to everything
  kTimeout,      // wall clock
  kCpuLimit,
  kMemoryLimit,
  kRecursionLimit,
  kProcessLimit,
  kDiskLimit,
  kOutputLimit,
  kBadTests,       // the tests do not compile, or need a module that is missing
  kSandboxFailed,  // the program was never started
};

Outcome OutcomeOf(Detail detail);

// "exited_early", "memory_limit", …; with Detail::kSignal "signal_" and its number.
std::string DetailText(Detail detail, int signal = 0);

// The detail of a word as DetailText has it; kException where there is none of that name.
Detail DetailOfWord(std::string_view word);

}  // namespace fullband
