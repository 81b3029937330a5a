// The report of a store: what its runs achieved, suite by suite, as a document. The same store gives the same
// report.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "evals/store/store.h"
#include "reports/comparisons/sources.h"
#include "reports/document/document.h"
#include "reports/provenance.h"
#include "reports/results.h"

namespace fullband {

struct ReportOptions {
  std::vector<int> pass_k;  // the k of pass@k and maj@k; none: those of UsualKs
  ReadOptions read;
  HasName suite_has_name;          // see CommandOf
  ComparisonSources sources = {};  // where traces part, overhead: both are left out without
};

// Every suite with its runs (accuracy, graders, trace lengths, cost), every pair of settings on the same
// weights and of models under the same setting; at the end where all of it comes from. Throws Error where the
// store has no runs, and a usage Error
// where no run has as many samples of an item as a k asks for.
Document BuildReport(Store& store, const ReportOptions& options = {});

// The same of runs that were read (all of a store's, as ReadResults sorts them); `store` is its path.
Document BuildReport(const std::filesystem::path& store, std::span<const RunResults> runs,
                     const ReportOptions& options = {});

// BuildReport as Markdown.
std::string RenderReport(Store& store, const ReportOptions& options = {});

}  // namespace fullband
