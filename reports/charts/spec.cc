#include "reports/charts/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace fullband {
namespace {

using nlohmann::json;

// Filled shapes that stay apart when they are small and without colour.
constexpr const char* kShapes[] = {"circle",        "square",         "triangle-up", "diamond",
                                   "triangle-down", "triangle-right", "cross"};
// Lengths of dash and gap, in the unit of the lines' width.
constexpr const char* kDashes[] = {"[1,0]", "[6,2]", "[2,2]", "[8,2,2,2]", "[4,4]"};

// Names beyond the renderer's kColours colours have these again, but for the first: what has the same colour
// has another shape, and another dash.
constexpr size_t kColours = 8;

size_t Round(size_t place) { return place < kColours ? 0 : (place - kColours) / (kColours - 1) + 1; }

json Shapes(size_t count) {
  json shapes = json::array();
  for (size_t i = 0; i < count; ++i) shapes.push_back(kShapes[(i + 2 * Round(i)) % std::size(kShapes)]);
  return shapes;
}

json Dashes(size_t count) {
  json dashes = json::array();
  for (size_t i = 0; i < count; ++i) dashes.push_back(json::parse(kDashes[i % std::size(kDashes)]));
  return dashes;
}

// 1, 2 or 5 times a power of ten: about `count` of them fill `span`.
double NiceStep(double span, double count) {
  const double power = std::pow(10, std::floor(std::log10(span / count)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power * count >= span * 0.999) return digit * power;
  }
  return 10 * power;
}

}  // namespace

json SeriesEncoding(const ChartLooks& looks, const std::vector<std::string>& present, Look second,
                    Legend legend) {
  json shown = json::array();
  for (const std::string& name : looks.Shown()) {
    if (std::find(present.begin(), present.end(), name) != present.end()) shown.push_back(name);
  }
  json look = {{"field", "series"}, {"type", "nominal"}, {"title", nullptr}, {"sort", nullptr}};
  look["scale"] = {{"domain", looks.Shown()}};
  look["legend"] = nullptr;
  if (legend != Legend::kNone && shown.size() > 1) {
    look["legend"] = {{"values", shown}};
    if (legend == Legend::kInsideBottomRight) look["legend"]["orient"] = "bottom-right";
    // Lines that are long enough to show their dashes.
    if (second == Look::kDash) look["legend"].update({{"symbolType", "stroke"}, {"symbolSize", 500}});
  }
  json encoding = {{"color", look}};
  const size_t count = looks.Shown().size();
  if (second == Look::kShape) {
    encoding["shape"] = look;
    encoding["shape"]["scale"]["range"] = Shapes(count);
  }
  if (second == Look::kDash) {
    encoding["strokeDash"] = look;
    encoding["strokeDash"]["scale"]["range"] = Dashes(count);
  }
  return encoding;
}

json Quantity(const std::string& field, const std::string& title, bool zero) {
  json channel = {{"field", field}, {"type", "quantitative"}, {"title", title}};
  channel["scale"] = {{"zero", zero}};
  channel["axis"] = {{"grid", true}};
  return channel;
}

AxisRange RangeOf(std::span<const double> values, double least, double most) {
  if (values.empty()) return {least, most};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const bool from_zero = *low >= 0 && *low <= *high / 2;
  const double bottom = from_zero ? 0 : *low;
  const double step = NiceStep(*high > bottom ? *high - bottom : 1, 8);
  return {std::max(least, std::floor(bottom / step) * step), std::min(most, std::ceil(*high / step) * step)};
}

json Faceted(json unit, const std::vector<std::string>& groups, int columns) {
  if (groups.size() < 2) return unit;
  if (columns > 1 && groups.size() <= 4) columns = groups.size() == 3 ? 3 : 2;
  json spec;
  spec["facet"] = {{"field", "group"}, {"type", "nominal"}, {"sort", groups}, {"title", nullptr}};
  spec["columns"] = columns;
  // Else the axis of a column whose last place is empty would stand there alone.
  if (groups.size() % static_cast<size_t>(columns) != 0) spec["resolve"]["axis"]["x"] = "independent";
  spec["spec"] = std::move(unit);
  return spec;
}

Chart MakeChart(const std::string& name, const std::string& title, json spec, json rows) {
  spec["$schema"] = "https://vega.github.io/schema/vega-lite/v5.json";
  spec["data"] = {{"values", std::move(rows)}};
  return {ChartName(name), title, std::move(spec)};
}

std::string Signed(double value) {
  std::string text = fmt::format("{:+.1f}", value);
  if (text == "-0.0") text = "+0.0";
  return text[0] == '-' ? "−" + text.substr(1) : text;
}

void AddOnce(const std::string& text, std::vector<std::string>* texts) {
  if (std::find(texts->begin(), texts->end(), text) == texts->end()) texts->push_back(text);
}

}  // namespace fullband
