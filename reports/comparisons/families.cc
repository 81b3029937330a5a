#include "reports/comparisons/families.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "reports/comparisons/identities.h"
#include "reports/statistics/power.h"
#include "reports/statistics/significance.h"

namespace fullband {
namespace {

// Two runs that are asked alike.
bool AskedAlike(const RunRecord& a, const RunRecord& b) {
  return std::tie(a.suite, a.format, a.shots, a.ask) == std::tie(b.suite, b.format, b.shots, b.ask);
}

struct Candidate {
  RunPair pair;
  bool clean = false;  // nothing else differs
};

// The candidates, but those for which there is a clean one that `same` says is of the same two.
std::vector<RunPair> Cleanest(const std::vector<Candidate>& candidates,
                              const std::function<bool(const RunPair&, const RunPair&)>& same) {
  std::vector<RunPair> pairs;
  for (const Candidate& candidate : candidates) {
    const bool beaten =
        !candidate.clean && std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& other) {
          return other.clean && AskedAlike(other.pair.a->run, candidate.pair.a->run) &&
                 same(other.pair, candidate.pair);
        });
    if (!beaten) pairs.push_back(candidate.pair);
  }
  return pairs;
}

std::vector<Candidate> Candidates(std::span<const RunResults> runs,
                                  const std::function<bool(const RunRecord&, const RunRecord&)>& pairs) {
  Identities identities;
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < runs.size(); ++i) {
    for (size_t j = i + 1; j < runs.size(); ++j) {
      if (AskedAlike(runs[i].run, runs[j].run) && pairs(runs[i].run, runs[j].run))
        candidates.push_back({{&runs[i], &runs[j]}, identities.Differences(runs[i], runs[j]).empty()});
    }
  }
  return candidates;
}

// How many items a difference like this one takes.
std::optional<double> ItemsToSee(const Comparison& comparison, double alpha) {
  const double items = static_cast<double>(comparison.items);
  if (!comparison.single) {
    if (!comparison.accuracy.error) return std::nullopt;
    const double deviation = *comparison.accuracy.error * std::sqrt(items);
    const std::optional<double> needed =
        ItemsForMeanDifference(deviation, *comparison.accuracy.value, alpha, kPower);
    return needed ? std::optional(std::ceil(*needed)) : std::nullopt;
  }
  const PairedCounts& counts = comparison.counts;
  const DiscordantShares shares{static_cast<double>(counts.only_a) / items,
                                static_cast<double>(counts.only_b) / items};
  // Beyond so many the exact number says no more than the formula, and takes long.
  constexpr double kExactUpTo = 100'000;
  const std::optional<double> formula = ConnorItems(shares, alpha, kPower);
  if (!formula) return std::nullopt;
  if (*formula > kExactUpTo) return std::ceil(*formula);
  const std::optional<int64_t> needed = ItemsNeeded(shares, alpha, kPower);
  return needed ? std::optional(static_cast<double>(*needed)) : std::nullopt;
}

std::vector<Estimate> Column(const std::vector<const Comparison*>& suites, Estimate Comparison::*figure) {
  std::vector<Estimate> column;
  for (const Comparison* comparison : suites) column.push_back(comparison->*figure);
  return column;
}

void AddMeans(AcrossSuites* across) {
  const std::vector<Estimate> a = Column(across->suites, &Comparison::accuracy_a),
                              b = Column(across->suites, &Comparison::accuracy_b),
                              difference = Column(across->suites, &Comparison::accuracy);
  across->macro_a = MacroMean(a);
  across->macro_b = MacroMean(b);
  across->macro = MacroMean(difference);
  across->micro_a = MicroMean(a);
  across->micro_b = MicroMean(b);
  across->micro = MicroMean(difference);
}

}  // namespace

std::vector<RunPair> SettingPairs(std::span<const RunResults> runs) {
  const auto pairs = [](const RunRecord& a, const RunRecord& b) {
    return a.model_id == b.model_id && a.setting != b.setting;
  };
  return Cleanest(Candidates(runs, pairs), [](const RunPair& x, const RunPair& y) {
    return x.a->run.model_id == y.a->run.model_id && x.a->run.setting == y.a->run.setting &&
           x.b->run.setting == y.b->run.setting;
  });
}

std::vector<RunPair> ModelPairs(std::span<const RunResults> runs) {
  const auto pairs = [](const RunRecord& a, const RunRecord& b) {
    return a.model_id != b.model_id && a.setting == b.setting;
  };
  return Cleanest(Candidates(runs, pairs), [](const RunPair& x, const RunPair& y) {
    return x.a->run.setting == y.a->run.setting && x.a->run.model_id == y.a->run.model_id &&
           x.b->run.model_id == y.b->run.model_id;
  });
}

std::string ReportFamily(const Comparison& comparison) {
  const RunRecord& run = comparison.a->run;
  return run.suite + '\n' + (comparison.same_model ? std::to_string(run.model_id) : run.setting);
}

void CorrectFamilies(const FamilyOf& family_of, std::vector<Comparison>* comparisons) {
  std::map<std::string, std::vector<Comparison*>> tests;
  for (Comparison& comparison : *comparisons) {
    if (comparison.p) tests[family_of(comparison)].push_back(&comparison);
  }
  for (const auto& [name, family] : tests) {
    std::vector<double> p_values;
    for (const Comparison* test : family) p_values.push_back(*test->p);
    const std::vector<double> adjusted = HolmAdjusted(p_values);
    const double count = static_cast<double>(family.size());
    for (size_t i = 0; i < family.size(); ++i) {
      family[i]->family = static_cast<int64_t>(family.size());
      family[i]->adjusted_p = adjusted[i];
      if (adjusted[i] > kSignificance)
        family[i]->items_needed = ItemsToSee(*family[i], kSignificance / count);
    }
  }
}

std::vector<Comparison> CompareSuite(std::span<const RunResults> runs) {
  std::vector<RunPair> pairs = SettingPairs(runs);
  const std::vector<RunPair> models = ModelPairs(runs);
  pairs.insert(pairs.end(), models.begin(), models.end());
  std::vector<Comparison> comparisons = CompareAll(pairs);
  CorrectFamilies(ReportFamily, &comparisons);
  return comparisons;
}

std::optional<AcrossSuites> AcrossAll(std::span<const Comparison> comparisons) {
  if (comparisons.size() < 2) return std::nullopt;
  AcrossSuites across;
  for (const Comparison& comparison : comparisons) across.suites.push_back(&comparison);
  AddMeans(&across);
  return across;
}

std::vector<AcrossSuites> CompareAcrossSuites(std::span<const Comparison> comparisons) {
  using Key = std::tuple<int64_t, std::string, int64_t, std::string>;
  std::vector<AcrossSuites> all;
  std::map<Key, size_t> places;
  for (const Comparison& of : comparisons) {
    const Key key{of.a->run.model_id, of.a->run.setting, of.b->run.model_id, of.b->run.setting};
    const auto [place, is_new] = places.try_emplace(key, all.size());
    if (is_new) all.emplace_back();
    AcrossSuites& across = all[place->second];
    const bool there = std::any_of(across.suites.begin(), across.suites.end(), [&](const Comparison* other) {
      return other->a->run.suite == of.a->run.suite;
    });
    if (there)
      ++across.further;
    else
      across.suites.push_back(&of);
  }
  std::erase_if(all, [](const AcrossSuites& across) { return across.suites.size() < 2; });
  for (AcrossSuites& across : all) AddMeans(&across);
  return all;
}

}  // namespace fullband
