#include "reports/comparisons/resampled.h"

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

void Resampled::Run() {
  for (auto& [count, group] : groups_) {
    const std::vector<std::optional<Interval>> intervals = BootstrapRatios(count, group.ratios);
    for (size_t i = 0; i < intervals.size(); ++i) *group.to[i] = intervals[i];
  }
  groups_.clear();
  columns_.clear();
}

}  // namespace fullband
