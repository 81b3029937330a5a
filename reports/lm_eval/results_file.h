// The results file: what a set of runs of one model and setting came to.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/lm_eval/metrics.h"

namespace fullband::lm_eval {

using Json = nlohmann::ordered_json;

// One results file: runs of one model under one setting, no suite twice.
struct Bundle {
  std::string model_name;  // "mini-fbt/latent@2"
  std::string date;        // of the first of the runs, as file names have it
  double seconds = 0;      // the same since 1970
  std::vector<const RunResults*> runs;
};

// `hashes` by suite, of those with a samples file. What the harness states and we do not know is null or left
// out; what it does not know (SHA-256 of weights and data, run keys, trace lengths) stands in `fullband`.
Json ResultsJson(const Bundle& bundle, const std::map<std::string, std::string>& hashes);

// How completions were drawn, in the harness's words; `identity` is the run's.
Json GenerationOptions(const Json& identity, const RunRecord& run);

// Characters that file names should not have, as the harness replaces them in a model's name.
std::string FolderName(const std::string& model_name);

}  // namespace fullband::lm_eval
