// A run on the toy backend, for tests of the runner.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "evals/runner.h"
#include "tests/support/toy_backend.h"

namespace fullband {

// `count` items of random prompts over tokens 0 .. 15; every item's gold answer is a number.
Task ToyTask(int count);
// The same asked as three choices each, of 1 to 3 tokens; the gold one is item number modulo 3.
Task ToyChoices(int count);

struct ToyRun {
  ToyOptions backend;
  RunnerOptions options;
  std::string setting = "latent@2";
  Sampling sampling;

  explicit ToyRun(std::filesystem::path store);
  RunResult Run(const Task& task);
};

using ItemSample = std::pair<std::string, int>;

// All that a store holds of its samples and grades but times and row numbers: run key, item, sample ->
// content.
std::map<std::string, std::string> Content(const std::filesystem::path& store);

}  // namespace fullband
