// pass@k: how likely k samples of an item hold a right one.
#pragma once

#include <cstdint>
#include <optional>

namespace fullband {

// The share of all choices of k out of `samples` that hold at least one of the `correct` ones, which is the
// unbiased estimator of pass@k (Chen et al. 2021, arXiv:2107.03374): 1 - C(n-c, k) / C(n, k). Nothing for
// k > samples, where it is not defined. Throws std::invalid_argument for counts that cannot be, k < 1
// included.
std::optional<double> PassAtK(int64_t samples, int64_t correct, int64_t k);

}  // namespace fullband
