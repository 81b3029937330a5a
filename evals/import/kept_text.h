// What of a text that another program generated counts: as for texts of our own, what stands before the first
// stop string.
#pragma once

#include <string>
#include <vector>

#include "tasks/suite.h"

namespace fullband {

// The suite's own in this format, and `more`.
std::vector<std::string> StopStrings(const Suite& suite, Format format, const std::vector<std::string>& more);

std::string TextUpTo(const std::vector<std::string>& stop_strings, std::string text);

// TextUpTo; where the suite asks for programs, KeptProgram (evals/execute.h).
std::string KeptCompletion(const Suite& suite, const std::vector<std::string>& stop_strings,
                           const std::string& completion, const std::string& gold);

}  // namespace fullband
