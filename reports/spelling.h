// How figures are spelt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/statistics/estimate.h"

namespace fullband {

// What has no value is written as a dash.
inline constexpr char kNoValue[] = "–";

std::string Fixed(std::optional<double> value, int digits, bool sign = false);  // never "-0.0"
std::string Percent(std::optional<double> share);                               // 0.25 -> "25.0 %"
std::string PercentInterval(const Interval& interval);                          // "19.0 – 23.4"
std::string Difference(std::optional<double> mean, const std::optional<Interval>& interval, double scale = 1);
std::string Count(int64_t value);  // "1,234,567"
std::string Bytes(int64_t bytes);  // "1.5 GiB"
std::string PValue(double p);      // "0.031", "4.45e-08"

std::string Joined(const std::vector<std::string>& parts, const std::string& separator = ", ");

}  // namespace fullband
