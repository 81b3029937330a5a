// The report of a store, as Markdown. The same store gives the same text.
#pragma once

#include <filesystem>
#include <string>

#include "evals/store/store.h"

namespace fullband {

// Every suite with its runs (accuracy, graders, trace lengths, cost) and every pair of settings on the same
// weights. Throws Error where the store has no runs.
std::string RenderReport(Store& store);

// Puts `text` into folder/report.md, whole or not at all; makes the folder. Returns the file's path. Throws
// Error.
std::filesystem::path WriteReport(const std::string& text, const std::filesystem::path& folder);

}  // namespace fullband
