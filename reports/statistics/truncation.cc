#include "reports/statistics/truncation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "reports/statistics/critical.h"
#include "reports/statistics/summaries.h"

namespace fullband {

namespace {

void CheckLengths(std::span<const TraceLength> traces) {
  for (const TraceLength& trace : traces) {
    if (!(trace.tokens >= 0)) throw std::invalid_argument("a trace's length is negative");
  }
}

void CheckPairs(std::span<const TraceLength> a, std::span<const TraceLength> b) {
  if (a.size() != b.size())
    throw std::invalid_argument("the lists of trace lengths are of different lengths");
  CheckLengths(a);
  CheckLengths(b);
}

// Traces by length, each counted as often as a resample drew it: its curve takes one pass.
class SortedTraces {
 public:
  explicit SortedTraces(std::span<const TraceLength> traces) : traces_(traces), order_(traces.size()) {
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](size_t i, size_t j) { return traces[i].tokens < traces[j].tokens; });
  }

  // `times` as long as the traces.
  std::vector<SurvivalStep> Steps(std::span<const uint32_t> times) const {
    int64_t at_risk = std::accumulate(times.begin(), times.end(), int64_t{0});
    std::vector<SurvivalStep> steps;
    double longer = 1;
    for (size_t i = 0; i < order_.size();) {
      const double tokens = traces_[order_[i]].tokens;
      int64_t ended = 0, cut = 0;
      for (; i < order_.size() && traces_[order_[i]].tokens == tokens; ++i)
        (traces_[order_[i]].truncated ? cut : ended) += times[order_[i]];
      if (ended > 0) {
        longer *= static_cast<double>(at_risk - ended) / static_cast<double>(at_risk);
        steps.push_back({tokens, at_risk, ended, longer});
      }
      at_risk -= ended + cut;
    }
    return steps;
  }

 private:
  std::span<const TraceLength> traces_;
  std::vector<size_t> order_;
};

// The area below the curve from `from` up to the horizon; `step` is the first beyond `from`.
double Area(std::span<const SurvivalStep> steps, double horizon) {
  double area = 0, from = 0, longer = 1;
  for (const SurvivalStep& step : steps) {
    if (step.tokens >= horizon) break;
    area += longer * (step.tokens - from);
    from = step.tokens;
    longer = step.longer;
  }
  return area + longer * (horizon - from);
}

// The variance of the area: by step, the area behind it squared times what Greenwood counts for it.
double Variance(std::span<const SurvivalStep> steps, double horizon) {
  double variance = 0, behind = 0, until = horizon;
  for (size_t i = steps.size(); i-- > 0;) {
    const SurvivalStep& step = steps[i];
    if (step.tokens >= horizon) continue;
    behind += step.longer * (until - step.tokens);
    until = step.tokens;
    const int64_t left = step.at_risk - step.ended;
    if (left == 0) continue;  // the last trace: nothing lies behind
    variance += behind * behind * static_cast<double>(step.ended) /
                (static_cast<double>(step.at_risk) * static_cast<double>(left));
  }
  return variance;
}

struct Longest {
  double tokens = 0;
  bool truncated = false;  // some trace of that length is
};

Longest LongestOf(std::span<const TraceLength> traces) {
  Longest longest;
  for (const TraceLength& trace : traces) {
    if (trace.tokens > longest.tokens) longest = {trace.tokens, false};
    if (trace.tokens == longest.tokens) longest.truncated |= trace.truncated;
  }
  return longest;
}

// Up to where all curves are known, and no further than the budget.
double Horizon(std::span<const Longest> runs, std::optional<double> budget) {
  double horizon = 0;
  for (const Longest& longest : runs) horizon = std::max(horizon, longest.tokens);
  if (budget) horizon = *budget;
  for (const Longest& longest : runs) {
    if (longest.truncated) horizon = std::min(horizon, longest.tokens);
  }
  return horizon;
}

std::vector<uint32_t> Once(size_t count) { return std::vector<uint32_t>(count, 1); }

}  // namespace

std::vector<SurvivalStep> KaplanMeier(std::span<const TraceLength> traces) {
  CheckLengths(traces);
  return SortedTraces(traces).Steps(Once(traces.size()));
}

RestrictedMean RestrictedMeanOf(std::span<const TraceLength> traces, std::optional<double> budget,
                                double level) {
  const double reach = NormalReach(level);
  const std::vector<SurvivalStep> steps = KaplanMeier(traces);
  RestrictedMean result;
  result.mean.items = static_cast<int64_t>(traces.size());
  if (traces.empty()) return result;
  result.horizon = Horizon(std::array{LongestOf(traces)}, budget);
  const double mean = Area(steps, result.horizon);
  result.mean.value = mean;
  if (traces.size() < 2 || steps.empty() || steps.front().tokens > result.horizon) return result;
  const double error = std::sqrt(Variance(steps, result.horizon));
  result.mean.error = error;
  result.mean.interval = Interval{mean - reach * error, mean + reach * error};
  return result;
}

RestrictedMean PairedRestrictedDifference(std::span<const TraceLength> a, std::span<const TraceLength> b,
                                          std::optional<double> budget, const BootstrapOptions& options) {
  const PairOfTraces pair{0, 1, budget};
  return PairedRestrictedDifferences(std::array{a, b}, {&pair, 1}, options).front();
}

namespace {

// The restricted means that pairs of runs need, each once, and which of them are a pair's.
class RestrictedMeans {
 public:
  RestrictedMeans(std::span<const std::span<const TraceLength>> runs, std::span<const PairOfTraces> pairs) {
    std::vector<Longest> longest;
    for (const std::span<const TraceLength> run : runs) {
      CheckPairs(runs.front(), run);
      curves_.emplace_back(run);
      longest.push_back(LongestOf(run));
    }
    for (const PairOfTraces& pair : pairs) {
      const double horizon = Horizon(std::array{longest.at(pair.a), longest.at(pair.b)}, pair.budget);
      horizons_.push_back(horizon);
      places_.push_back({Add(pair.a, horizon), Add(pair.b, horizon)});
    }
    areas_.resize(wanted_.size());
  }

  // Works out all of them, each trace counted so many times.
  void WorkOut(std::span<const uint32_t> times) {
    for (const auto& [run, horizons] : by_run_) {
      const std::vector<SurvivalStep> steps = curves_[run].Steps(times);
      for (const size_t place : horizons) areas_[place] = Area(steps, wanted_[place]);
    }
  }
  double Difference(size_t pair) const { return areas_[places_[pair].second] - areas_[places_[pair].first]; }
  double HorizonOf(size_t pair) const { return horizons_[pair]; }

 private:
  size_t Add(size_t run, double horizon) {
    std::vector<size_t>& of_run = by_run_[run];
    for (const size_t place : of_run)
      if (wanted_[place] == horizon) return place;
    of_run.push_back(wanted_.size());
    wanted_.push_back(horizon);
    return of_run.back();
  }

  std::vector<SortedTraces> curves_;               // of the runs
  std::map<size_t, std::vector<size_t>> by_run_;   // places in `wanted_`
  std::vector<double> wanted_, areas_;             // horizons, and the means up to them
  std::vector<std::pair<size_t, size_t>> places_;  // of a pair's two means
  std::vector<double> horizons_;                   // of the pairs
};

}  // namespace

std::vector<RestrictedMean> PairedRestrictedDifferences(std::span<const std::span<const TraceLength>> runs,
                                                        std::span<const PairOfTraces> pairs,
                                                        const BootstrapOptions& options) {
  std::vector<RestrictedMean> results(pairs.size());
  if (pairs.empty()) return results;
  RestrictedMeans means(runs, pairs);
  const size_t items = runs.front().size();
  for (RestrictedMean& result : results) result.mean.items = static_cast<int64_t>(items);
  if (items == 0) return results;
  means.WorkOut(Once(items));
  for (size_t i = 0; i < pairs.size(); ++i) {
    results[i].horizon = means.HorizonOf(i);
    results[i].mean.value = means.Difference(i);
  }
  std::vector<std::vector<double>> drawn(pairs.size());
  const auto add = [&](std::span<const uint32_t> times) -> std::optional<double> {
    means.WorkOut(times);
    for (size_t i = 0; i < pairs.size(); ++i) drawn[i].push_back(means.Difference(i));
    return 0;
  };
  if (!Bootstrap(items, add, options)) return results;
  for (size_t i = 0; i < pairs.size(); ++i) results[i].mean.interval = PercentileInterval(drawn[i], options);
  return results;
}

TruncationSensitivity SensitivityToTruncation(std::span<const TraceLength> a, std::span<const TraceLength> b,
                                              std::span<const double> factors) {
  CheckPairs(a, b);
  TruncationSensitivity result;
  result.items = static_cast<int64_t>(a.size());
  std::vector<double> observed, finished;
  for (size_t i = 0; i < a.size(); ++i) {
    result.truncated_a += a[i].truncated;
    result.truncated_b += b[i].truncated;
    observed.push_back(b[i].tokens - a[i].tokens);
    if (!a[i].truncated && !b[i].truncated) finished.push_back(observed.back());
  }
  result.observed = Mean(observed);
  result.finished = Mean(finished);
  if (a.empty()) return result;
  for (const double factor : factors) {
    const auto length = [&](const TraceLength& trace) {
      return trace.truncated ? factor * trace.tokens : trace.tokens;
    };
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += length(b[i]) - length(a[i]);
    result.stretched.push_back({factor, sum / static_cast<double>(a.size())});
  }
  if (result.truncated_a != result.truncated_b) {
    const double tokens = *result.observed * static_cast<double>(result.items) /
                          static_cast<double>(result.truncated_a - result.truncated_b);
    if (tokens > 0) result.tipping_tokens = tokens;
  }
  return result;
}

}  // namespace fullband
