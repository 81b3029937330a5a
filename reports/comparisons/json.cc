// Comparisons as JSON: everything that they hold, under the names that their headers have.
#include <nlohmann/json.hpp>

#include "reports/comparisons/compared.h"

namespace fullband {
namespace {

using Json = nlohmann::ordered_json;

Json Of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json Of(const std::optional<Interval>& interval) {
  return interval ? Json{interval->low, interval->high} : Json(nullptr);
}

Json Of(const Estimate& estimate) {
  Json json = {{"items", estimate.items}, {"value", Of(estimate.value)}, {"interval", Of(estimate.interval)}};
  if (estimate.error) json["error"] = *estimate.error;
  return json;
}

Json Of(const TracesOf& traces) { return {{"traces", traces.traces}, {"mean", Of(traces.mean)}}; }

Json Of(const TraceFigures& figures) {
  return {{"mean", Of(figures.mean)},
          {"percentile10", Of(figures.percentile10)},
          {"percentile25", Of(figures.percentile25)},
          {"median", Of(figures.median)},
          {"percentile75", Of(figures.percentile75)},
          {"percentile90", Of(figures.percentile90)},
          {"all", Of(figures.all)},
          {"right", Of(figures.right)},
          {"wrong", Of(figures.wrong)},
          {"truncated", figures.truncated ? Of(*figures.truncated) : Json(nullptr)}};
}

Json Of(const LengthDifference& lengths) {
  return {{"items", lengths.items},
          {"mean_a", Of(lengths.mean_a)},
          {"mean_b", Of(lengths.mean_b)},
          {"difference", Of(lengths.difference)},
          {"ratio", Of(lengths.ratio)}};
}

Json Of(const CutTraces& cut) {
  const TruncationSensitivity& sensitivity = cut.sensitivity;
  Json stretched = Json::array();
  for (const auto& one : sensitivity.stretched)
    stretched.push_back({{"factor", one.factor}, {"difference", one.difference}});
  return {{"restricted", Of(cut.restricted.mean)},
          {"horizon", cut.restricted.horizon},
          {"truncated_a", sensitivity.truncated_a},
          {"truncated_b", sensitivity.truncated_b},
          {"stretched", std::move(stretched)},
          {"sign_holds", cut.sign_holds},
          {"tipping_tokens", Of(sensitivity.tipping_tokens)}};
}

Json Of(const LengthComparison& lengths) {
  return {{"a", Of(lengths.a)},
          {"b", Of(lengths.b)},
          {"all", Of(lengths.all)},
          {"right", Of(lengths.right)},
          {"finished", lengths.finished ? Of(*lengths.finished) : Json(nullptr)},
          {"cut", lengths.cut ? Of(*lengths.cut) : Json(nullptr)}};
}

Json Of(const Parting& parting) {
  return {{"traces", parting.traces},
          {"identical", parting.identical},
          {"first_alike", parting.first_alike},
          {"percentile10", Of(parting.percentile10)},
          {"percentile25", Of(parting.percentile25)},
          {"median", Of(parting.median)},
          {"percentile75", Of(parting.percentile75)},
          {"percentile90", Of(parting.percentile90)},
          {"margin_a", Of(parting.margin_a)},
          {"margin_b", Of(parting.margin_b)},
          {"swapped", Of(parting.swapped)}};
}

Json Of(const RunCost& cost) {
  return {{"seconds", Of(cost.seconds)},
          {"generated_tokens", Of(cost.generated_tokens)},
          {"tokens_per_second", Of(cost.tokens_per_second)},
          {"decode_seconds_per_token", Of(cost.decode_seconds_per_token)},
          {"forwards", Of(cost.forwards)},
          {"right_per_million_forwards", Of(cost.right_per_million_forwards)},
          {"peak_memory_bytes", Of(cost.peak_memory_bytes)},
          {"ran_on", cost.ran_on}};
}

Json Of(const CostComparison& cost) {
  return {{"a", Of(cost.a)},
          {"b", Of(cost.b)},
          {"overhead", Of(cost.overhead)},
          {"incomparable", cost.incomparable}};
}

Json Of(const RunResults& results) {
  const RunRecord& run = results.run;
  return {{"run", run.key},
          {"model", results.model.name},
          {"setting", run.setting},
          {"format", run.format},
          {"shots", run.shots},
          {"samples_per_item", results.samples_per_item},
          {"imported", results.imported.has_value()}};
}

Json Of(const Comparison& comparison) {
  Json json = {{"suite", comparison.a->run.suite},
               {"a", Of(*comparison.a)},
               {"b", Of(*comparison.b)},
               {"also_differs", comparison.also_differs},
               {"items", comparison.items},
               {"faults", comparison.faults},
               {"ungraded", comparison.ungraded},
               {"unpaired", comparison.unpaired},
               {"accuracy_a", Of(comparison.accuracy_a)},
               {"accuracy_b", Of(comparison.accuracy_b)},
               {"accuracy", Of(comparison.accuracy)},
               {"counts", nullptr},
               {"p", Of(comparison.p)},
               {"family", comparison.family},
               {"adjusted_p", Of(comparison.adjusted_p)},
               {"items_needed", Of(comparison.items_needed)},
               {"lengths", nullptr},
               {"identical", Of(comparison.identical)},
               {"parting", nullptr},
               {"cost", nullptr}};
  if (const PairedCounts& counts = comparison.counts; comparison.single)
    json["counts"] = {{"both", counts.both},
                      {"only_a", counts.only_a},
                      {"only_b", counts.only_b},
                      {"neither", counts.neither}};
  if (comparison.lengths) json["lengths"] = Of(*comparison.lengths);
  if (comparison.parting) json["parting"] = Of(*comparison.parting);
  if (comparison.cost) json["cost"] = Of(*comparison.cost);
  return json;
}

Json Of(const SuitesEstimate& a, const SuitesEstimate& b, const SuitesEstimate& difference) {
  return {{"accuracy_a", Of(a.of)}, {"accuracy_b", Of(b.of)}, {"accuracy", Of(difference.of)}};
}

}  // namespace

Json ComparedAsJson(const Compared& compared) {
  Json json = {{"suites", Json::array()}, {"across", nullptr}, {"not_compared", compared.one_sided}};
  for (const Comparison& suite : compared.suites) json["suites"].push_back(Of(suite));
  if (const std::optional<AcrossSuites>& across = compared.across)
    json["across"] = {{"suites", across->macro.suites},
                      {"macro", Of(across->macro_a, across->macro_b, across->macro)},
                      {"micro", Of(across->micro_a, across->micro_b, across->micro)}};
  return json;
}

}  // namespace fullband
