// Two runs over the same items, item by item.
//
// Evidence is items. Where items have one sample each in both runs, accuracies have Wilson's interval, their
// difference Newcombe's, and the test is McNemar's, exact. Where they have several, an item's value is the
// mean over its samples, errors are clustered by item and the test is Student's t on the items' differences.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/comparisons/costs.h"
#include "reports/comparisons/lengths.h"
#include "reports/comparisons/parting.h"
#include "reports/results.h"
#include "reports/statistics/estimate.h"
#include "reports/statistics/proportions.h"

namespace fullband {

struct RunPair {
  const RunResults *a = nullptr, *b = nullptr;
};

struct Comparison {
  const RunResults* a = nullptr;
  const RunResults* b = nullptr;
  bool same_model = false, same_setting = false;
  // Names and values of what differs between the runs' identities beyond what is compared, e.g.
  // "max_new_tokens (256, 512)": beyond the setting for one model, beyond the model and what comes with it
  // for two. Where there is any, no difference may be put down to the setting or the model.
  std::vector<std::string> also_differs;

  int64_t items = 0;     // in both runs, with a valid verdict of the headline grader in each
  int64_t faults = 0;    // in both runs, left out: some sample of the item is a fault
  int64_t ungraded = 0;  // in both runs, left out: some sample has no verdict yet
  int64_t unpaired = 0;  // asked and answered in one run only

  bool single = false;  // each item has one sample in either run
  PairedCounts counts;  // only where `single`

  // Shares of those items; `error` only where there are several samples.
  Estimate accuracy_a, accuracy_b;
  Estimate accuracy;  // B less A
  // That so large a difference is chance, two-sided. Nothing where no test can be made: no items, or several
  // samples and items that all differ alike.
  std::optional<double> p;

  // Set by CorrectFamilies (reports/comparisons/families.h).
  int64_t family = 0;                  // tests among which this one was corrected
  std::optional<double> adjusted_p;    // Holm's
  std::optional<double> items_needed;  // to see such a difference, where adjusted_p is not at most 5 %

  // Only where text is generated and both runs know what it takes.
  std::optional<LengthComparison> lengths;
  std::optional<double> identical;  // share of items whose traces are the same token by token

  // Set by AddSources (reports/comparisons/sources.h), where there is anything to say.
  std::optional<Parting> parting;
  std::optional<CostComparison> cost;
};

// Of runs of the same suite; in the order of the pairs. Each is as if it were compared alone: together they
// take less time, since one bootstrap serves them all.
std::vector<Comparison> CompareAll(std::span<const RunPair> pairs);
Comparison Compare(const RunResults& a, const RunResults& b);

// Chances of errors that reports go by, and the power that `items_needed` has.
inline constexpr double kSignificance = 0.05, kPower = 0.8;

}  // namespace fullband
