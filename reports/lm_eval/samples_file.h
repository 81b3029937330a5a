// The samples file of one run: a JSON object a line, for every item and filter.
#pragma once

#include <ostream>
#include <string>

#include "evals/store/store.h"
#include "reports/lm_eval/metrics.h"

namespace fullband::lm_eval {

// Whether there is anything to write: not of runs that were imported as verdicts alone.
bool HasSamples(const RunResults& run);

// Writes the run's lines. An item stands under a filter where a metric of it counts the item: items whose
// samples are all faults, or not graded yet, are left out, as they are of every accuracy. Returns the hash
// over all lines that the results file calls the task's.
std::string WriteSamples(const RunResults& run, Store& store, std::ostream& out);

}  // namespace fullband::lm_eval
