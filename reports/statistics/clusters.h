// Several samples an item. Samples of one item go together (they are a cluster): what counts as evidence is
// items.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "reports/statistics/estimate.h"

namespace fullband {

// The scores of one item's samples, or whatever else is measured of each.
using ItemSamples = std::vector<double>;

// The mean over all samples with its standard error clustered by item (Liang and Zeger, Biometrika 73, 1986,
// 13-22; Miller, "Adding Error Bars to Evals", arXiv 2411.00640), times the usual correction G /
// (G - 1) for G items, and an interval by Student's t with G - 1 degrees of freedom. Where all items have
// equally many samples the mean is that of the items' means and the error StandardError of these. Of `error`
// and `interval` there is nothing with fewer than two items; equal items give an error of 0 and a point: for
// shares near 0 or 1 take WilsonInterval over items. Items without samples are left out. The interval may
// exceed what scores can be.
Estimate ClusteredMean(std::span<const ItemSamples> items, double level = 0.95);

// B's mean score less A's over the items that have samples in both, each item counting once, with the
// standard error of the items' differences and an interval by Student's t (Miller, paired differences): what
// items have in common cancels. Degenerate cases as above. Throws std::invalid_argument for lists of
// different lengths.
Estimate ClusteredDifference(std::span<const ItemSamples> a, std::span<const ItemSamples> b,
                             double level = 0.95);

// The two-sided p-value of ClusteredDifference's estimate: Student's paired t test on the items' differences,
// items - 1 degrees of freedom. 1 where no item differs. Nothing where all differ alike, and of fewer than
// two items: their spread is not known.
std::optional<double> ClusteredDifferenceP(const Estimate& difference);

}  // namespace fullband
