// Accuracy against the token budget.
#include <algorithm>

#include "reports/charts/charts.h"
#include "reports/charts/spec.h"

namespace fullband {
namespace {

using nlohmann::json;

constexpr double kLogarithmicFrom = 8;  // largest budget over smallest
constexpr size_t kMostBands = 3;        // more of them, one over the other, are mud

json BudgetAxis(const std::vector<int64_t>& budgets) {
  json x = Quantity("budget", "token budget");
  if (static_cast<double>(budgets.back()) < kLogarithmicFrom * static_cast<double>(budgets.front())) return x;
  x["scale"] = {{"type", "log"}, {"base", 2}, {"nice", false}};
  x["axis"] = {{"values", budgets}, {"format", ",d"}};
  return x;
}

}  // namespace

std::optional<Chart> BudgetChart(std::span<const BudgetPoint> points, const ChartLooks& looks) {
  if (points.empty()) return std::nullopt;
  std::vector<std::string> names, groups, present;
  std::vector<int64_t> budgets;
  for (const BudgetPoint& point : points) AddOnce(point.series, &names);
  const ChartLooks all = looks.With(names);
  json rows = json::array();
  for (const BudgetPoint& point : points) {
    const std::string group = ChartText(point.group);
    AddOnce(group, &groups);
    AddOnce(all.Shown(point.series), &present);
    budgets.push_back(point.budget);
    rows.push_back({{"group", group},
                    {"series", all.Shown(point.series)},
                    {"budget", point.budget},
                    {"accuracy", 100 * point.share},
                    {"low", 100 * point.low},
                    {"high", 100 * point.high}});
  }
  std::sort(budgets.begin(), budgets.end());
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  if (budgets.size() < 2 || budgets.front() < 1) return std::nullopt;
  const json x = BudgetAxis(budgets);
  json y = Quantity("accuracy", "accuracy (%)");
  json low = y;
  low["field"] = "low";
  const json look = SeriesEncoding(all, present, Look::kShape, Legend::kRight);
  const bool bands = present.size() <= kMostBands;
  json interval = {{"mark", {{"type", bands ? "area" : "rule"}, {"style", bands ? "band" : "interval"}}}};
  interval["encoding"] = {{"x", x}, {"y", low}, {"y2", {{"field", "high"}}}, {"color", look["color"]}};
  json line = {{"mark", {{"type", "line"}}}};
  line["encoding"] = {{"x", x}, {"y", y}, {"color", look["color"]}};
  json point = {{"mark", {{"type", "point"}, {"filled", true}}}};
  point["encoding"] = {{"x", x}, {"y", y}, {"color", look["color"]}, {"shape", look["shape"]}};
  return MakeChart("accuracy_by_budget",
                   "Accuracy had every trace been cut at the token budget, in per cent, with 95 % intervals",
                   Faceted({{"layer", json::array({line, interval, point})}}, groups, 2), std::move(rows));
}

}  // namespace fullband
