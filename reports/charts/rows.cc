// Charts with a row for each run or pair: accuracy, paired differences, throughput.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reports/charts/charts.h"
#include "reports/charts/spec.h"
#include "reports/figures.h"
#include "reports/spelling.h"

namespace fullband {
namespace {

using nlohmann::json;

std::vector<const RunResults*> Pointers(std::span<const RunResults> runs) {
  std::vector<const RunResults*> pointers;
  for (const RunResults& results : runs) pointers.push_back(&results);
  return pointers;
}

// A row for each of `labels`, in their order; models in panels above each other, of different heights.
json InRows(json layers, const std::vector<RunLabel>& labels) {
  std::vector<std::string> order;
  for (const RunLabel& label : labels) AddOnce(label.label, &order);
  json unit = {{"layer", std::move(layers)}};
  unit["encoding"]["y"] = {{"field", "label"}, {"type", "nominal"}, {"title", nullptr}, {"sort", order}};
  const std::vector<std::string> groups = GroupsOf(labels);
  json spec = Faceted(std::move(unit), groups, 1);
  if (groups.size() > 1) spec["resolve"] = {{"scale", {{"y", "independent"}}}};
  return spec;
}

// Points with intervals, the value written behind them.
json IntervalLayers(json x, const json& look) {
  json low = x;
  low["field"] = "low";
  json rule = {{"mark", {{"type", "rule"}, {"style", "interval"}}}};
  rule["encoding"] = {{"x", low}, {"x2", {{"field", "high"}}}, {"color", look["color"]}};
  json point = {{"mark", {{"type", "point"}, {"filled", true}}}};
  point["encoding"] = {{"x", x}, {"color", look["color"]}, {"shape", look["shape"]}};
  json text = {{"mark", {{"type", "text"}, {"style", "value"}}}};
  text["encoding"] = {{"x", {{"field", "high"}, {"type", "quantitative"}}}, {"text", {{"field", "shown"}}}};
  return json::array({rule, point, text});
}

// From the first row to the last.
json ZeroRule() {
  json rule = {{"mark", {{"type", "rule"}, {"style", "reference"}}}};
  rule["encoding"] = {{"x", {{"datum", 0}}}, {"y", {{"value", 0}}}, {"y2", {{"value", "height"}}}};
  return rule;
}

}  // namespace

std::optional<Chart> AccuracyChart(std::span<const RunResults> runs, const ChartLooks& looks) {
  const std::vector<const RunResults*> pointers = Pointers(runs);
  const std::vector<RunLabel> all = LabelRuns(pointers, looks);
  std::vector<RunLabel> labels;
  std::vector<std::string> present;
  std::vector<double> ends;
  json rows = json::array();
  for (size_t i = 0; i < runs.size(); ++i) {
    const Accuracy accuracy = Figures(runs[i]).headline;
    if (!accuracy.share) continue;
    const double percent = 100 * *accuracy.share;
    const double low = 100 * accuracy.interval.low, high = 100 * accuracy.interval.high;
    labels.push_back(all[i]);
    AddOnce(looks.Shown(runs[i].run.setting), &present);
    ends.insert(ends.end(), {low, high});
    rows.push_back({{"group", all[i].group},
                    {"label", all[i].label},
                    {"series", looks.Shown(runs[i].run.setting)},
                    {"accuracy", percent},
                    {"low", low},
                    {"high", high},
                    {"shown", fmt::format("{:.1f}", percent)}});
  }
  if (rows.empty()) return std::nullopt;
  json x = Quantity("accuracy", "accuracy (%)");
  const AxisRange range = RangeOf(ends, 0, 100);
  x["scale"] = {{"domain", {range.low, range.high}}, {"nice", false}};
  const json look = SeriesEncoding(looks, present, Look::kShape, Legend::kNone);
  return MakeChart("accuracy", "Accuracy by setting, in per cent, with 95 % intervals",
                   InRows(IntervalLayers(x, look), labels), std::move(rows));
}

std::optional<Chart> ThroughputChart(std::span<const RunResults> runs, const ChartLooks& looks) {
  const std::vector<const RunResults*> pointers = Pointers(runs);
  const std::vector<RunLabel> all = LabelRuns(pointers, looks);
  std::vector<RunLabel> labels;
  std::vector<std::string> present;
  json rows = json::array();
  for (size_t i = 0; i < runs.size(); ++i) {
    const SummedCost& cost = runs[i].cost;
    const bool known = runs[i].run.ask == "generate" && cost.generated_tokens > 0 && cost.wall_seconds > 0;
    if (!known) continue;
    const double rate = static_cast<double>(cost.generated_tokens) / cost.wall_seconds;
    labels.push_back(all[i]);
    AddOnce(looks.Shown(runs[i].run.setting), &present);
    rows.push_back({{"group", all[i].group},
                    {"label", all[i].label},
                    {"series", looks.Shown(runs[i].run.setting)},
                    {"rate", rate},
                    {"shown", rate < 100 ? Fixed(rate, 1) : Count(std::llround(rate))}});
  }
  if (rows.empty()) return std::nullopt;
  const json x = Quantity("rate", "generated tokens/s");
  const json look = SeriesEncoding(looks, present, Look::kColour, Legend::kNone);
  json bar = {{"mark", {{"type", "bar"}}}, {"encoding", {{"x", x}, {"color", look["color"]}}}};
  json text = {{"mark", {{"type", "text"}, {"style", "value"}}}};
  text["encoding"] = {{"x", x}, {"text", {{"field", "shown"}}}};
  return MakeChart("throughput", "Generated tokens by second of wall time, by setting",
                   InRows(json::array({bar, text}), labels), std::move(rows));
}

std::vector<const Comparison*> AgainstBaseline(std::span<const Comparison> pairs) {
  std::set<std::string> with_standard;  // models and ways of asking
  const auto group = [](const Comparison& pair) {
    const RunRecord& run = pair.a->run;
    return fmt::format("{} {} {} {}", pair.a->model.id, run.suite, run.format, run.shots);
  };
  for (const Comparison& pair : pairs) {
    if (pair.same_model && pair.a->run.setting == "standard") with_standard.insert(group(pair));
  }
  std::map<std::string, std::string> baselines;
  std::vector<const Comparison*> chosen;
  for (const Comparison& pair : pairs) {
    if (!pair.same_model) continue;
    const std::string name = group(pair);
    const auto found =
        baselines.emplace(name, with_standard.contains(name) ? "standard" : pair.a->run.setting).first;
    if (pair.a->run.setting == found->second) chosen.push_back(&pair);
  }
  return chosen;
}

std::optional<Chart> DifferenceChart(std::span<const Comparison> pairs, const ChartLooks& looks) {
  std::vector<const RunResults*> runs;
  std::vector<const Comparison*> drawn;
  std::set<std::string> baselines;
  for (const Comparison* pair : AgainstBaseline(pairs)) {
    if (!pair->accuracy.value || !pair->accuracy.interval) continue;
    drawn.push_back(pair);
    runs.push_back(pair->b);
    baselines.insert(looks.Shown(pair->a->run.setting));
  }
  if (drawn.empty()) return std::nullopt;
  std::vector<RunLabel> labels = LabelRuns(runs, looks);
  std::set<std::pair<std::string, std::string>> taken;
  std::vector<std::string> present;
  json rows = json::array();
  for (size_t i = 0; i < drawn.size(); ++i) {
    const Estimate& difference = drawn[i]->accuracy;
    if (baselines.size() > 1) labels[i].label += " − " + looks.Shown(drawn[i]->a->run.setting);
    if (!drawn[i]->also_differs.empty()) labels[i].label += " *";
    for (int number = 2; !taken.emplace(labels[i].group, labels[i].label).second; ++number)
      labels[i].label += fmt::format(" ({})", number);
    AddOnce(looks.Shown(runs[i]->run.setting), &present);
    rows.push_back({{"group", labels[i].group},
                    {"label", labels[i].label},
                    {"series", looks.Shown(runs[i]->run.setting)},
                    {"difference", 100 * *difference.value},
                    {"low", 100 * difference.interval->low},
                    {"high", 100 * difference.interval->high},
                    {"shown", Signed(100 * *difference.value)}});
  }
  const std::string than = baselines.size() > 1 ? " difference" : " less that of " + *baselines.begin();
  const json x = Quantity("difference", "accuracy" + than + " (points)");
  const json look = SeriesEncoding(looks, present, Look::kShape, Legend::kNone);
  json layers = IntervalLayers(x, look);
  layers.insert(layers.begin(), ZeroRule());
  return MakeChart("accuracy_differences",
                   "Paired difference in accuracy, in percentage points, with 95 % intervals",
                   InRows(std::move(layers), labels), std::move(rows));
}

}  // namespace fullband
