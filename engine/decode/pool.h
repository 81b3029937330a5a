// Host-side bookkeeping of what a backend holds in numbered places: key/value pages and state slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fullband {

// Numbered places with reference counts. The lowest free number is handed out first, so that what is in use
// stays dense and the backend need not hold more than the peak.
class Pool {
 public:
  // A place that nobody uses, with one reference.
  int32_t Take();
  // One more user of a place in use.
  void Share(int32_t place);
  // One user less; without users the place is free again.
  void Release(int32_t place);

  int users(int32_t place) const { return counts_[static_cast<size_t>(place)]; }
  int in_use() const { return in_use_; }
  // One more than the largest number ever handed out: what the backend must have room for.
  int high_water() const { return static_cast<int>(counts_.size()); }

 private:
  std::vector<int> counts_;
  std::vector<int32_t> free_;  // a heap, lowest first
  int in_use_ = 0;
};

// What the sequences of one backend share.
struct Places {
  Pool pages;
  Pool states;
  int page_size = 0;  // positions
};

}  // namespace fullband
