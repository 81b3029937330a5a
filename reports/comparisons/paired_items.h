// The items that two runs have in common, and what each made of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reports/results.h"

namespace fullband {

// What one run made of an item, by its headline grader.
struct ItemValues {
  const ItemResult* item = nullptr;
  Result result = Result::kUngraded;  // kFault, kUngraded: some sample is; else of no meaning
  bool answered = false;              // has samples
  double score = 0;                   // mean over the samples that count
  double length = 0;                  // mean tokens of the traces
  double tokens = 0;                  // their sum
  bool truncated = false;             // some trace is

  bool Valid() const { return answered && result != Result::kFault && result != Result::kUngraded; }
};

// Of each item of a run, looked up once however many pairs the run is in.
class RunValues {
 public:
  explicit RunValues(const RunResults& results);
  const RunResults& results() const { return results_; }
  const std::vector<ItemValues>& items() const { return items_; }
  const ItemValues* Find(std::string_view item) const;

 private:
  const RunResults& results_;
  std::vector<ItemValues> items_;  // in the run's order
  std::unordered_map<std::string_view, size_t> places_;
};

struct ItemPair {
  const ItemValues *a = nullptr, *b = nullptr;
};

struct PairedItems {
  const RunResults *a = nullptr, *b = nullptr;
  std::vector<ItemPair> valid;  // in A's order
  std::vector<size_t> places;   // of each of these among the items asked for in both runs
  size_t asked = 0;             // items asked for in both runs
  int64_t faults = 0, ungraded = 0, unpaired = 0;
};

PairedItems PairItems(const RunValues& a, const RunValues& b);

}  // namespace fullband
