// From a completion and the parts that a data set gives to a program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evals/sandbox/sandbox.h"

namespace fullband {

// The code of a completion: of Markdown's fenced blocks the one that defines `entry_point` (the last such),
// else the first; a fence without its partner bounds the code, it does not hide it. Without fences all of it,
// but for a text that leads up to a definition of the entry point. `entry_point` may be empty: then the first
// block. White space at a line's start is kept.
std::string ExtractCode(std::string_view completion, std::string_view entry_point);

// Whether the code defines `name` at the top level.
bool DefinesAtTop(std::string_view code, std::string_view name);

// HumanEval: the prompt goes on with the completion. Where the completion is a module of its own that defines
// the entry point anew, the prompt comes first with an empty body, so that its imports and helpers stay.
Program HumanEvalProgram(std::string_view prompt, std::string_view completion, std::string_view test,
                         std::string_view entry_point);

// MBPP: the completion, then the set-up code, then each test. `entry_point` may be empty.
Program MbppProgram(std::string_view completion, std::string_view setup,
                    const std::vector<std::string>& tests, std::string_view entry_point = "");

}  // namespace fullband
