#include "reports/document/cells.h"

#include "reports/spelling.h"

namespace fullband {
namespace {

std::vector<NamedNumber> Ends(const std::optional<Interval>& interval, double scale = 1) {
  if (!interval) return {};
  return {{"low", scale * interval->low}, {"high", scale * interval->high}};
}

}  // namespace

Cell CountCell(int64_t value) { return {Count(value), static_cast<double>(value)}; }

Cell FixedCell(std::optional<double> value, int digits, bool sign) {
  return {Fixed(value, digits, sign), value};
}

Cell PercentCell(std::optional<double> share) { return {Percent(share), share}; }

Cell PercentIntervalCell(const std::optional<Interval>& interval) {
  return {interval ? PercentInterval(*interval) : std::string(kNoValue), std::nullopt, Ends(interval)};
}

Cell PercentErrorCell(std::optional<double> share, std::optional<double> error) {
  Cell cell = PercentCell(share);
  if (!error) return cell;
  cell.text += " ± " + Fixed(100 * *error, 1);
  cell.further.push_back({"error", *error});
  return cell;
}

Cell DifferenceCell(std::optional<double> mean, const std::optional<Interval>& interval, double scale) {
  if (!mean) return kNoValue;
  return {Difference(mean, interval, scale), scale * *mean, Ends(interval, scale)};
}

Cell BytesCell(int64_t bytes) {
  if (bytes <= 0) return kNoValue;
  return {Bytes(bytes), static_cast<double>(bytes)};
}

Cell PValueCell(std::optional<double> p) {
  if (!p) return kNoValue;
  return {PValue(*p), p};
}

}  // namespace fullband
