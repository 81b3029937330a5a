// The runtime's face: the one header that tasks, evals and the command line include.
//
// Requests go in, answers come out in the order in which they finish. Every answer depends on its own request and
// the model alone: not on batch size, threads, chunk size, order or what else is running, bit for bit.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/model.h"
#include "engine/compute/backend.h"
#include "engine/decode/setting.h"
#include "engine/tokenizer/tokenizer.h"

namespace fullband {

struct EngineOptions {
  std::string device = "cpu";
  int threads = 0;          // 0: as many as the process may use
  std::string target;       // Highway target to pin; empty: the best
  int batch = 16;           // sequences in flight at most
  int chunk = 128;          // prefill rows a step at most
};

struct Sampling {
  double temperature = 0;  // 0: greedy
  int top_k = 0;           // 0: all
  double top_p = 1;
  uint64_t seed = 0;
};

struct GenerateRequest {
  uint64_t id = 0;  // the caller's, handed back
  std::vector<int32_t> prompt;
  Setting setting;
  Sampling sampling;
  uint64_t item_key = 0;  // identifies the item in the random stream (a hash of its id)
  int sample = 0;         // index of the sample of this item
  int max_new_tokens = 0;
  std::vector<std::string> stop_strings;
  int top = 2;            // best tokens kept per step (at least 2)
};

struct ScoreRequest {
  uint64_t id = 0;
  std::vector<int32_t> context;  // not empty
  std::vector<int32_t> continuation;
  Setting setting;
};

enum class StopReason { kEnd, kStopString, kLength, kContext };
const char* StopReasonName(StopReason reason);  // "end", "stop_string", "length", "context"

struct GeneratedToken {
  int32_t id = 0;
  float logprob = 0;            // natural, untempered
  int32_t runner_up = 0;        // the best token other than `id`
  float runner_up_logprob = 0;
  int32_t text_end = 0;         // byte of the full text where this token's text ends
  std::vector<TokenLogprob> top;  // where more than the default was asked for
};

struct Cost {
  int64_t prompt_tokens = 0;
  int64_t prefill_forwards = 0;   // prompt positions x prefill passes actually run
  int64_t saved_forwards = 0;     // of those, what a prefix cache saved
  int64_t decode_forwards = 0;    // generated or teacher-forced positions
  double queue_seconds = 0;       // from submission to the first step
  double prefill_seconds = 0;     // from the first step to the first token
  double decode_seconds = 0;      // from the first token to the end
};

struct Answer {
  uint64_t id = 0;
  // Generation.
  std::vector<GeneratedToken> tokens;  // all sampled ids, the end token included
  std::string text;                    // kept text: cut at the stop string; special tokens left out
  int trace_tokens = 0;                // ids that contribute at least one byte of `text`
  StopReason stop_reason = StopReason::kLength;
  // Scoring.
  std::vector<float> logprobs;         // one per continuation token
  std::vector<bool> greedy;            // whether that token was the arg max
  // Both.
  std::string fault;       // why there is no valid result (a non-finite state), or empty
  float min_state_rms = 0, max_state_rms = 0;
  Cost cost;
};

class Engine {
 public:
  // Loads the checkpoint (and its tokenizer where the folder has one). Throws Error.
  Engine(const std::filesystem::path& folder, const EngineOptions& options);
  // With any backend and without files: for tests. `tokenizer` may be null.
  Engine(std::unique_ptr<Backend> backend, std::shared_ptr<const Tokenizer> tokenizer, const EngineOptions& options);
  ~Engine();

  // Throws Error where a request cannot be run at all (an empty prompt, a token out of range, a setting the model does not
  // support, stop strings without a tokenizer, a prompt longer than the model's context).
  void Submit(GenerateRequest request);
  void Submit(ScoreRequest request);

  // Runs steps until a request has finished and returns its answer; nothing when none is left, or when `*stop` is
  // found true between two steps (set by a signal handler, say; the requests stay pending).
  std::optional<Answer> Next(const std::atomic<bool>* stop = nullptr);
  // Requests submitted and not yet answered.
  size_t pending() const;

  const ModelConfig& config() const;
  const BackendInfo& backend_info() const;
  const std::shared_ptr<const Tokenizer>& tokenizer() const;  // null without tokenizer files
  const std::shared_ptr<const Model>& model() const;          // null when made from a backend
  int max_context() const;                                    // positions a sequence may have
  // Tokens that end generation: the config's, and the template's end-of-turn marker.
  const std::vector<int32_t>& end_tokens() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fullband
