// What differs between two runs beyond what is compared.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "reports/results.h"

namespace fullband {

// Reads each run's identity once, however many pairs it is in.
class Identities {
 public:
  // Names and values of what else than the setting differs, for runs of one model, and else than the model
  // and what comes with it (weights, configuration, tokenizer, dtypes), for runs of two.
  std::vector<std::string> Differences(const RunResults& a, const RunResults& b);

  // A leaf of the run's identity by its dotted name, as JSON; empty where there is none.
  std::string Leaf(const RunResults& run, const std::string& name);

 private:
  using Leaves = std::map<std::string, std::string>;
  const Leaves& Of(const RunResults& run);
  std::unordered_map<const RunResults*, Leaves> leaves_;
};

}  // namespace fullband
