// The runtime's face: the one header that tasks, evals and the command line include.
//
// Requests go in, answers come out in the order in which they finish. Every answer depends on its own request
// and the model alone: not on batch size, threads, chunk size, order or what else is running, bit for bit.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/checkpoint/model.h"
#include "engine/compute/backend.h"
#include "engine/decode/passes.h"
#include "engine/decode/request.h"
#include "engine/tokenizer/tokenizer.h"

namespace fullband {

struct EngineOptions {
  std::string device = "cpu";
  int threads = 0;               // 0: as many as the process may use
  std::string target;            // Highway target to pin; empty: the best
  std::string kv_dtype = "f32";  // what keys and values are kept in: "f32" or "bf16"
  int batch = 0;                 // sequences in flight at most; 0: as many as memory allows and speed repays.
                                 // Never changes a result.
  int chunk = 256;               // prefill rows a step at most
  int64_t kv_memory = 0;         // bytes that key/value pages may take; 0: half of the memory that is free. A
                                 // sequence that needs more runs alone. Never changes a result.
  // Bytes of them that may be kept for beginnings of prompts that were run before; 0: every prompt is run
  // from its beginning; kAuto: at most 1 GiB and half of all. Never changes a result.
  int64_t prefix_cache = kAuto;
  static constexpr int64_t kAuto = -1;
};

class Engine {
 public:
  // Loads the checkpoint (and its tokenizer where the folder has one). Throws Error.
  Engine(const std::filesystem::path& folder, const EngineOptions& options);
  // With any backend and without files: for tests. `tokenizer` may be null.
  Engine(std::unique_ptr<Backend> backend, std::shared_ptr<const Tokenizer> tokenizer,
         const EngineOptions& options);
  ~Engine();

  // Throws Error where a request cannot be run at all (an empty prompt, a token out of range, a setting the
  // model does not support, stop strings without a tokenizer, a prompt longer than the model's context).
  void Submit(GenerateRequest request);
  void Submit(ScoreRequest request);

  // Runs steps until a request has finished and returns its answer; nothing when none is left, or when
  // `*stop` is found true between two steps (set by a signal handler, say; the requests stay pending).
  std::optional<Answer> Next(const std::atomic<bool>* stop = nullptr);
  // Requests submitted and not yet answered.
  size_t pending() const;
  // With so many pending the engine never runs short of one to begin with: asking for more at once gains
  // nothing. Changes as the engine learns.
  size_t enough() const;

  // Runs whole texts in passes 1 .. `passes` and as the recurrence (engine/decode/passes.h), with the
  // engine's batch, chunk and memory. Throws Error where the model has no latent feedback or a text cannot be
  // run at all.
  void RunPasses(std::span<const PassText> texts, int passes, Control control, const PassListener& listener);

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
