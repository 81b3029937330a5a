// Two runs over the same items, item by item.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/results.h"
#include "reports/statistics/estimate.h"

namespace fullband {

// The mean of an item's value in B less that in A, with a 95 % bootstrap interval over items.
struct PairedDifference {
  int64_t items = 0;
  std::optional<double> mean;
  std::optional<Interval> interval;
};

struct Comparison {
  const RunResults* a = nullptr;
  const RunResults* b = nullptr;
  // Names and values of what else than the setting differs between the runs' identities, e.g. "max_new_tokens
  // (256, 512)". Where there is any, no difference may be put down to the setting.
  std::vector<std::string> also_differs;

  int64_t items = 0;     // in both runs, with a valid verdict of the headline grader in each
  int64_t faults = 0;    // in both runs, left out: some sample of the item is a fault
  int64_t ungraded = 0;  // in both runs, left out: some sample has no verdict yet
  int64_t unpaired = 0;  // asked and answered in one run only

  // Only where each item has one sample in either run.
  bool single = false;
  int64_t both = 0, only_a = 0, only_b = 0, neither = 0;
  double p = 1;  // exact McNemar

  PairedDifference accuracy;  // of the items' scores

  // Trace lengths, by an item's mean over its samples.
  PairedDifference length;           // all items
  PairedDifference length_finished;  // items that neither run truncated
  PairedDifference length_right;     // items that both got right in all samples
  std::optional<double> identical;   // share of items whose traces are the same token by token
};

// Both runs are of the same suite; they may be of different models.
Comparison Compare(const RunResults& a, const RunResults& b);

// The pairs of settings to compare: runs of the same weights, suite, format and shots, in the order of `runs`
// (as ReadResults sorts them). Pairs that differ in more than their setting are left out where the same two
// settings also come in a pair that does not.
std::vector<Comparison> CompareSettings(std::span<const RunResults> runs);

}  // namespace fullband
