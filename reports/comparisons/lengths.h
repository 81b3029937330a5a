// How long two runs' traces are, item by item. Lengths are tokens of the kept text (trace_tokens); those of
// an item with several samples are averaged where items are compared.
#pragma once

#include <cstdint>
#include <optional>

#include "reports/comparisons/paired_items.h"
#include "reports/comparisons/resampled.h"
#include "reports/statistics/estimate.h"
#include "reports/statistics/truncation.h"

namespace fullband {

// Some traces of a run: how many, and their mean length.
struct TracesOf {
  int64_t traces = 0;
  std::optional<double> mean;
};

// One run's traces of the items that are compared.
struct TraceFigures {
  std::optional<double> mean;  // over items
  // Over traces.
  std::optional<double> percentile10, percentile25, median, percentile75, percentile90;
  TracesOf all, right, wrong;         // by the headline grader; wrong is all that is not right
  std::optional<TracesOf> truncated;  // nothing where it is not known
};

// B and A over some of the items, each item counting once. Bootstrap intervals.
struct LengthDifference {
  int64_t items = 0;
  std::optional<double> mean_a, mean_b;
  Estimate difference;  // B less A, tokens
  Estimate ratio;       // B's mean over A's
};

// What cut traces do to the difference, where there are any.
struct CutTraces {
  // The difference of mean min(length, horizon): what can be known.
  RestrictedMean restricted;
  TruncationSensitivity sensitivity;  // with kStretches
  // Whether B is longer, or shorter, however long the cut traces would have become: observed, without the
  // items that were cut, and stretched by every factor.
  bool sign_holds = false;
};
inline constexpr double kStretches[] = {1.5, 2, 4};

struct LengthComparison {
  TraceFigures a, b;
  LengthDifference all;
  LengthDifference right;                    // items that both got right in all samples
  std::optional<LengthDifference> finished;  // items that neither cut; nothing where that is not known
  std::optional<CutTraces> cut;              // only where each item has one sample and some trace was cut
};

// `budget`: the most tokens that either run was allowed, where it is known. Intervals are there once
// `resampled` has run, and go to where the comparison then is: `*to` stays in its place.
void CompareLengths(const PairedItems& pairs, std::optional<double> budget, LengthComparison* to,
                    Resampled* resampled);

}  // namespace fullband
