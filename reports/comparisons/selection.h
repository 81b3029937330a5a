// Which runs two words on a command line mean.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evals/store/store.h"

namespace fullband {

// `a` and `b` are each a model and a setting ("toy-1m/latent@2"), a setting, a model, or how a run's key
// begins; names go before keys.
struct CompareRequest {
  std::string a, b;
  std::vector<std::string> suites;    // none: all that have runs of both
  std::optional<std::string> format;  // "completion", "chat"
  std::optional<int> shots;
};

struct ChosenPair {
  RunRecord a, b;
};

struct Chosen {
  std::vector<ChosenPair> pairs;       // one a suite, by the suites' names
  std::vector<std::string> one_sided;  // suites that have runs of one of the two only
};

// Of the runs that fit, a suite's pair is the one that differs in least: in the setting or the model alone
// rather than in both, asked alike rather than not. Throws a usage Error where a word means nothing, where
// several pairs of a suite are as good, and where no suite has runs of both.
Chosen ChoosePairs(Store& store, const CompareRequest& request);

}  // namespace fullband
