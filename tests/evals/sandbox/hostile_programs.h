// Programs that try to pass without being right, to get out, or to take the machine.
#pragma once

#include <vector>

#include "evals/sandbox/sandbox.h"

namespace fullband {

struct HostileProgram {
  const char* name;
  // What follows `def f(x):` + line feed. Right would be `return x * x`.
  const char* completion;
  // The details that it may end with, separated by `|`.
  const char* details;
  // Whether the result must be flagged; a program that may pass must be.
  bool suspicious = false;
  // Test to use instead of `assert c(2) == 4` and `assert c(3) == 9`.
  const char* test = nullptr;
};

// For gtest's names of cases.
inline std::ostream& operator<<(std::ostream& out, const HostileProgram& program) {
  return out << program.name;
}

const std::vector<HostileProgram>& HostilePrograms();

}  // namespace fullband
