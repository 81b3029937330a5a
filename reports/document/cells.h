// The usual cells: figures as people read them, with the numbers they stand for.
#pragma once

#include <cstdint>
#include <optional>

#include "reports/document/document.h"
#include "reports/statistics/estimate.h"

namespace fullband {

// All of these show kNoValue and hold no number where there is nothing.
Cell CountCell(int64_t value);
Cell FixedCell(std::optional<double> value, int digits, bool sign = false);
Cell PercentCell(std::optional<double> share);
// "19.0 – 23.4" of the fractions "low" and "high".
Cell PercentIntervalCell(const std::optional<Interval>& interval);
// "45.8 % ± 20.8", with "error".
Cell PercentErrorCell(std::optional<double> share, std::optional<double> error);
// "+1.5 (-0.5 … +3.5)", with "low" and "high"; all numbers times `scale` (100: points).
Cell DifferenceCell(std::optional<double> mean, const std::optional<Interval>& interval, double scale = 1);
Cell BytesCell(int64_t bytes);
Cell PValueCell(std::optional<double> p);

}  // namespace fullband
