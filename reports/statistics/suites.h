// One figure of several suites: a mean over suites (macro) or over items (micro), of accuracies or of paired
// differences.
#pragma once

#include <cstdint>
#include <span>

#include "reports/statistics/estimate.h"

namespace fullband {

struct SuitesEstimate {
  int64_t suites = 0;  // that have items
  Estimate of;         // its `items` are those of all suites; no `error`
};

// Each suite's interval (whatever made it: Wilson's, Newcombe's, a bootstrap's) with the same level; the
// result's is of that level, too: squares of the distances from value to end are added, weighted (Zou, Huang
// and Zhang, Computational Statistics and Data Analysis 53, 2009, 1080-1085). Suites are independent and
// fixed: the interval says what other items of the same suites might give, not what other suites might. A
// suite without items is left out; no suite with items: no value. Of one suite the result is that suite's
// own. No interval where any suite that counts has none. Throws std::invalid_argument where a suite with
// items has no value.
SuitesEstimate MacroMean(std::span<const Estimate> suites);  // each suite counts once
SuitesEstimate MicroMean(std::span<const Estimate> suites);  // each item counts once

}  // namespace fullband
