// Readers of programming tasks. Beside the fields that templates show, an item has `program`: what its grader
// needs to run a completion, as canonical JSON (evals/sandbox/assemble.h reads it). It is the item's gold, so
// that a store can be graded again without the data file.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "tasks/suite.h"

namespace fullband {

// `task_id`, `prompt`, `canonical_solution`, `test`, `entry_point`.
std::vector<Item> ReadHumanEval(std::string_view bytes, const std::filesystem::path& path);

// `task_id`, `text`, `code`, `test_setup_code`, `test_list`. `shown_tests` are the first three tests,
// `entry_point` is the function of `code` that they call, or empty.
std::vector<Item> ReadMbpp(std::string_view bytes, const std::filesystem::path& path);

// The same with `prompt` for the text, `test_imports` for the set-up code, and `test`, one program that is
// run instead of `test_list`.
std::vector<Item> ReadMbppPlus(std::string_view bytes, const std::filesystem::path& path);

}  // namespace fullband
