// Runs that another engine made and `fullband import` brought in: how the store tells them from its own, and
// what is not known of them.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "evals/store/store.h"

namespace fullband {

// The verdicts that came with the samples stand among the grades under this name, or, where the file says
// which of several it is, under this name, a colon and that: "imported:exact_match/strict-match".
inline constexpr char kImportedGrader[] = "imported";
bool IsImportedGrader(const std::string& grader);

// A run's identity holds it under "imported"; no run of ours has that key, so that their keys never meet.
struct ImportedRun {
  std::string model;        // the name that the user gave; of the weights nothing is known
  std::string file_sha256;  // of the file that held the samples
  std::string layout;       // of the file: "fullband", "lm_eval"
  // What every sample that is no fault came with (evals/import/sample_file.h). What is not here is unknown
  // and stands in the store as nothing: no figure may be made of it.
  std::set<std::string> fields;

  bool Has(const std::string& field) const { return fields.contains(field); }
  // Whether graders have something to judge; else there are verdicts alone.
  bool Gradable() const { return Has("completion") || Has("logprobs"); }
};

// Nothing for a run of ours.
std::optional<ImportedRun> ImportedOf(const RunRecord& run);

}  // namespace fullband
