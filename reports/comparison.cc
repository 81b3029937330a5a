#include "reports/comparison.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <unordered_map>

#include "reports/comparisons/identities.h"
#include "reports/comparisons/paired_items.h"
#include "reports/comparisons/resampled.h"
#include "reports/statistics/clusters.h"
#include "reports/statistics/significance.h"
#include "reports/statistics/summaries.h"

namespace fullband {

namespace {

PairedCounts CountsOf(const PairedItems& pairs) {
  PairedCounts counts;
  for (const ItemPair& pair : pairs.valid) {
    const bool a = pair.a->score == 1, b = pair.b->score == 1;
    counts.both += a && b;
    counts.only_a += a && !b;
    counts.only_b += !a && b;
    counts.neither += !a && !b;
  }
  return counts;
}

Estimate WilsonShare(int64_t right, int64_t items) {
  Estimate estimate;
  estimate.items = items;
  if (items == 0) return estimate;
  estimate.value = static_cast<double>(right) / static_cast<double>(items);
  estimate.interval = WilsonInterval(static_cast<double>(right), items);
  return estimate;
}

std::vector<ItemSamples> ScoresOf(const PairedItems& pairs, const ItemValues* ItemPair::*side) {
  std::vector<ItemSamples> scores;
  for (const ItemPair& pair : pairs.valid) scores.push_back({(pair.*side)->score});
  return scores;
}

// Of the items' mean scores. Within what shares can be; where all items have the same, and so no spread,
// Wilson's interval over items.
Estimate ClusteredShare(const std::vector<ItemSamples>& scores) {
  Estimate estimate = ClusteredMean(scores);
  if (!estimate.error || *estimate.error == 0) {
    double right = 0;
    for (const ItemSamples& item : scores) right += item.front();
    if (estimate.items > 0) estimate.interval = WilsonInterval(right, estimate.items);
  } else {
    estimate.interval =
        Interval{std::max(estimate.interval->low, 0.0), std::min(estimate.interval->high, 1.0)};
  }
  return estimate;
}

void CompareAccuracy(const PairedItems& pairs, Comparison* comparison) {
  if (comparison->single) {
    const PairedCounts counts = comparison->counts = CountsOf(pairs);
    comparison->accuracy_a = WilsonShare(counts.both + counts.only_a, comparison->items);
    comparison->accuracy_b = WilsonShare(counts.both + counts.only_b, comparison->items);
    comparison->accuracy = PairedProportionDifference(counts);
    if (comparison->items > 0) comparison->p = McNemarExact(counts.only_a, counts.only_b);
    return;
  }
  const std::vector<ItemSamples> a = ScoresOf(pairs, &ItemPair::a), b = ScoresOf(pairs, &ItemPair::b);
  comparison->accuracy_a = ClusteredShare(a);
  comparison->accuracy_b = ClusteredShare(b);
  comparison->accuracy = ClusteredDifference(a, b);
  comparison->p = ClusteredDifferenceP(comparison->accuracy);
}

std::optional<double> SameTraces(const PairedItems& pairs) {
  const auto same = [](const ItemPair& pair) {
    const std::vector<SampleResult>&a = pair.a->item->samples, &b = pair.b->item->samples;
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const SampleResult& x, const SampleResult& y) {
                        return x.sample == y.sample && x.tokens_sha256 == y.tokens_sha256;
                      });
  };
  if (pairs.valid.empty()) return std::nullopt;
  return static_cast<double>(std::count_if(pairs.valid.begin(), pairs.valid.end(), same)) /
         static_cast<double>(pairs.valid.size());
}

// What several pairs share.
struct Work {
  Identities identities;
  std::unordered_map<const RunResults*, RunValues> values;
  Resampled resampled;

  const RunValues& Of(const RunResults* run) { return values.try_emplace(run, *run).first->second; }

  // The most tokens that either run may generate.
  std::optional<double> Budget(const RunResults& a, const RunResults& b) {
    std::optional<double> budget;
    for (const RunResults* run : {&a, &b}) {
      const double most = std::atof(identities.Leaf(*run, "max_new_tokens").c_str());
      if (most > 0) budget = budget ? std::min(*budget, most) : most;
    }
    return budget;
  }
};

void CompareItems(const RunPair& runs, Comparison* comparison, Work* work) {
  const RunResults &a = *runs.a, &b = *runs.b;
  comparison->a = &a;
  comparison->b = &b;
  comparison->same_model = a.run.model_id == b.run.model_id;
  comparison->same_setting = a.run.setting == b.run.setting;
  comparison->also_differs = work->identities.Differences(a, b);
  const PairedItems pairs = PairItems(work->Of(&a), work->Of(&b));
  comparison->items = static_cast<int64_t>(pairs.valid.size());
  comparison->faults = pairs.faults;
  comparison->ungraded = pairs.ungraded;
  comparison->unpaired = pairs.unpaired;
  comparison->single = a.samples_per_item <= 1 && b.samples_per_item <= 1;
  CompareAccuracy(pairs, comparison);
  if (a.run.ask != "generate" || b.run.ask != "generate") return;
  if (SameTokens(a, b)) comparison->identical = SameTraces(pairs);
  if (a.Knows("trace_tokens") && b.Knows("trace_tokens"))
    CompareLengths(pairs, work->Budget(a, b), &comparison->lengths.emplace(), &work->resampled);
}

}  // namespace

std::vector<Comparison> CompareAll(std::span<const RunPair> pairs) {
  std::vector<Comparison> comparisons(pairs.size());
  Work work;
  for (size_t i = 0; i < pairs.size(); ++i) CompareItems(pairs[i], &comparisons[i], &work);
  work.resampled.Run();
  return comparisons;
}

Comparison Compare(const RunResults& a, const RunResults& b) {
  const RunPair pair{&a, &b};
  return CompareAll({&pair, 1}).front();
}

}  // namespace fullband
