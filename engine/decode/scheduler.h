// Continuous batching: turns sequences into steps and runs them. Decides who runs when and where, never what
// comes out: every sequence's answer is its own.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "engine/compute/backend.h"
#include "engine/decode/sequence.h"

namespace fullband {

struct SchedulerOptions {
  int batch = 16;         // sequences in flight at most
  int chunk = 128;        // rows of prompts and continuations a step at most, over all sequences
  int64_t kv_memory = 0;  // bytes of pages; a sequence that needs more runs alone
  bool prefix_cache = true;
};

class Scheduler {
 public:
  // `backend` must outlive the scheduler.
  Scheduler(Backend* backend, const SchedulerOptions& options);

  const SchedulerOptions& options() const { return options_; }
  Memory memory() { return {&places_, prefixes_ ? &*prefixes_ : nullptr}; }
  void Add(std::unique_ptr<Sequence> sequence);
  // Runs steps until an answer is there; nothing where all are taken, or where `*stop` (may be null) is found
  // true between two steps. Sequences start in the order of Add.
  std::optional<Answer> Next(const std::atomic<bool>* stop);
  size_t pending() const { return waiting_.size() + active_.size() + answers_.size(); }

 private:
  int64_t PromisedPages() const;
  bool MayBegin(size_t index) const;
  void Admit();
  void RunStep();
  void MakeRoom();
  void Collect();

  Backend* backend_;
  SchedulerOptions options_;
  int64_t page_limit_;
  Places places_;
  std::optional<PrefixTree> prefixes_;
  int reserved_pages_ = 0, reserved_states_ = 0;
  std::deque<std::unique_ptr<Sequence>> waiting_;
  std::vector<std::unique_ptr<Sequence>> active_;  // by order of Add
  std::deque<Answer> answers_;
};

}  // namespace fullband
