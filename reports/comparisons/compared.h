// Two runs compared over all suites that have both: what `fullband compare` says.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "evals/store/store.h"
#include "reports/comparisons/families.h"
#include "reports/comparisons/selection.h"
#include "reports/document/document.h"
#include "reports/results.h"

namespace fullband {

struct Compared {
  std::vector<RunResults> runs;
  std::vector<Comparison> suites;      // one a suite, of runs in `runs`; together one family of tests
  std::optional<AcrossSuites> across;  // of several suites; points into `suites`
  std::vector<std::string> one_sided;  // suites that have runs of one of the two only

  Compared() = default;
  Compared(Compared&&) = default;
  Compared(const Compared&) = delete;
};

// Throws as ChoosePairs.
Compared CompareChosen(Store& store, const CompareRequest& request, const ReadOptions& options);

// What it comes to, in a sentence or three: "B is better: +6.2 points (+4.0 … +8.4), p = 4.45e-08. …"
std::string InWords(const Comparison& comparison);

Document ComparedAsDocument(const Compared& compared);
nlohmann::ordered_json ComparedAsJson(const Compared& compared);

}  // namespace fullband
