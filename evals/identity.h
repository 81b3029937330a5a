// What makes a run the run it is: everything that can change an answer, and nothing else.
//
// Not in it: item limit, number of samples, batch, threads, chunk, item order, cache. Where a choose suite is
// asked, sampling, token limit and stop strings change nothing and stand at fixed values.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "evals/graders/thoughts.h"
#include "tasks/task.h"

namespace fullband {

struct ModelIdentity {
  std::string weights_sha256;
  nlohmann::json config;  // ConfigIdentity
  std::vector<int32_t> end_tokens;
  std::string tokenizer_sha256;
  std::string numerics;  // version of the engine's arithmetic
  std::string device, target;
  std::string weights_dtype;  // "bfloat16", or all that occur: "bfloat16+float32"
  std::string activations_dtype = "float32";
  ThoughtMarkers thoughts;       // where a choose suite is asked, the usual ones
  std::string kv_dtype = "f32";  // KvDtypeName
};

struct TaskIdentity {
  std::string suite;
  int suite_version = 1;
  nlohmann::json definition;
  std::string data_sha256;
  std::vector<std::string> shot_ids;
  std::string shot_text_sha256;
  std::string format;
  std::string chat_template_sha256;
  std::string system;
  int max_new_tokens = 0;
  std::vector<std::string> stop_strings;
};

struct RunIdentity {
  ModelIdentity model;
  TaskIdentity task;
  std::string setting;
  Sampling sampling;
};

ModelIdentity IdentifyModel(const Engine& engine, const std::string& weights_sha256);
TaskIdentity IdentifyTask(const Task& task);
RunIdentity Identify(const ModelIdentity& model, const Task& task, const Setting& setting,
                     const Sampling& sampling);

// All fields of a configuration that the engine computes with.
nlohmann::json ConfigIdentity(const ModelConfig& config);
const char* FusionName(Fusion fusion);  // "none", "glu", "additive"
// The dtypes of a model's tensors, sorted and joined by '+'.
std::string WeightsDtype(const Model& model);

nlohmann::json IdentityJson(const RunIdentity& identity);
// SHA-256 of the canonical JSON.
std::string RunKey(const RunIdentity& identity);

}  // namespace fullband
