#include "reports/comparisons/paired_items.h"

#include <algorithm>

namespace fullband {
namespace {

ItemValues ValuesOf(const ItemResult& item, const std::string& grader) {
  ItemValues values;
  values.item = &item;
  values.answered = !item.samples.empty();
  double right = 0;
  bool fault = false, ungraded = false;
  for (const SampleResult& sample : item.samples) {
    const Result result = sample.Of(grader);
    fault |= result == Result::kFault;
    ungraded |= result == Result::kUngraded;
    right += result == Result::kCorrect;
    values.tokens += static_cast<double>(sample.trace_tokens);
    values.truncated |= sample.truncated;
  }
  values.result = fault ? Result::kFault : ungraded ? Result::kUngraded : Result::kIncorrect;
  if (values.answered) {
    const double samples = static_cast<double>(item.samples.size());
    values.score = right / samples;
    values.length = values.tokens / samples;
  }
  return values;
}

}  // namespace

RunValues::RunValues(const RunResults& results) : results_(results) {
  for (const ItemResult& item : results.items) {
    places_.emplace(item.item, items_.size());
    items_.push_back(ValuesOf(item, results.run.headline));
  }
}

const ItemValues* RunValues::Find(std::string_view item) const {
  const auto found = places_.find(item);
  return found == places_.end() ? nullptr : &items_[found->second];
}

PairedItems PairItems(const RunValues& a, const RunValues& b) {
  PairedItems pairs;
  pairs.a = &a.results();
  pairs.b = &b.results();
  int64_t left_of_b =
      std::count_if(b.items().begin(), b.items().end(), [](const ItemValues& y) { return y.answered; });
  for (size_t i = 0; i < a.items().size(); ++i) {
    const ItemValues& x = a.items()[i];
    // Runs mostly have the same items in the same order.
    const bool beside = i < b.items().size() && b.items()[i].item->item == x.item->item;
    const ItemValues* y = beside ? &b.items()[i] : b.Find(x.item->item);
    pairs.asked += y != nullptr;
    if (y && y->answered && x.answered) {
      --left_of_b;
      if (x.result == Result::kFault || y->result == Result::kFault) {
        ++pairs.faults;
      } else if (x.result == Result::kUngraded || y->result == Result::kUngraded) {
        ++pairs.ungraded;
      } else {
        pairs.valid.push_back({&x, y});
        pairs.places.push_back(pairs.asked - 1);
      }
    } else {
      pairs.unpaired += x.answered;
    }
  }
  pairs.unpaired += left_of_b;
  return pairs;
}

}  // namespace fullband
