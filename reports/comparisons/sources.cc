#include "reports/comparisons/sources.h"

#include <map>

namespace fullband {

ComparisonSources SourcesOf(Store& store) {
  return {[&store](const RunResults& results) { return ReadTraces(store, results.run); },
          [&store](const RunResults& results) { return store.Sessions(results.run.id); }};
}

void AddSources(const ComparisonSources& sources, std::vector<Comparison>* comparisons) {
  std::map<const RunResults*, RunTraces> traces;
  std::map<const RunResults*, RunCost> costs;
  const auto traces_of = [&](const RunResults* run) -> const RunTraces& {
    const auto [place, is_new] = traces.try_emplace(run);
    if (is_new) place->second = sources.traces(*run);
    return place->second;
  };
  const auto cost_of = [&](const RunResults* run) -> const RunCost& {
    const auto [place, is_new] = costs.try_emplace(run);
    if (is_new)
      place->second = CostOf(*run, sources.sessions ? sources.sessions(*run) : std::vector<SessionRecord>());
    return place->second;
  };
  for (Comparison& comparison : *comparisons) {
    comparison.cost = CompareCosts(cost_of(comparison.a), cost_of(comparison.b));
    if (!sources.sessions) comparison.cost->incomparable.clear();  // nobody has looked
    if (sources.traces && SameTokens(*comparison.a, *comparison.b))
      comparison.parting = PartingOf(traces_of(comparison.a), traces_of(comparison.b));
  }
}

}  // namespace fullband
