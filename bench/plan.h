// What is measured: lists of sizes, checked against a model's context before its weights are loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/figures.h"
#include "engine/checkpoint/config.h"
#include "engine/decode/setting.h"

namespace fullband {

// As asked for; empty lists stand for the defaults.
struct BenchRequest {
  std::vector<std::string> settings;
  std::vector<int> prompt_lengths, chunks, batches, contexts;
  std::optional<int> repeats;
  bool quick = false;
  bool steps = true;  // measure prefill, decode, overheads and sharing at all
};

struct BenchPlan {
  std::vector<Setting> settings;
  std::vector<int> prompt_lengths, chunks, batches, contexts;  // ascending
  int repeats = 5;
  bool steps = true;
  std::vector<LeftOut> left_out;  // defaults that the model's context does not allow
};

// Settings default to standard, and to latent and latent@2 where the model has feedback. Throws a usage
// Error: a setting that the model does not support or that only scores, a size that is 0, twice in a list, or
// beyond the model's context.
BenchPlan MakeBenchPlan(const BenchRequest& request, const ModelConfig& config);

}  // namespace fullband
