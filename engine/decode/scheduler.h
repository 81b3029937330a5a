// Continuous batching: turns sequences into steps and runs them. Decides who runs when and where, never what
// comes out: every sequence's answer is its own.
//
// A step has one row of each sequence that decodes and is filled up, to `chunk` rows more, with prompts and
// continuations: first of sequences that have begun, then of those that wait. One that waits begins as soon
// as there are a slot, memory and room in the step, in the order of Add, unless another is about to run what
// it begins with, too: then those behind it go first.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "engine/compute/backend.h"
#include "engine/decode/batch_size.h"
#include "engine/decode/sequence.h"

namespace fullband {

struct SchedulerOptions {
  int batch = 0;             // sequences in flight at most; 0: as many as pay (BatchSize)
  int chunk = 256;           // rows of prompts and continuations a step at most, over all sequences
  int64_t kv_memory = 0;     // bytes of pages; a sequence that needs more runs alone
  int64_t prefix_cache = 0;  // bytes of pages, within kv_memory, that are kept for later prompts; 0: none
};

class Scheduler {
 public:
  // `backend` must outlive the scheduler.
  Scheduler(Backend* backend, const SchedulerOptions& options);

  const SchedulerOptions& options() const { return options_; }
  Memory memory() { return {&places_, prefixes_ ? &*prefixes_ : nullptr}; }
  void Add(std::unique_ptr<Sequence> sequence);
  // Runs steps until an answer is there; nothing where all are taken, or where `*stop` (may be null) is found
  // true between two steps.
  std::optional<Answer> Next(const std::atomic<bool>* stop);
  size_t pending() const { return waiting_.size() + active_.size() + answers_.size(); }
  // With so many pending there is always one that can begin where a slot is free.
  size_t enough() const;

 private:
  struct Entry {
    std::unique_ptr<Sequence> sequence;
    uint64_t number = 0;  // by order of Add, from 1
    // While it waits: whose beginning it waits for, and how long that must have become.
    uint64_t leader = 0;
    int needed = 0;
  };

  int64_t PromisedPages() const;
  bool HasSlot(const Sequence& sequence) const;
  bool HasMemory(const Sequence& sequence);
  bool MustWait(Entry* entry) const;
  int Begin(int left, Step* step);
  void NoteStep(int decode_rows, int prompt_rows, double seconds);
  void RunStep();
  void MakeRoom();
  void Collect();

  Backend* backend_;
  SchedulerOptions options_;
  BatchSize batch_;
  int64_t page_limit_;
  Places places_;
  std::optional<PrefixTree> prefixes_;
  int reserved_pages_ = 0, reserved_states_ = 0;
  uint64_t added_ = 0;
  std::deque<Entry> waiting_;  // by order of Add
  std::vector<Entry> active_;  // by order of beginning
  std::deque<Answer> answers_;
};

}  // namespace fullband
