#include "reports/budgets.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "reports/statistics/clusters.h"
#include "reports/statistics/proportions.h"

namespace fullband {
namespace {

// The verdicts on one item's samples at one budget.
struct Verdicts {
  std::vector<double> scores;  // of those that count
  size_t there = 0;
};

struct PointVerdicts {
  BudgetFigures point;
  std::vector<Verdicts> items;  // as RunResults::items
};

using ByBudget = std::map<int64_t, PointVerdicts>;

void AddOutcome(const BudgetOutcome& outcome, const ItemResult& item, Verdicts* verdicts,
                BudgetFigures* point) {
  ++verdicts->there;
  point->uncertain += !outcome.certain;
  const auto sample = std::find_if(item.samples.begin(), item.samples.end(), [&](const SampleResult& result) {
    return result.sample == outcome.sample;
  });
  if (sample != item.samples.end() && !sample->fault) {
    ++point->samples;
    point->truncated += outcome.truncated;
  }
  if (outcome.outcome != "fault") verdicts->scores.push_back(outcome.outcome == "correct" ? 1 : 0);
}

double MeanOf(const std::vector<double>& scores) {
  double sum = 0;
  for (const double score : scores) sum += score;
  return sum / static_cast<double>(scores.size());
}

BudgetFigures Conclude(const RunResults& results, PointVerdicts verdicts) {
  BudgetFigures point = std::move(verdicts.point);
  std::vector<ItemSamples> scores;
  bool several = false;
  for (size_t i = 0; i < results.items.size(); ++i) {
    const Verdicts& item = verdicts.items[i];
    const size_t samples = results.items[i].samples.size();
    BudgetItem& scored = point.item_scores.emplace_back();
    point.ungraded += static_cast<int64_t>(samples - std::min(samples, item.there));
    scored.complete = samples > 0 && item.scores.size() == samples;
    if (item.scores.empty()) continue;
    scored.score = MeanOf(item.scores);
    ++point.items;
    point.correct += *scored.score;
    scores.push_back({*scored.score});
    several |= item.scores.size() > 1;
  }
  point.interval = IntervalOfScores(scores, several).interval;
  if (point.items > 0) point.share = point.correct / static_cast<double>(point.items);
  if (point.samples > 0)
    point.truncated_share = static_cast<double>(point.truncated) / static_cast<double>(point.samples);
  return point;
}

BudgetCurve ReadCurve(Store& store, const RunResults& results) {
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < results.items.size(); ++i) places[results.items[i].item] = i;
  ByBudget by_budget;
  std::set<int> versions;
  store.ForEachBudgetOutcome(results.run.id, results.run.headline, [&](const BudgetOutcome& outcome) {
    const auto place = places.find(outcome.item);
    if (place == places.end()) return;  // a run at work has just added it
    PointVerdicts& at = by_budget[outcome.budget];
    if (at.items.empty()) at.items.resize(results.items.size());
    at.point.budget = outcome.budget;
    versions.insert(outcome.version);
    AddOutcome(outcome, results.items[place->second], &at.items[place->second], &at.point);
  });
  BudgetCurve curve;
  curve.results = &results;
  curve.versions.assign(versions.begin(), versions.end());
  for (auto& [budget, verdicts] : by_budget) curve.points.push_back(Conclude(results, std::move(verdicts)));
  return curve;
}

// Scores of the items that are complete in both, in A's order.
std::pair<std::vector<double>, std::vector<double>> PairedScores(const BudgetCurve& a,
                                                                 const BudgetFigures& at_a,
                                                                 const BudgetCurve& b,
                                                                 const BudgetFigures& at_b) {
  std::unordered_map<std::string, double> of_b;
  for (size_t i = 0; i < at_b.item_scores.size(); ++i)
    if (at_b.item_scores[i].complete) of_b[b.results->items[i].item] = *at_b.item_scores[i].score;
  std::pair<std::vector<double>, std::vector<double>> scores;
  for (size_t i = 0; i < at_a.item_scores.size(); ++i) {
    if (!at_a.item_scores[i].complete) continue;
    const auto found = of_b.find(a.results->items[i].item);
    if (found == of_b.end()) continue;
    scores.first.push_back(*at_a.item_scores[i].score);
    scores.second.push_back(found->second);
  }
  return scores;
}

BudgetDifference DifferenceAt(const BudgetCurve& a, const BudgetFigures& at_a, const BudgetCurve& b,
                              const BudgetFigures& at_b) {
  const auto [scores_a, scores_b] = PairedScores(a, at_a, b, at_b);
  BudgetDifference difference;
  difference.budget = at_a.budget;
  difference.single = a.results->samples_per_item <= 1 && b.results->samples_per_item <= 1;
  if (!difference.single) {
    std::vector<ItemSamples> items_a, items_b;
    for (size_t i = 0; i < scores_a.size(); ++i) {
      items_a.push_back({scores_a[i]});
      items_b.push_back({scores_b[i]});
    }
    difference.difference = ClusteredDifference(items_a, items_b);
    return difference;
  }
  PairedCounts counts;
  for (size_t i = 0; i < scores_a.size(); ++i) {
    const bool right_a = scores_a[i] == 1, right_b = scores_b[i] == 1;
    counts.both += right_a && right_b;
    counts.only_a += right_a && !right_b;
    counts.only_b += !right_a && right_b;
    counts.neither += !right_a && !right_b;
  }
  difference.both = counts.both;
  difference.only_a = counts.only_a;
  difference.only_b = counts.only_b;
  difference.neither = counts.neither;
  difference.difference = PairedProportionDifference(counts);
  return difference;
}

// All of its identity that must be equal in both runs of a pair.
nlohmann::json ButSetting(const RunRecord& run) {
  nlohmann::json identity = nlohmann::json::parse(run.identity, nullptr, false);
  if (!identity.is_object()) return identity;
  identity.erase("setting");
  identity.erase("max_new_tokens");
  // Two imported runs are two files, whatever was done.
  if (const auto imported = identity.find("imported"); imported != identity.end() && imported->is_object()) {
    imported->erase("file_sha256");
    imported->erase("fields");
  }
  return identity;
}

const BudgetFigures* At(const BudgetCurve& curve, int64_t budget) {
  for (const BudgetFigures& point : curve.points)
    if (point.budget == budget) return &point;
  return nullptr;
}

}  // namespace

std::vector<BudgetCurve> ReadBudgetCurves(Store& store, std::span<const RunResults> runs) {
  std::vector<BudgetCurve> curves;
  for (const RunResults& results : runs) {
    BudgetCurve curve = ReadCurve(store, results);
    if (!curve.points.empty()) curves.push_back(std::move(curve));
  }
  return curves;
}

std::vector<BudgetPair> PairBudgets(std::span<const BudgetCurve> curves) {
  std::vector<nlohmann::json> asked;
  for (const BudgetCurve& curve : curves) asked.push_back(ButSetting(curve.results->run));
  std::vector<BudgetPair> pairs;
  for (size_t i = 0; i < curves.size(); ++i)
    for (size_t j = i + 1; j < curves.size(); ++j) {
      const BudgetCurve &a = curves[i], &b = curves[j];
      const RunRecord &run_a = a.results->run, &run_b = b.results->run;
      if (run_a.model_id != run_b.model_id || run_a.suite != run_b.suite || run_a.setting == run_b.setting ||
          asked[i] != asked[j])
        continue;
      BudgetPair pair{&a, &b, {}};
      for (const BudgetFigures& point : a.points)
        if (const BudgetFigures* other = At(b, point.budget))
          pair.points.push_back(DifferenceAt(a, point, b, *other));
      if (!pair.points.empty()) pairs.push_back(std::move(pair));
    }
  return pairs;
}

}  // namespace fullband
