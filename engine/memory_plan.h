// What a run will take, before it starts: the engine's own scheduling, on a backend that computes nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "engine/engine.h"

namespace fullband {

// Bytes.
struct EngineMemory {
  int64_t mapped = 0;     // the checkpoint's files, while they are loaded
  int64_t loading = 0;    // at most, before the first step: the checkpoint's files and the backend's copy
  int64_t weights = 0;    // the backend's copy
  int64_t pages = 0;      // keys and values, of sequences in flight and of the prefix tree
  int64_t states = 0;     // likewise
  int64_t workspace = 0;  // what steps are computed with
  int64_t total() const { return std::max(loading, weights + pages + states + workspace); }
};

class DryRun {
 public:
  // As Engine would be with the same options; batch `auto` is taken for `batch`, since nothing can be
  // measured. Says of itself what that engine would. `tokenizer` may be null. No weights are packed. Throws
  // as Engine does.
  DryRun(std::shared_ptr<const Model> model, std::shared_ptr<const Tokenizer> tokenizer,
         const EngineOptions& options, int batch);
  ~DryRun();

  // Takes requests as any engine, and answers them at once: traces are as long as they may become. Leave stop
  // strings out.
  Engine& engine() { return *engine_; }
  // For all that was asked so far.
  EngineMemory Memory() const;

 private:
  std::shared_ptr<const Model> model_;
  EngineOptions options_;
  class CountingBackend* backend_;  // the engine's
  std::unique_ptr<Engine> engine_;
};

}  // namespace fullband
