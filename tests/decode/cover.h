// A pairwise cover: few rows of values such that any two values of different factors stand together in one of
// them. Faults of scheduling come of one circumstance or of two that meet.
#pragma once

#include <cstddef>
#include <vector>

namespace fullband {

// values[f] of factor f, each from 0.
using CoverRow = std::vector<size_t>;

// How many pairs of values are in none of the rows. `sizes[f]`: how many values factor f has.
size_t MissingPairs(const std::vector<size_t>& sizes, const std::vector<CoverRow>& rows);

// The same rows for the same sizes on every platform.
std::vector<CoverRow> PairwiseCover(const std::vector<size_t>& sizes);

}  // namespace fullband
