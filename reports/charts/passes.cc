// Residual, distance and loss by pass.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/charts/charts.h"
#include "reports/charts/spec.h"

namespace fullband {
namespace {

using nlohmann::json;

constexpr double kMostPowers = 6;  // of ten, marked on an axis

// Zero has no place on a logarithmic axis.
void Set(const char* field, const std::optional<double>& value, json* row) {
  if (value && *value > 0) (*row)[field] = *value;
}

// Powers of ten around the values of a field, all of them marked, or every second, ...
void SetPowers(const json& rows, const char* field, json* channel) {
  std::vector<double> powers;
  for (const json& row : rows) {
    if (row.contains(field)) powers.push_back(std::log10(row[field].get<double>()));
  }
  if (powers.empty()) powers = {-1, 0};
  const auto [least, most] = std::minmax_element(powers.begin(), powers.end());
  const double low = std::floor(*least), high = std::max(std::ceil(*most), low + 1);
  const double step = std::ceil((high - low) / kMostPowers);
  json marks = json::array();
  for (double power = low; power <= high; power += step) marks.push_back(std::pow(10, power));
  (*channel)["scale"] = {{"type", "log"}, {"domain", {std::pow(10, low), std::pow(10, high)}}};
  (*channel)["axis"] = {{"grid", true}, {"values", marks}, {"format", "~g"}};
}

json Panel(const json& rows, const char* field, const char* title, bool logarithmic, const json& look) {
  json x = Quantity("pass", "pass", false);
  x["axis"]["tickMinStep"] = 1;
  x["axis"]["format"] = "d";
  json y = Quantity(field, title, false);
  if (logarithmic) SetPowers(rows, field, &y);
  json line = {{"mark", {{"type", "line"}}}};
  line["encoding"] = {{"x", x}, {"y", y}, {"color", look["color"]}};
  json point = {{"mark", {{"type", "point"}, {"filled", true}}}};
  point["encoding"] = {{"x", x}, {"y", y}, {"color", look["color"]}, {"shape", look["shape"]}};
  json panel;
  panel["transform"] = json::array({{{"filter", {{"field", field}, {"valid", true}}}}});
  panel["layer"] = json::array({line, point});
  return panel;
}

// Where the recurrence's losses lie.
json RecurrenceRules(const json& look) {
  json rule = {{"mark", {{"type", "rule"}, {"style", "level"}}}};
  rule["encoding"] = {{"y", Quantity("recurrence", "", false)}, {"color", look["color"]}};
  rule["encoding"]["y"].erase("title");
  return rule;
}

}  // namespace

std::optional<Chart> PassChart(std::span<const MeasuredPasses> measured) {
  if (measured.empty()) return std::nullopt;
  std::vector<std::string> names = NamesOf(measured);
  for (std::string& name : names) name = ChartText(name);
  const ChartLooks looks(Distinct(names));
  json rows = json::array(), ends = json::array();
  for (size_t i = 0; i < measured.size(); ++i) {
    const std::string& series = looks.Shown()[i];
    for (const MeasuredPass& pass : measured[i].passes) {
      json row = {{"series", series}, {"pass", pass.pass}, {"loss", pass.loss}};
      Set("residual", pass.open_residual, &row);
      Set("distance", pass.open_distance, &row);
      rows.push_back(std::move(row));
    }
    ends.push_back({{"series", series}, {"recurrence", measured[i].recurrence_loss}});
  }
  const json look = SeriesEncoding(looks, looks.Shown(), Look::kShape, Legend::kRight);
  json loss = Panel(rows, "loss", "loss (nats/token)", false, look);
  json rule = RecurrenceRules(look);
  rule["data"] = {{"values", std::move(ends)}};
  const json with_rule = {{"layer", json::array({std::move(loss), std::move(rule)})}};
  json spec;
  spec["hconcat"] =
      json::array({Panel(rows, "residual", "residual", true, look),
                   Panel(rows, "distance", "distance to the recurrence", true, look), with_rule});
  return MakeChart(
      "passes",
      fmt::format("Residual, distance to the exact recurrence (both over open positions) and loss of "
                  "each pass on {}; dashed: the recurrence's loss",
                  ChartText(measured[0].source)),
      std::move(spec), std::move(rows));
}

}  // namespace fullband
