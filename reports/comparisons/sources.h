// What comparisons take from the store beyond its runs' results: traces, and what the runs ran on.
#pragma once

#include <functional>
#include <vector>

#include "evals/store/store.h"
#include "reports/comparison.h"

namespace fullband {

struct ComparisonSources {
  std::function<RunTraces(const RunResults&)> traces;                     // empty: no parting
  std::function<std::vector<SessionRecord>(const RunResults&)> sessions;  // empty: no overhead
};

// Asks the store, which must outlive them.
ComparisonSources SourcesOf(Store& store);

// Adds where traces part, and costs, to comparisons of one suite (whose traces are in memory together). Runs
// of which only choices were asked have no traces, and neither have identical runs any place to part.
void AddSources(const ComparisonSources& sources, std::vector<Comparison>* comparisons);

}  // namespace fullband
