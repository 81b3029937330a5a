// The judge `execute`: a completion is right where its program passes the item's tests in the sandbox.
#pragma once

#include <string>
#include <string_view>

#include "evals/judge.h"
#include "evals/sandbox/sandbox.h"
#include "tasks/suite.h"

namespace fullband {

inline constexpr char kExecute[] = "execute";

// An item's gold, as its reader made it (tasks/code_readers.h).
struct ProgramGold {
  std::string prompt;       // empty: the completion stands alone
  std::string entry_point;  // empty: not known
  std::string setup;
  std::vector<std::string> tests;
};
// Throws Error where the text is none.
ProgramGold ParseProgramGold(const std::string& gold);

// What is run of a completion; `code` is what counts of it.
struct ProgramOfCompletion {
  std::string code;
  Program program;
};
ProgramOfCompletion AssembleProgram(std::string_view completion, const ProgramGold& gold);

// Cuts a completion at the first stop string. One that defines the item's function itself does not go on with
// the prompt: it is a module of its own, and the stop strings, which tell a continuation from what follows
// it, would cut it at its first definition. It is kept whole where the cut would lose that definition.
std::string KeptProgram(const std::string& completion, const std::vector<std::string>& stop_strings,
                        const std::string& gold);

// `extracted` is the code, then, as comments, what went wrong and what is suspicious; `score` is the share of
// the tests that ran to the end. A pass of a program that could have reached the proof has detail
// "suspicious".
Verdict VerdictOf(const std::string& code, const ProgramResult& result);

// Throws Error where programs cannot be run here, or the tests import what is missing: why, and what to do.
// `whose` is said in it.
Judge ExecuteJudge(const Execution& execution, const GradingOptions& options, const std::string& whose);

}  // namespace fullband
