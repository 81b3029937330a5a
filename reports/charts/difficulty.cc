// Accuracy against numbers that the data have of their items, and against trace length.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/charts/charts.h"
#include "reports/charts/spec.h"
#include "reports/figures.h"
#include "reports/statistics/proportions.h"

namespace fullband {
namespace {

using nlohmann::json;

constexpr double kManyTruncated = 0.1;
constexpr int kPanelColumns = 3;
constexpr size_t kMostIntervals = 5;  // beside each other; of more, nothing could be read

bool EndsInNumbers(const Breakdown& breakdown) {
  const std::string& field = breakdown.fields.back();
  bool some = false;
  for (const RunResults* results : breakdown.runs) {
    for (const ItemResult& item : results->items) {
      if (item.groups.size() != breakdown.fields.size()) continue;
      const GroupValue& last = item.groups.back();
      if (last.field != field) continue;
      if (!last.number) return false;
      some = true;
    }
  }
  return some;
}

// The values of the fields before the last.
std::string PanelOf(const BreakdownRow& row) {
  std::string panel;
  for (size_t i = 0; i + 1 < row.labels.size(); ++i) panel += (i > 0 ? ", " : "") + row.labels[i];
  return panel.empty() ? panel : ChartText(panel);
}

// A line a setting over the ranges. Intervals stand beside each other where settings share a place.
json Lines(const std::string& field, const std::vector<std::string>& places, const json& look,
           bool intervals) {
  json x = {{"field", "place"}, {"type", "ordinal"}, {"title", ChartText(field)}, {"sort", places}};
  json y = Quantity("accuracy", "accuracy (%)");
  y["scale"] = {{"domain", {0, 104}}, {"nice", false}};  // room for a point at 100
  json line = {{"mark", {{"type", "line"}}}};
  line["encoding"] = {{"x", x}, {"y", y}, {"color", look["color"]}};
  json point = {{"mark", {{"type", "point"}, {"filled", true}}}};
  point["encoding"] = {{"x", x}, {"y", y}, {"color", look["color"]}, {"shape", look["shape"]}};
  if (!intervals) return {{"layer", json::array({line, point})}};
  json low = y;
  low["field"] = "low";
  json rule = {{"mark", {{"type", "rule"}, {"style", "interval"}}}};
  rule["encoding"] = {{"x", x}, {"y", low}, {"y2", {{"field", "high"}}}, {"color", look["color"]}};
  const json offset = {{"field", "series"}, {"type", "nominal"}, {"sort", nullptr}};
  for (json* layer : {&line, &rule, &point}) (*layer)["encoding"]["xOffset"] = offset;
  return {{"layer", json::array({line, rule, point})}};
}

// The runs of one model, asked in one way.
struct Group {
  std::string name;
  std::vector<size_t> runs;  // places in Breakdown::runs
};

std::optional<Chart> DifficultyChart(const Breakdown& breakdown, const Group& group,
                                     const std::vector<RunLabel>& labels, const ChartLooks& looks,
                                     const std::string& name) {
  std::vector<std::string> panels, places, names;
  const auto own = [&](size_t run) {  // runs with equal settings have labels of their own
    return labels[run].label != looks.Shown(breakdown.runs[run]->run.setting);
  };
  for (const size_t run : group.runs) {
    if (own(run)) AddOnce(labels[run].label, &names);
  }
  const ChartLooks all = looks.With(names);
  std::vector<std::string> present;
  json rows = json::array();
  for (const BreakdownRow& row : breakdown.rows) {
    if (row.kind != BreakdownRow::Kind::kValues) continue;
    for (const size_t run : group.runs) {
      const BreakdownCell& cell = row.cells[run];
      if (cell.items == 0) continue;
      const Interval interval = WilsonInterval(cell.correct, cell.items);
      AddOnce(PanelOf(row), &panels);
      AddOnce(ChartText(row.labels.back()), &places);
      const std::string& series = own(run) ? all.Shown(labels[run].label) : labels[run].label;
      AddOnce(series, &present);
      rows.push_back({{"group", PanelOf(row)},
                      {"place", ChartText(row.labels.back())},
                      {"series", series},
                      {"items", cell.items},
                      {"accuracy", 100 * *cell.Share()},
                      {"low", 100 * interval.low},
                      {"high", 100 * interval.high}});
    }
  }
  if (places.size() < 2) return std::nullopt;
  const json look = SeriesEncoding(all, present, Look::kShape, Legend::kRight);
  const bool intervals = present.size() <= kMostIntervals;
  const std::string of = group.name.empty() ? "" : group.name + ": a";
  const std::string title =
      fmt::format("{}ccuracy by {}, in per cent{}", of.empty() ? "A" : of, ChartText(breakdown.fields.back()),
                  intervals ? ", with 95 % intervals" : "");
  json unit = Lines(breakdown.fields.back(), places, look, intervals);
  return MakeChart(name, title, Faceted(std::move(unit), panels, kPanelColumns), std::move(rows));
}

}  // namespace

std::vector<Chart> DifficultyCharts(std::span<const Breakdown> breakdowns, const ChartLooks& looks) {
  std::vector<Chart> charts;
  std::set<std::string> taken;
  for (const Breakdown& breakdown : breakdowns) {
    if (breakdown.fields.empty() || !EndsInNumbers(breakdown)) continue;
    const std::vector<RunLabel> labels = LabelRuns(breakdown.runs, looks);
    const std::vector<std::string> groups = GroupsOf(labels);
    for (const std::string& name : groups) {
      Group group{groups.size() > 1 ? name : "", {}};
      for (size_t i = 0; i < labels.size(); ++i) {
        if (labels[i].group == name) group.runs.push_back(i);
      }
      const std::string file = TakeName("accuracy_by_" + ChartName(breakdown.fields.back()), &taken);
      auto chart = DifficultyChart(breakdown, group, labels, looks, file);
      if (chart) charts.push_back(std::move(*chart));
    }
  }
  return charts;
}

std::optional<Chart> LengthAccuracyChart(std::span<const RunResults> runs, const ChartLooks& looks) {
  std::vector<const RunResults*> pointers;
  for (const RunResults& results : runs) pointers.push_back(&results);
  const std::vector<RunLabel> labels = LabelRuns(pointers, looks);
  std::vector<std::string> groups, present;
  std::vector<double> ends, lengths;
  json rows = json::array();
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].run.ask != "generate" || !runs[i].Knows("trace_tokens")) continue;
    const RunFigures figures = Figures(runs[i]);
    if (!figures.headline.share || !figures.lengths.mean) continue;
    const std::string& series = looks.Shown(runs[i].run.setting);
    const double low = 100 * figures.headline.interval.low, high = 100 * figures.headline.interval.high;
    const bool many = static_cast<double>(figures.lengths.truncated) >
                      kManyTruncated * static_cast<double>(figures.lengths.samples);
    AddOnce(labels[i].group, &groups);
    AddOnce(series, &present);
    ends.insert(ends.end(), {low, high});
    lengths.push_back(*figures.lengths.mean);
    rows.push_back({{"group", labels[i].group},
                    {"label", labels[i].label},
                    {"series", series},
                    {"tokens", *figures.lengths.mean},
                    {"accuracy", 100 * *figures.headline.share},
                    {"low", low},
                    {"high", high},
                    {"truncated", many}});
  }
  if (rows.size() < 2) return std::nullopt;
  json x = Quantity("tokens", "mean trace length (tokens)");
  const AxisRange across = RangeOf(lengths, 0, 1e15), up = RangeOf(ends, 0, 100);
  x["scale"] = {{"domain", {across.low, across.high}}, {"nice", false}};
  json y = Quantity("accuracy", "accuracy (%)");
  y["scale"] = {{"domain", {up.low, up.high}}, {"nice", false}};
  json low = y;
  low["field"] = "low";
  const json look = SeriesEncoding(looks, present, Look::kShape, Legend::kRight);
  json rule = {{"mark", {{"type", "rule"}, {"style", "interval"}}}};
  rule["encoding"] = {{"x", x}, {"y", low}, {"y2", {{"field", "high"}}}, {"color", look["color"]}};
  json layers = json::array({rule});
  for (const bool hollow : {false, true}) {
    json point = {{"mark", {{"type", "point"}, {"filled", !hollow}}}};
    point["transform"] = json::array({{{"filter", hollow ? "datum.truncated" : "!datum.truncated"}}});
    point["encoding"] = {{"x", x}, {"y", y}, {"color", look["color"]}, {"shape", look["shape"]}};
    layers.push_back(point);
  }
  return MakeChart(
      "accuracy_by_length",
      "Accuracy, in per cent with 95 % intervals, against mean trace length in tokens; hollow: more "
      "than a tenth of the traces truncated",
      Faceted({{"layer", layers}}, groups, 2), std::move(rows));
}

}  // namespace fullband
