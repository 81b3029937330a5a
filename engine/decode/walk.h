// The order in which one sequence's positions are run: prefill passes as a wavefront, then one position after
// another; with the pages and state slots that this takes. No requests, no results, no kernels.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "engine/compute/step.h"
#include "engine/decode/pool.h"
#include "engine/decode/prefix_tree.h"
#include "engine/decode/setting.h"

namespace fullband {

// Slots of the states of some positions, ascending.
class StateWindow {
 public:
  void Push(int position, int32_t slot) { slots_.emplace_back(position, slot); }
  int32_t At(int position) const;  // throws where the state is not kept
  void DropBefore(int position, Pool* states);

 private:
  std::deque<std::pair<int, int32_t>> slots_;
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
    int shareable = 0;  // this many of the prompt's positions other sequences may have, too
  };
  // `places` and `prefixes` (null: nothing is shared) must outlive the walk; what the walk took from them
  // goes back in the end.
  Walk(Plan plan, Places* places, PrefixTree* prefixes = nullptr);
  ~Walk();
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  // Before the first step: goes on from where earlier sequences left the same beginning, as far as every pass
  // has it, maybe all that is shareable. Returns the states' RMS that were not run for it.
  std::vector<float> Adopt();
  // Positions of every pass that Adopt would find now.
  int Adoptable() const;
  // How long a beginning that `other` has, too, this walk is about to leave; 0 where it will leave no more of
  // it than it has.
  int WillShareWith(const Walk& other) const;
  // Positions of every pass that others can go on from by now.
  int shared() const;

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
  // After that step: moves on, and gives back what no later row reads. `state_rms`: the rows', in order.
  void Advance(const Chunk& chunk, std::span<const float> state_rms);
  // A token to be run after all others.
  void Append(int32_t token);

  const std::vector<int32_t>& tokens() const { return plan_.tokens; }
  const Setting& setting() const { return plan_.setting; }
  // Positions of the last pass that were run or adopted.
  int done() const { return passes_.back().done; }
  // The slot of that position's state in the last pass; throws where it is not kept.
  int32_t StateSlot(int position) const { return passes_.back().states.At(position); }
  bool IsLastPass(int pass) const { return pass + 1 == static_cast<int>(passes_.size()); }
  bool prefilled() const { return done() >= plan_.prefill; }
  // Whether it goes on after the prompt.
  bool decodes() const { return plan_.positions > plan_.prefill; }
  // Pages that this walk may still take.
  int pages_ahead() const { return page_bound_ - pages_taken_; }

 private:
  struct Pass {
    int done = 0;  // positions run
    std::vector<int32_t> pages;
    StateWindow states;
    std::vector<float> state_rms;  // of the last, incomplete page, where that may be shared
  };

  PrefixLine LineOf(int pass) const;
  std::vector<PrefixTree::Match> FindPrefixes() const;
  void AdoptPass(int pass, const PrefixTree::Match& match, int positions);
  bool Shares(int position) const { return prefixes_ != nullptr && position < plan_.shareable; }
  void SharePages(int pass, int begin, std::span<const float> state_rms);
  void Trim(int pass);
  bool Fused(int pass, int position) const;
  bool Keeps(int pass, int position) const;
  int StateSource(int pass, int position) const;  // the pass whose states a fused position reads
  int PagesFor(int positions) const;
  Row MakeRow(int pass, int position);
  void ReleasePass(Pass* pass);
  void ReleaseSources();

  Plan plan_;
  Places* places_;
  PrefixTree* prefixes_;
  std::vector<PageCopy> copies_;  // for the next step
  std::vector<int32_t> sources_;  // their pages, nobody else's to overwrite before that step is over
  std::vector<Pass> passes_;      // one where the prompt is run as the recurrence
  int page_bound_ = 0;
  int pages_taken_ = 0;
};

}  // namespace fullband
