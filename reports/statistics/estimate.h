// What the statistics hand back. Shares and their differences are fractions (0.25, not 25), lengths are
// tokens.
#pragma once

#include <cstdint>
#include <optional>

namespace fullband {

struct Interval {
  double low = 0, high = 0;
};

// A figure over items (or over suites, where that is said).
struct Estimate {
  int64_t items = 0;                 // that count
  std::optional<double> value;       // nothing where none counts
  std::optional<double> error;       // standard error; only where the function's comment promises one
  std::optional<Interval> interval;  // nothing where the items tell nothing of their spread
};

}  // namespace fullband
