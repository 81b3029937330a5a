#include "reports/spelling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fullband {

std::string Fixed(std::optional<double> value, int digits, bool sign) {
  if (!value) return kNoValue;
  std::string text = sign ? fmt::format("{:+.{}f}", *value, digits) : fmt::format("{:.{}f}", *value, digits);
  const bool zero = text.find_first_not_of("+-0.") == std::string::npos;
  if (zero && (text.front() == '-' || text.front() == '+')) text.erase(0, 1);
  return text;
}

std::string Percent(std::optional<double> share) {
  return share ? Fixed(100 * *share, 1) + " %" : std::string(kNoValue);
}

std::string PercentInterval(const Interval& interval) {
  return Fixed(100 * interval.low, 1) + " – " + Fixed(100 * interval.high, 1);
}

std::string Difference(std::optional<double> mean, const std::optional<Interval>& interval, double scale) {
  if (!mean) return kNoValue;
  std::string text = Fixed(scale * *mean, 1, true);
  if (interval) {
    text +=
        " (" + Fixed(scale * interval->low, 1, true) + " … " + Fixed(scale * interval->high, 1, true) + ")";
  }
  return text;
}

std::string Count(int64_t value) {
  std::string text = std::to_string(value);
  const size_t first = text.front() == '-' ? 1 : 0;
  for (size_t i = text.size(); i > first + 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string Bytes(int64_t bytes) {
  if (bytes <= 0) return kNoValue;
  const double mib = static_cast<double>(bytes) / (1 << 20);
  return mib < 1024 ? fmt::format("{:.0f} MiB", mib) : fmt::format("{:.1f} GiB", mib / 1024);
}

std::string PValue(double p) { return p < 0.001 ? fmt::format("{:.2e}", p) : fmt::format("{:.3f}", p); }

std::string Joined(const std::vector<std::string>& parts, const std::string& separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

}  // namespace fullband
