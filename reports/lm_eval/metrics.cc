#include "reports/lm_eval/metrics.h"

#include <algorithm>
#include <set>

#include "evals/store/imported.h"

namespace fullband::lm_eval {
namespace {

constexpr char kNone[] = "none";

// Programs that are run: its suites of code name their metric each in its own way.
Metric ExecuteMetric(const std::string& grader, const std::string& suite) {
  if (suite.starts_with("humaneval")) return {grader, "pass@1", "create_test"};
  if (suite.starts_with("mbpp")) return {grader, "pass_at_1", kNone};
  return {grader, "pass@1", kNone};
}

// "imported:exact_match/strict-match" came with a samples file of the harness.
Metric ImportedMetric(const std::string& grader) {
  const size_t slash = grader.find('/');
  if (slash == std::string::npos) return {grader, grader, kNone};
  return {grader, grader.substr(0, slash), grader.substr(slash + 1)};
}

}  // namespace

Metric MetricOf(const std::string& grader, const std::string& suite) {
  if (IsImportedGrader(grader)) return ImportedMetric(grader);
  if (grader == "execute") return ExecuteMetric(grader, suite);
  if (grader == "lmeval_strict") return {grader, "exact_match", "strict-match"};
  if (grader == "lmeval_flexible") return {grader, "exact_match", "flexible-extract"};
  if (grader == "acc_norm_bytes") return {grader, "acc_bytes", kNone};
  if (grader == "greedy") return {grader, "acc", kNone};
  return {grader, grader, kNone};
}

std::vector<Metric> MetricsOf(const RunResults& run) {
  std::set<std::string> graders;
  for (const ItemResult& item : run.items)
    for (const SampleResult& sample : item.samples)
      for (const auto& [grader, grade] : sample.grades) graders.insert(grader);
  std::vector<Metric> metrics;
  if (graders.erase(run.run.headline) > 0) metrics.push_back(MetricOf(run.run.headline, run.run.suite));
  for (const std::string& grader : graders) metrics.push_back(MetricOf(grader, run.run.suite));
  return metrics;
}

std::vector<std::string> FiltersOf(const std::vector<Metric>& metrics) {
  std::vector<std::string> filters;
  for (const Metric& metric : metrics)
    if (std::find(filters.begin(), filters.end(), metric.filter) == filters.end())
      filters.push_back(metric.filter);
  return filters;
}

std::optional<double> StandardError(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1)) / std::sqrt(count);
}

}  // namespace fullband::lm_eval
