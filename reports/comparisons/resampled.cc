#include "reports/comparisons/resampled.h"

#include <algorithm>
#include <utility>

namespace fullband {

void Resampled::Add(std::optional<Interval>* to, Column above, std::optional<Column> less,
                    std::optional<Column> below) {
  RatioOfSums ratio;
  ratio.above = Keep(std::move(above));
  if (less) ratio.less = Keep(std::move(*less));
  if (below) ratio.below = Keep(std::move(*below));
  Group& group = groups_[ratio.above.size()];
  group.ratios.push_back(ratio);
  group.to.push_back(to);
}

size_t Resampled::RestrictedGroup::Place(std::vector<TraceLength> run) {
  const auto same = [&](const std::vector<TraceLength>& other) {
    return std::equal(run.begin(), run.end(), other.begin(), other.end(),
                      [](const TraceLength& x, const TraceLength& y) {
                        return x.tokens == y.tokens && x.truncated == y.truncated;
                      });
  };
  const auto found = std::find_if(runs.begin(), runs.end(), same);
  const size_t place = static_cast<size_t>(found - runs.begin());
  if (found == runs.end()) runs.push_back(std::move(run));
  return place;
}

void Resampled::AddRestricted(std::optional<Interval>* to, std::vector<TraceLength> a,
                              std::vector<TraceLength> b, std::optional<double> budget) {
  RestrictedGroup& group = restricted_[a.size()];
  const size_t place_a = group.Place(std::move(a)), place_b = group.Place(std::move(b));
  group.pairs.push_back({place_a, place_b, budget});
  group.to.push_back(to);
}

void Resampled::Run() {
  for (auto& [count, group] : groups_) {
    const std::vector<std::optional<Interval>> intervals = BootstrapRatios(count, group.ratios);
    for (size_t i = 0; i < intervals.size(); ++i) *group.to[i] = intervals[i];
  }
  for (auto& [count, group] : restricted_) {
    const std::vector<std::span<const TraceLength>> runs(group.runs.begin(), group.runs.end());
    const std::vector<RestrictedMean> means = PairedRestrictedDifferences(runs, group.pairs);
    for (size_t i = 0; i < means.size(); ++i) *group.to[i] = means[i].mean.interval;
  }
  groups_.clear();
  restricted_.clear();
  columns_.clear();
}

}  // namespace fullband
