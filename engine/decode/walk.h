// The order in which one sequence's positions are run: prefill passes as a wavefront, then one position after
// another; with the pages and state slots that this takes. No requests, no results, no kernels.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "engine/compute/step.h"
#include "engine/decode/pool.h"
#include "engine/decode/setting.h"

namespace fullband {

// Slots of the states of consecutive positions.
class StateWindow {
 public:
  void Push(int position, int32_t slot);
  int32_t At(int position) const;  // throws where the state is not kept
  void DropBefore(int position, Pool* states);

 private:
  int first_ = 0;
  std::deque<int32_t> slots_;
};

class Walk {
 public:
  // The first `prefill` of `tokens` are run as the prompt, in the setting's passes; the others, up to
  // position `end`, and those appended later, are run after it as the mode says. `positions` bounds the
  // positions ever run.
  struct Plan {
    std::vector<int32_t> tokens;
    int prefill = 0;
    int end = 0;
    int positions = 0;
    Setting setting;
  };
  // `places` must outlive the walk; what the walk took from it goes back in the end.
  Walk(Plan plan, Places* places);
  ~Walk();
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  // Consecutive positions of one pass (counted from 0) that may run in one step.
  struct Chunk {
    int pass = 0;
    int position = 0;
    int count = 0;
    bool single = false;  // never longer than one position: it needs the state of the position before it
  };
  // What can run now, as long as possible; `count` is 0 where all known positions are done.
  Chunk Next() const;
  // Adds the chunk's rows and span to a step, and takes the pages and slots they need.
  void AddRows(const Chunk& chunk, Step* step);
  // After that step: moves on, and gives back what no later row reads.
  void Advance(const Chunk& chunk);
  // A token to be run after all others.
  void Append(int32_t token);

  const std::vector<int32_t>& tokens() const { return plan_.tokens; }
  const Setting& setting() const { return plan_.setting; }
  bool IsLastPass(int pass) const { return pass + 1 == static_cast<int>(passes_.size()); }
  bool prefilled() const { return passes_.back().done >= plan_.prefill; }
  // Pages that this walk may still take.
  int pages_ahead() const { return page_bound_ - pages_taken_; }

 private:
  struct Pass {
    int done = 0;  // positions run
    std::vector<int32_t> pages;
    StateWindow states;
  };

  bool Fused(int pass, int position) const;
  bool Keeps(int pass, int position) const;
  int StateSource(int pass, int position) const;  // the pass whose states a fused position reads
  int PagesFor(int positions) const;
  Row MakeRow(int pass, int position);
  void ReleasePass(Pass* pass);

  Plan plan_;
  Places* places_;
  std::vector<Pass> passes_;  // one where the prompt is run as the recurrence
  int page_bound_ = 0;
  int pages_taken_ = 0;
};

}  // namespace fullband
