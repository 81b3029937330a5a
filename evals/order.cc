#include "evals/order.h"

#include <algorithm>
#include <utility>

namespace fullband {

void LongestFirstAtTail(const std::vector<ExpectedLength>& expected, size_t tail,
                        std::vector<Wanted>* wanted) {
  double sum = 0;
  int known = 0;
  for (const ExpectedLength& length : expected) {
    sum += length.tokens.value_or(0);
    known += length.tokens.has_value();
  }
  const double mean = known > 0 ? sum / known : 0;
  const auto key = [&](const Wanted& sample) {
    const ExpectedLength& length = expected[sample.question];
    return std::pair(length.tokens.value_or(mean), length.prompt);
  };
  const auto begin = wanted->end() - static_cast<ptrdiff_t>(std::min(tail, wanted->size()));
  std::stable_sort(begin, wanted->end(), [&](const Wanted& a, const Wanted& b) { return key(a) > key(b); });
}

}  // namespace fullband
