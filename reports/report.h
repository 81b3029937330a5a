// The report of a store: what its runs achieved, suite by suite, as a document. The same store gives the same
// report.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "evals/store/store.h"
#include "reports/document/document.h"
#include "reports/provenance.h"
#include "reports/results.h"

namespace fullband {

struct ReportOptions {
  std::vector<int> pass_k;  // the k of pass@k and maj@k; none: those of UsualKs
  ReadOptions read;
  HasName suite_has_name;                               // see CommandOf
  std::vector<std::filesystem::path> contraction = {};  // what fullband contraction --json printed
};

// Every suite with its runs (accuracy, graders, trace lengths, cost), every pair of settings on the same
// weights and of models under the same setting; at the end where all of it comes from. Throws Error where the
// store has no runs or a file of `contraction` is none of its models', and a usage Error where no run has as
// many samples of an item as a k asks for.
Document BuildReport(Store& store, const ReportOptions& options = {});

// The same of runs that were read (all of the store's, as ReadResults sorts them).
Document BuildReport(Store& store, std::span<const RunResults> runs, const ReportOptions& options = {});

// BuildReport as Markdown.
std::string RenderReport(Store& store, const ReportOptions& options = {});

}  // namespace fullband
