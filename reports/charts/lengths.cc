// Trace lengths of two runs over the same items.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "reports/charts/charts.h"
#include "reports/charts/spec.h"

namespace fullband {
namespace {

using nlohmann::json;

constexpr size_t kMostSteps = 160;  // of a curve
constexpr double kMostBars = 56;    // of a histogram
constexpr double kLeastBars = 5;    // that there is room for on either side of zero

// The lengths of one run's traces, ascending.
struct Lengths {
  std::vector<int64_t> finished, truncated;

  int64_t Longest() const {
    return std::max(finished.empty() ? 0 : finished.back(), truncated.empty() ? 0 : truncated.back());
  }
  double FinishedBy(int64_t tokens) const {  // per cent of all
    const auto end = std::upper_bound(finished.begin(), finished.end(), tokens);
    return 100 * static_cast<double>(end - finished.begin()) /
           static_cast<double>(finished.size() + truncated.size());
  }
};

// One item's mean length in B less that in A.
struct Difference {
  double tokens = 0;
  bool truncated = false;  // a trace of either run
};

struct PairedLengths {
  Lengths a, b;
  std::vector<Difference> differences;
};

// Whether the item counts in a comparison.
bool Counts(const ItemResult& item, const std::string& grader) {
  return !item.samples.empty() &&
         std::none_of(item.samples.begin(), item.samples.end(), [&](const SampleResult& sample) {
           const Result result = sample.Of(grader);
           return result == Result::kFault || result == Result::kUngraded;
         });
}

double AddLengths(const ItemResult& item, Lengths* lengths, bool* truncated) {
  double sum = 0;
  for (const SampleResult& sample : item.samples) {
    (sample.truncated ? lengths->truncated : lengths->finished).push_back(sample.trace_tokens);
    *truncated |= sample.truncated;
    sum += static_cast<double>(sample.trace_tokens);
  }
  return sum / static_cast<double>(item.samples.size());
}

PairedLengths ReadLengths(const Comparison& pair) {
  std::unordered_map<std::string, const ItemResult*> of_b;
  for (const ItemResult& item : pair.b->items) {
    if (Counts(item, pair.b->run.headline)) of_b[item.item] = &item;
  }
  PairedLengths lengths;
  for (const ItemResult& item : pair.a->items) {
    const auto found = of_b.find(item.item);
    if (found == of_b.end() || !Counts(item, pair.a->run.headline)) continue;
    Difference& difference = lengths.differences.emplace_back();
    const double a = AddLengths(item, &lengths.a, &difference.truncated);
    difference.tokens = AddLengths(*found->second, &lengths.b, &difference.truncated) - a;
  }
  for (Lengths* of : {&lengths.a, &lengths.b}) {
    std::sort(of->finished.begin(), of->finished.end());
    std::sort(of->truncated.begin(), of->truncated.end());
  }
  return lengths;
}

// Where a curve has its steps: at every length, or evenly where those are too many.
std::set<int64_t> Steps(const Lengths& lengths) {
  std::set<int64_t> steps(lengths.finished.begin(), lengths.finished.end());
  if (steps.size() > kMostSteps) {
    const int64_t first = *steps.begin(), span = *steps.rbegin() - first;
    steps.clear();
    for (size_t i = 0; i <= kMostSteps; ++i)
      steps.insert(first +
                   static_cast<int64_t>(static_cast<double>(span) * static_cast<double>(i) / kMostSteps));
  }
  steps.insert(0);
  return steps;
}

void AddCurve(const std::string& series, const Lengths& lengths, int64_t longest, json* rows) {
  std::set<int64_t> steps = Steps(lengths);
  steps.insert(lengths.truncated.empty() ? longest : lengths.Longest());
  for (const int64_t tokens : steps)
    rows->push_back({{"series", series}, {"tokens", tokens}, {"finished", lengths.FinishedBy(tokens)}});
}

// Where a curve ends below 100 per cent, and why; above the curve or below it, so that two do not cover each
// other.
void AddEnd(const std::string& series, const Lengths& lengths, bool above, json* rows) {
  if (lengths.truncated.empty()) return;
  const double share = 100 - lengths.FinishedBy(lengths.Longest());
  rows->push_back({{"series", series},
                   {"side", above ? 1 : -1},
                   {"shown", fmt::format("{:.1f} % truncated", share)},
                   {"tokens", lengths.Longest()},
                   {"end", lengths.FinishedBy(lengths.Longest())}});
}

// The rows that have this field.
json Only(const char* field) { return json::array({{{"filter", {{"field", field}, {"valid", true}}}}}); }

json CurvePanel(const json& look, bool knows_ends) {
  const json x = Quantity("tokens", "trace length (tokens)");
  json y = Quantity("finished", knows_ends ? "traces finished (%)" : "traces (%)");
  y["scale"] = {{"domain", {0, 100}}};
  json line = {{"mark", {{"type", "line"}, {"interpolate", "step-after"}}}, {"transform", Only("finished")}};
  line["encoding"] = {{"x", x}, {"y", y}, {"color", look["color"]}, {"strokeDash", look["strokeDash"]}};
  const json place = {{"x", x}, {"y", {{"field", "end"}, {"type", "quantitative"}}}};
  json mark = {{"mark", {{"type", "point"}, {"style", "truncated"}}}, {"transform", Only("end")}};
  mark["encoding"] = place;
  mark["encoding"]["color"] = look["color"];
  json layers = json::array({line, mark});
  for (const int side : {1, -1}) {
    json text = {{"mark", {{"type", "text"}, {"style", {"note", side > 0 ? "above" : "below"}}}}};
    text["transform"] = json::array({{{"filter", {{"field", "side"}, {"equal", side}}}}});
    text["encoding"] = place;
    text["encoding"]["text"] = {{"field", "shown"}};
    text["encoding"]["color"] = look["color"];
    layers.push_back(text);
  }
  return {{"layer", layers}};
}

// Bars centred on multiples of their width, so that no difference stands on its own.
double BarWidth(const std::vector<Difference>& differences) {
  double least = 0, most = 0;
  for (const Difference& difference : differences) {
    least = std::min(least, difference.tokens);
    most = std::max(most, difference.tokens);
  }
  for (double power = 1;; power *= 10) {
    for (const double digit : {1, 2, 5}) {
      if ((most - least) / (digit * power) < kMostBars) return digit * power;
    }
  }
}

json Bars(const std::vector<Difference>& differences, double width, const std::string& series) {
  struct Counts {
    int64_t finished = 0, truncated = 0;
  };
  std::map<long, Counts> counts;
  for (const Difference& difference : differences) {
    Counts& bar = counts[std::lround(difference.tokens / width)];
    ++(difference.truncated ? bar.truncated : bar.finished);
  }
  json rows = json::array();
  for (const auto& [index, bar] : counts) {
    const double middle = static_cast<double>(index) * width;
    rows.push_back({{"series", series},
                    {"from", middle - width / 2},
                    {"to", middle + width / 2},
                    {"finished", bar.finished},
                    {"truncated", bar.truncated},
                    {"both", bar.finished + bar.truncated}});
  }
  return rows;
}

// What is written above the bars.
std::string Heading(const Comparison& pair, const PairedLengths& lengths) {
  const auto truncated = std::count_if(lengths.differences.begin(), lengths.differences.end(),
                                       [](const Difference& difference) { return difference.truncated; });
  const std::optional<double> mean = pair.lengths ? pair.lengths->all.difference.value : std::nullopt;
  std::string text = mean ? "mean " + Signed(*mean) : "";
  if (truncated > 0)
    text += fmt::format("{}grey: {} with a truncated trace", text.empty() ? "" : "; ", truncated);
  return text;
}

json DifferencePanel(const Comparison& pair, const PairedLengths& lengths, const json& look,
                     const std::string& a, const std::string& b) {
  const double width = BarWidth(lengths.differences);
  json x = Quantity("from", fmt::format("{} − {}, item by item (tokens)", b, a));
  const auto [least, most] =
      std::minmax_element(lengths.differences.begin(), lengths.differences.end(),
                          [](const auto& p, const auto& q) { return p.tokens < q.tokens; });
  // A few bars wide where there is but one.
  x["scale"] = {{"domain",
                 {std::min(least->tokens, -kLeastBars * width) - width / 2,
                  std::max(most->tokens, kLeastBars * width) + width / 2}}};
  json bars = json::parse(R"({"mark": {"type": "rect", "style": "histogram"}})");
  bars["encoding"] = {{"x", x},
                      {"x2", {{"field", "to"}}},
                      {"y", Quantity("finished", "items")},
                      {"y2", {{"datum", 0}}},
                      {"color", look["color"]}};
  json cut = json::parse(R"({"mark": {"type": "rect", "style": ["histogram", "muted"]}})");
  cut["encoding"] = {{"x", x}, {"x2", {{"field", "to"}}}, {"y", Quantity("both", "items")}};
  cut["encoding"]["y2"] = {{"field", "finished"}};
  json layers = json::array({bars, cut});
  layers.push_back(
      json::parse(R"({"mark": {"type": "rule", "style": "reference"}, "encoding": {"x": {"datum": 0}}})"));
  json note = {{"data", {{"values", json::array({json::object()})}}}};
  note["mark"] = {{"type", "text"}, {"style", {"note", "heading"}}, {"text", Heading(pair, lengths)}};
  note["encoding"] = {{"x", {{"value", "width"}}}, {"y", {{"value", 0}}}};
  layers.push_back(note);
  json panel = {{"layer", layers}};
  panel["data"] = {{"values", Bars(lengths.differences, width, b)}};
  return panel;
}

// Whether every trace is as long as every other: answers of one token, say.
bool AllAlike(const PairedLengths& lengths) {
  std::set<int64_t> different;
  for (const Lengths* of : {&lengths.a, &lengths.b}) {
    different.insert(of->finished.begin(), of->finished.end());
    different.insert(of->truncated.begin(), of->truncated.end());
  }
  return different.size() < 2;
}

std::optional<Chart> LengthChart(const Comparison& pair, const ChartLooks& looks, const std::string& name,
                                 const std::string& group) {
  const bool known =
      pair.a->run.ask == "generate" && pair.a->Knows("trace_tokens") && pair.b->Knows("trace_tokens");
  if (!known) return std::nullopt;
  const PairedLengths lengths = ReadLengths(pair);
  if (lengths.differences.empty() || AllAlike(lengths)) return std::nullopt;
  const std::string &a = looks.Shown(pair.a->run.setting), &b = looks.Shown(pair.b->run.setting);
  json rows = json::array();
  const int64_t longest = std::max(lengths.a.Longest(), lengths.b.Longest());
  AddCurve(a, lengths.a, longest, &rows);
  AddCurve(b, lengths.b, longest, &rows);
  const bool a_above = lengths.a.FinishedBy(longest) > lengths.b.FinishedBy(longest);
  AddEnd(a, lengths.a, a_above, &rows);
  AddEnd(b, lengths.b, !a_above, &rows);
  const json look = SeriesEncoding(looks, {a, b}, Look::kDash, Legend::kInsideBottomRight);
  const json plain = SeriesEncoding(looks, {b}, Look::kColour, Legend::kNone);
  const bool knows_ends = pair.a->Knows("stop_reason") && pair.b->Knows("stop_reason");
  json spec;
  spec["hconcat"] = json::array({CurvePanel(look, knows_ends), DifferencePanel(pair, lengths, plain, a, b)});
  spec["resolve"] = json::parse(R"({"legend": {"color": "independent", "strokeDash": "independent"}})");
  return MakeChart(
      name,
      fmt::format("{}: trace lengths of {} and {} on {} items", group, a, b, lengths.differences.size()),
      std::move(spec), std::move(rows));
}

}  // namespace

std::vector<Chart> LengthCharts(std::span<const Comparison> pairs, const ChartLooks& looks) {
  std::vector<Chart> charts;
  const std::vector<const Comparison*> chosen = AgainstBaseline(pairs);
  std::vector<const RunResults*> runs;
  for (const Comparison* pair : chosen) runs.push_back(pair->b);
  const std::vector<RunLabel> labels = LabelRuns(runs, looks);
  std::set<std::string> taken;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const std::string name = TakeName("lengths_" + ChartName(runs[i]->run.setting), &taken);
    auto chart = LengthChart(*chosen[i], looks, name, labels[i].group);
    if (chart) charts.push_back(std::move(*chart));
  }
  return charts;
}

}  // namespace fullband
