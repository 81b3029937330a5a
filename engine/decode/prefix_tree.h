// Prompts' beginnings that were run before, so that they need not be run again: per pass, the pages of keys
// and values with the states that a later pass or a fused position goes on from. Bookkeeping only; what is in
// the pages is the backend's. Sharing is exact: a position's row is a function of its pass and the tokens up
// to it.
#pragma once

#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/compute/step.h"
#include "engine/decode/pool.h"

namespace fullband {

// What, besides the tokens, a position's row depends on.
struct PrefixLine {
  int pass = 0;                      // from 0
  Control control = Control::kNone;  // only where inputs are fused
  bool exact = false;                // run as the recurrence
  auto operator<=>(const PrefixLine&) const = default;
};

// The positions of one page: as many as a page has, or fewer at a prompt's end.
struct PrefixPage {
  int32_t page = 0;
  std::vector<int32_t> states;   // slots, one a position
  std::vector<float> state_rms;  // as StepResult's, one a position
};

class PrefixTree {
 public:
  // Holds at most `max_pages` pages. `places` must outlive the tree.
  PrefixTree(Places* places, int max_pages);
  ~PrefixTree();
  PrefixTree(const PrefixTree&) = delete;
  PrefixTree& operator=(const PrefixTree&) = delete;

  // The longest beginning of `tokens` that the line has. Pages and slots stay the tree's: whoever goes on
  // from them shares them (whole pages) or copies (the last one, where `positions` ends inside it) before
  // anything is evicted.
  struct Match {
    int positions = 0;
    std::vector<int32_t> pages;
    std::vector<int32_t> states;   // per position
    std::vector<float> state_rms;  // per position
  };
  Match Find(const PrefixLine& line, std::span<const int32_t> tokens);

  // Adds the page that holds the last of `tokens`, which begin at position 0; shares its page and slots.
  // Nothing happens where it is there already, or the page before it is not.
  void Insert(const PrefixLine& line, std::span<const int32_t> tokens, const PrefixPage& page);

  // Gives back the page that was used longest ago and that no other page follows. False where there is none.
  bool Evict();
  int pages() const { return static_cast<int>(by_use_.size()); }

 private:
  struct Node;
  using Children = std::map<std::vector<int32_t>, std::unique_ptr<Node>>;
  struct Node {
    PrefixPage page;
    Children children;
    Children* siblings = nullptr;  // the map that holds this node
    Children::iterator self;
    std::list<Node*>::iterator use;
  };

  void Touch(const std::vector<Node*>& path);
  static Node* Nearest(Children* children, std::span<const int32_t> tokens, int* common);

  Places* places_;
  int max_pages_;
  std::map<PrefixLine, Children> lines_;
  std::list<Node*> by_use_;  // latest first; a page comes before those that follow it
};

}  // namespace fullband
