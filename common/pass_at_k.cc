#include "common/pass_at_k.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace fullband {

std::optional<double> PassAtK(int64_t samples, int64_t correct, int64_t k) {
  if (samples < 0 || correct < 0 || correct > samples || k < 1)
    throw std::invalid_argument("PassAtK: no such counts");
  if (k > samples) return std::nullopt;
  if (correct == 0) return 0.0;
  if (samples - correct < k) return 1.0;
  if (k == 1) return static_cast<double>(correct) / static_cast<double>(samples);
  // C(n-c, k) / C(n, k) = C(n-k, c) / C(n, c): the product of the fewer factors, each below 1. In logarithms
  // neither many factors nor a chance near 0 costs digits.
  const int64_t few = std::min(correct, k), many = std::max(correct, k);
  double log_none = 0;
  for (int64_t i = 0; i < few; ++i)
    log_none += std::log1p(-static_cast<double>(many) / static_cast<double>(samples - i));
  return -std::expm1(log_none);
}

}  // namespace fullband
