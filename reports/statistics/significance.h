// Tests of whether a difference may be chance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fullband {

// Exact two-sided McNemar test (binomial; Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13,
// 2013, 91): the chance of a split of the discordant items at least this uneven under a fair coin. 1 where
// there are none. Below 1e-308 it may be 0. Throws std::invalid_argument for negative counts.
double McNemarExact(int64_t only_a, int64_t only_b);

// The p-values of a family of tests, in the same order, so that calling those at most alpha significant errs
// in any of the family with a chance of at most alpha, however the tests depend on each other (Holm,
// Scandinavian Journal of Statistics 6, 1979, 65-70): the i-th smallest of m (i from 0) times m - i, never
// less than those before it, 1 at most. Equal p-values stay equal. An empty family is empty; a family of one
// is left as it is. Throws std::invalid_argument for what is not among 0 .. 1.
std::vector<double> HolmAdjusted(std::span<const double> p_values);

}  // namespace fullband
