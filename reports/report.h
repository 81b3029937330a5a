// The report of a store, as Markdown. The same store gives the same text.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "evals/store/store.h"
#include "reports/results.h"

namespace fullband {

struct ReportOptions {
  std::vector<int> pass_k;  // the k of pass@k and maj@k; none: those of UsualKs
  ReadOptions read;
};

// Every suite with its runs (accuracy, graders, trace lengths, cost) and every pair of settings on the same
// weights. Throws Error where the store has no runs, and a usage
// Error where no run has as many samples of an item as a k asks for.
std::string RenderReport(Store& store, const ReportOptions& options = {});

// Puts `text` into folder/report.md, whole or not at all; makes the folder. Returns the file's path. Throws
// Error.
std::filesystem::path WriteReport(const std::string& text, const std::filesystem::path& folder);

}  // namespace fullband
