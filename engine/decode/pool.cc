#include "engine/decode/pool.h"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace fullband {

int32_t Pool::Take() {
  ++in_use_;
  if (free_.empty()) {
    counts_.push_back(1);
    return static_cast<int32_t>(counts_.size() - 1);
  }
  std::pop_heap(free_.begin(), free_.end(), std::greater<>());
  const int32_t place = free_.back();
  free_.pop_back();
  counts_[static_cast<size_t>(place)] = 1;
  return place;
}

void Pool::Share(int32_t place) {
  int& count = counts_.at(static_cast<size_t>(place));
  if (count < 1) throw std::logic_error("a free place was shared");
  ++count;
}

void Pool::Release(int32_t place) {
  int& count = counts_.at(static_cast<size_t>(place));
  if (count < 1) throw std::logic_error("a place was released twice");
  if (--count > 0) return;
  --in_use_;
  free_.push_back(place);
  std::push_heap(free_.begin(), free_.end(), std::greater<>());
}

}  // namespace fullband
