// What lm-evaluation-harness calls our graders.
#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/results.h"

namespace fullband::lm_eval {

// "exact_match" and "strict-match"; a results file has them joined by a comma.
struct Metric {
  std::string grader;
  std::string name, filter;
  bool operator==(const Metric&) const = default;

  std::string Key() const { return name + "," + filter; }
  std::string ErrorKey() const { return name + "_stderr," + filter; }
};

// The harness's name where the grader judges as it does, else the grader's own under the filter "none".
Metric MetricOf(const std::string& grader, const std::string& suite);

// All graders that judged some sample of the run, the headline first, then by name.
std::vector<Metric> MetricsOf(const RunResults& run);

// The filters of these metrics in order, each once.
std::vector<std::string> FiltersOf(const std::vector<Metric>& metrics);

// The harness's standard error of a mean: sample standard deviation (n - 1) over the root of n. Nothing for
// fewer than two values, of which it writes "N/A".
std::optional<double> StandardError(std::span<const double> values);

}  // namespace fullband::lm_eval
