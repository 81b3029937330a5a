// Bootstrap intervals of many pairs by few drawings.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "reports/statistics/bootstrap.h"
#include "reports/statistics/estimate.h"
#include "reports/statistics/truncation.h"

namespace fullband {

// Collects ratios of sums over items and works out their intervals together: those over equally many items
// share a drawing, equal columns are kept and summed once.
class Resampled {
 public:
  using Column = std::vector<double>;  // a value for each item

  // The interval of (above - less) / below, as RatioOfSums has it, goes to `*to` in Run; `to` stays valid
  // until then. Without `less` nothing is taken away, without `below` it is a mean. All of one length.
  void Add(std::optional<Interval>* to, Column above, std::optional<Column> less = std::nullopt,
           std::optional<Column> below = std::nullopt);
  // The interval of PairedRestrictedDifference.
  void AddRestricted(std::optional<Interval>* to, std::vector<TraceLength> a, std::vector<TraceLength> b,
                     std::optional<double> budget);
  void Run();

 private:
  struct Group {  // of one number of items
    std::vector<RatioOfSums> ratios;
    std::vector<std::optional<Interval>*> to;
  };
  struct RestrictedGroup {
    std::vector<std::vector<TraceLength>> runs;  // each once
    std::vector<PairOfTraces> pairs;
    std::vector<std::optional<Interval>*> to;

    size_t Place(std::vector<TraceLength> run);
  };
  std::span<const double> Keep(Column column) { return *columns_.insert(std::move(column)).first; }

  std::set<Column> columns_;  // their memory stays where it is
  std::map<size_t, Group> groups_;
  std::map<size_t, RestrictedGroup> restricted_;
};

}  // namespace fullband
