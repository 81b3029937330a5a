// Shares of items that are right, of one run and of two runs over the same items.
#pragma once

#include <cstdint>

#include "reports/statistics/estimate.h"

namespace fullband {

// Wilson's score interval (1927) for a proportion of `successes` among `trials`, without continuity
// correction. `successes` may be fractional (means over samples): the interval is then a little wide, since
// the mean of an item's samples varies less than one sample. No trials: 0 to 1. All or none right: the
// interval ends at 1 or 0 exactly and is not a point. Throws std::invalid_argument unless 0 <= successes <=
// trials.
Interval WilsonInterval(double successes, int64_t trials, double level = 0.95);

// Two runs' verdicts on the same items, one of each an item, as numbers of items.
struct PairedCounts {
  int64_t both = 0, only_a = 0, only_b = 0, neither = 0;  // right

  int64_t Items() const { return both + only_a + only_b + neither; }
  PairedCounts& operator+=(const PairedCounts& other);
};

// B's share of right items less A's, with Newcombe's interval (Statistics in Medicine 17, 1998, 2635-2650,
// method 10): both shares' Wilson intervals, put together with their correlation, which is corrected towards
// zero. Chosen because it stays within -1 .. 1, is no point where no pair is discordant, and covers as it
// promises from a few items on, which the usual interval (Wald's) does not (Fagerland, Lydersen and Laake,
// Statistics in Medicine 33, 2014, 2850-2875; scripts/simulate_coverage). A and B exchanged give the same
// with the signs turned. Near p = 0.05 it and the exact McNemar test may disagree: the test is the more
// cautious. No items: no value and no interval. One item: an interval of nearly the whole range. Throws
// std::invalid_argument for negative counts.
Estimate PairedProportionDifference(const PairedCounts& counts, double level = 0.95);

}  // namespace fullband
