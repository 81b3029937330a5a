// Parts that the charts' specs are made of. Fields of the data have fixed names; what runs are called is data
// only, so that no name is ever read as an expression or a path. `series` is the field that says which of
// ChartLooks' names a row belongs to.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/charts/labels.h"
#include "reports/document/document.h"

namespace fullband {

// Where the legend stands; kNone where rows or labels say what is what.
enum class Legend { kNone, kRight, kInsideBottomRight };

// What tells series apart beside their colours: lines with points have shapes, lines without have dashes.
enum class Look { kColour, kShape, kDash };

// The encodings of `series`: "color", and "shape" or "strokeDash". Legends have `present` only, in the order
// of the looks, and are left out where there is only one. Layers of one panel have to have the same legend.
nlohmann::json SeriesEncoding(const ChartLooks& looks, const std::vector<std::string>& present, Look second,
                              Legend legend);

// A quantitative channel.
nlohmann::json Quantity(const std::string& field, const std::string& title, bool zero = true);

// From zero where that costs no more than half of the width; else round numbers around the values. Within
// `least` and `most`.
struct AxisRange {
  double low = 0, high = 1;
};
AxisRange RangeOf(std::span<const double> values, double least, double most);

// `unit` for each of `groups` (the field `group`), about `columns` beside each other, headed by the group's
// name; the unit alone where there is one group.
nlohmann::json Faceted(nlohmann::json unit, const std::vector<std::string>& groups, int columns);

// With $schema and the data.
Chart MakeChart(const std::string& name, const std::string& title, nlohmann::json spec, nlohmann::json rows);

// "+1.5", "−1.5", with one digit and a true minus.
std::string Signed(double value);

// Appends what is not there yet.
void AddOnce(const std::string& text, std::vector<std::string>* texts);

}  // namespace fullband
