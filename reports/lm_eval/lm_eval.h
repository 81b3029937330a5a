// Runs in the layout that lm-evaluation-harness writes, so that what reads its files reads ours
// (docs/export.md).
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "evals/store/store.h"
#include "reports/results.h"

namespace fullband {

// Into folder/MODEL__SETTING/: results_DATE.json with all suites, and samples_SUITE_DATE.jsonl for each. A
// suite that occurs several times under one model and setting (other shots, another format) goes on in a
// further pair of files with a date of its own. Dates are of the runs, so that the same store gives the same
// files; folders are made, files of the same name replaced. Returns what was written. Throws Error.
std::vector<std::filesystem::path> WriteLmEval(std::span<const RunResults> results, Store& store,
                                               const std::filesystem::path& folder);

}  // namespace fullband
