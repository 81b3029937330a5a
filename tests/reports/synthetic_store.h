// Stores with known figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evals/store/store.h"

namespace fullband {

// The further samples of an item stand behind its first, with the same id.
struct SyntheticSample {
  std::string item;
  std::string outcome;  // of the headline grader; "fault" makes the sample one; "" leaves it ungraded
  int length = 0;       // trace_tokens; the tokens are 0, 1, 2, ...
  std::string stop_reason = {};
  std::string strict = {};  // of lmeval_strict (acc_norm where choices are asked), where there is one
  std::string groups = "{}";
  std::optional<double> logprob = {};  // of its one continuation, where choices are asked
  std::string extracted = "7";         // by the headline grader
};

struct SyntheticRun {
  std::string setting;
  std::vector<SyntheticSample> samples = {};
  std::vector<std::string> open_items = {};  // asked for, and not done
  std::string suite = "gsm8k";
  int64_t items_total = 0;  // 0: as many as are asked for
  int max_new_tokens = 256;
  bool choose = false;  // asked by choices: the headline is acc, the other grader acc_norm
  std::string model = "toy-1m";
  std::string chat_template = {}, system = {};  // with a template the format is chat
};

// Adds a run and returns its id. Models differ in their names alone.
int64_t AddSyntheticRun(Store& store, const SyntheticRun& run);

}  // namespace fullband
