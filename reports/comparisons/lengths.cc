#include "reports/comparisons/lengths.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "reports/statistics/summaries.h"

namespace fullband {
namespace {

using Column = Resampled::Column;

TracesOf Of(const std::vector<double>& lengths) {
  return {static_cast<int64_t>(lengths.size()), Mean(lengths)};
}

TraceFigures FiguresOf(const PairedItems& pairs, const ItemValues* ItemPair::*side, const RunResults& run) {
  std::vector<double> items, all, right, wrong, cut;
  for (const ItemPair& pair : pairs.valid) {
    const ItemValues& values = *(pair.*side);
    items.push_back(values.length);
    for (const SampleResult& sample : values.item->samples) {
      const double length = static_cast<double>(sample.trace_tokens);
      all.push_back(length);
      (sample.Of(run.run.headline) == Result::kCorrect ? right : wrong).push_back(length);
      if (sample.truncated) cut.push_back(length);
    }
  }
  TraceFigures figures;
  figures.mean = Mean(items);
  figures.all = Of(all);
  figures.right = Of(right);
  figures.wrong = Of(wrong);
  if (run.Knows("stop_reason")) figures.truncated = Of(cut);
  std::sort(all.begin(), all.end());
  figures.percentile10 = Quantile(all, 0.1);
  figures.percentile25 = Quantile(all, 0.25);
  figures.median = Quantile(all, 0.5);
  figures.percentile75 = Quantile(all, 0.75);
  figures.percentile90 = Quantile(all, 0.9);
  return figures;
}

// The samples of each item, where all have equally many in both runs.
std::optional<size_t> SamplesOfAll(const PairedItems& pairs) {
  std::optional<size_t> samples;
  for (const ItemPair& pair : pairs.valid) {
    for (const ItemValues* values : {pair.a, pair.b}) {
      const size_t count = values->item->samples.size();
      if (samples.value_or(count) != count) return std::nullopt;
      samples = count;
    }
  }
  return samples;
}

// Over the items that count, drawn from all that both runs were asked.
void Differ(const PairedItems& pairs, const std::function<bool(const ItemPair&)>& counts,
            LengthDifference* to, Resampled* resampled) {
  // An item's tokens rather than its mean, where that comes to the same: whole numbers take less time.
  const std::optional<size_t> samples = SamplesOfAll(pairs);
  const auto value = [&](const ItemValues& values) { return samples ? values.tokens : values.length; };
  const double one = static_cast<double>(samples.value_or(1));
  Column a(pairs.asked), b(pairs.asked), ones(pairs.asked);
  std::vector<double> lengths_a, lengths_b, differences;
  for (size_t i = 0; i < pairs.valid.size(); ++i) {
    const ItemPair& pair = pairs.valid[i];
    if (!counts(pair)) continue;
    const size_t place = pairs.places[i];
    a[place] = value(*pair.a);
    b[place] = value(*pair.b);
    ones[place] = one;
    lengths_a.push_back(pair.a->length);
    lengths_b.push_back(pair.b->length);
    differences.push_back(pair.b->length - pair.a->length);
  }
  to->items = static_cast<int64_t>(differences.size());
  to->mean_a = Mean(lengths_a);
  to->mean_b = Mean(lengths_b);
  to->difference.items = to->ratio.items = to->items;
  to->difference.value = Mean(differences);
  if (to->mean_a && *to->mean_a > 0) to->ratio.value = *to->mean_b / *to->mean_a;
  if (to->items < 2) return;  // every resample that has the one would be the same
  resampled->Add(&to->difference.interval, b, a, ones);
  if (to->ratio.value) resampled->Add(&to->ratio.interval, std::move(b), std::nullopt, std::move(a));
}

int Sign(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

bool SignHolds(const TruncationSensitivity& sensitivity) {
  const int sign = Sign(*sensitivity.observed);
  if (sign == 0 || (sensitivity.finished && Sign(*sensitivity.finished) != sign)) return false;
  return std::all_of(sensitivity.stretched.begin(), sensitivity.stretched.end(),
                     [&](const auto& stretched) { return Sign(stretched.difference) == sign; });
}

void CompareCut(const PairedItems& pairs, std::optional<double> budget, CutTraces* to, Resampled* resampled) {
  std::vector<TraceLength> a, b;
  for (const ItemPair& pair : pairs.valid) {
    a.push_back({pair.a->length, pair.a->truncated});
    b.push_back({pair.b->length, pair.b->truncated});
  }
  to->sensitivity = SensitivityToTruncation(a, b, kStretches);
  to->sign_holds = SignHolds(to->sensitivity);
  BootstrapOptions none;
  none.resamples = 0;
  to->restricted = PairedRestrictedDifference(a, b, budget, none);
  if (a.size() < 2) return;
  const double horizon = to->restricted.horizon;
  const auto cut_before = [&](const TraceLength& trace) { return trace.truncated && trace.tokens < horizon; };
  if (std::any_of(a.begin(), a.end(), cut_before) || std::any_of(b.begin(), b.end(), cut_before)) {
    resampled->AddRestricted(&to->restricted.mean.interval, std::move(a), std::move(b), budget);
    return;
  }
  // All cuts are at the horizon: it is the plain difference of min(length, horizon), in no time.
  Column up_to_a(pairs.asked), up_to_b(pairs.asked), ones(pairs.asked);
  for (size_t i = 0; i < pairs.valid.size(); ++i) {
    up_to_a[pairs.places[i]] = std::min(a[i].tokens, horizon);
    up_to_b[pairs.places[i]] = std::min(b[i].tokens, horizon);
    ones[pairs.places[i]] = 1;
  }
  resampled->Add(&to->restricted.mean.interval, std::move(up_to_b), std::move(up_to_a), std::move(ones));
}

}  // namespace

void CompareLengths(const PairedItems& pairs, std::optional<double> budget, LengthComparison* to,
                    Resampled* resampled) {
  to->a = FiguresOf(pairs, &ItemPair::a, *pairs.a);
  to->b = FiguresOf(pairs, &ItemPair::b, *pairs.b);
  Differ(
      pairs, [](const ItemPair&) { return true; }, &to->all, resampled);
  Differ(
      pairs, [](const ItemPair& pair) { return pair.a->score == 1 && pair.b->score == 1; }, &to->right,
      resampled);
  if (!to->a.truncated || !to->b.truncated) return;
  Differ(
      pairs, [](const ItemPair& pair) { return !pair.a->truncated && !pair.b->truncated; },
      &to->finished.emplace(), resampled);
  const bool single = pairs.a->samples_per_item <= 1 && pairs.b->samples_per_item <= 1;
  if (single && to->a.truncated->traces + to->b.truncated->traces > 0)
    CompareCut(pairs, budget, &to->cut.emplace(), resampled);
}

}  // namespace fullband
