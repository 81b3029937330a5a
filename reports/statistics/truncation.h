// Trace lengths where some traces were cut: at the budget, at the end of the context, by a time limit.
// Lengths are tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reports/statistics/bootstrap.h"
#include "reports/statistics/estimate.h"

namespace fullband {

struct TraceLength {
  double tokens = 0;
  bool truncated = false;  // it would have been longer
};

// One step of Kaplan and Meier's estimate (Journal of the American Statistical Association 53, 1958,
// 457-481).
struct SurvivalStep {
  double tokens = 0;  // at which at least one trace ended by itself
  int64_t at_risk = 0, ended = 0;
  double longer = 1;  // the share of traces longer than `tokens`
};

// Ascending by tokens. A trace that was cut at a length counts as at risk there. It holds where a trace's cut
// says nothing of how long it would have become beyond that: a budget, a context; not a loop detector. No
// trace ended: no steps. Throws std::invalid_argument for a negative length.
std::vector<SurvivalStep> KaplanMeier(std::span<const TraceLength> traces);

struct RestrictedMean {
  Estimate mean;
  double horizon = 0;  // tokens
};

// The mean of min(length, horizon): the area below KaplanMeier's curve up to the horizon, standard error by
// Greenwood's formula (Klein and Moeschberger, Survival Analysis, 2nd ed., section 4.5), normal interval. The
// horizon is the budget, or the longest trace's length where that is less and was cut: beyond it nothing is
// known. Where all cuts are at the horizon it is the plain mean. No budget: the longest trace's. No traces:
// no value. Fewer than two traces, or none that ended up to the horizon: no error and no interval. Throws
// std::invalid_argument for negative lengths.
RestrictedMean RestrictedMeanOf(std::span<const TraceLength> traces,
                                std::optional<double> budget = std::nullopt, double level = 0.95);

// B's restricted mean less A's up to one horizon, over the same items: traces of an item go together, so that
// the interval is a bootstrap over items. The horizon is the budget, or the length of a run's longest trace
// where that is less and was cut; with neither, the longest trace's of both. Where a resample's longest trace
// is cut before the horizon, its curve goes on level (Gill, Censoring and Stochastic Integrals, 1980). No
// items: no value. One item: no interval. Throws std::invalid_argument for negative lengths or lists of
// different lengths.
RestrictedMean PairedRestrictedDifference(std::span<const TraceLength> a, std::span<const TraceLength> b,
                                          std::optional<double> budget = std::nullopt,
                                          const BootstrapOptions& options = {});

// Many pairs of runs at once: one drawing serves all, and a run's curve is made once however many pairs it is
// in. Each is as if it were alone. `runs` are as long as each other; a pair's numbers are places among them.
struct PairOfTraces {
  size_t a = 0, b = 0;
  std::optional<double> budget = {};
};
std::vector<RestrictedMean> PairedRestrictedDifferences(std::span<const std::span<const TraceLength>> runs,
                                                        std::span<const PairOfTraces> pairs,
                                                        const BootstrapOptions& options = {});

// How far the mean difference of lengths, B less A over the same items, hangs on what was cut.
struct TruncationSensitivity {
  int64_t items = 0, truncated_a = 0, truncated_b = 0;
  std::optional<double> observed;  // cut traces as long as they were when cut
  std::optional<double> finished;  // over the items that neither run cut
  // Had every cut trace become factor times as long as it was when cut.
  struct Stretched {
    double factor = 1, difference = 0;
  };
  std::vector<Stretched> stretched;  // in the order of the factors asked for; empty where there are no items
  // So many more tokens in every cut trace, in both runs alike, would turn the observed difference to 0 (a
  // tipping point); nothing where no number would: as many cut traces in both runs, those of the shorter side
  // not more often, or no difference observed.
  std::optional<double> tipping_tokens;
};

// Throws std::invalid_argument for lists of different lengths.
TruncationSensitivity SensitivityToTruncation(std::span<const TraceLength> a, std::span<const TraceLength> b,
                                              std::span<const double> factors);

}  // namespace fullband
