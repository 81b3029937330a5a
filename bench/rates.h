// What repeats of one piece of work say: rates, and how near to the machine's bounds they are.
#pragma once

#include <optional>

#include "bench/figures.h"
#include "bench/spread.h"

namespace fullband {

struct Rates {
  Spread tokens;  // a second
  // Of the median repeat.
  double flops = 0;                      // operations a second
  double bytes = 0;                      // a second
  std::optional<double> roofline_share;  // of min(peak, bandwidth x intensity); nothing without bounds
};

Rates RatesOf(const Figure& figure, const MachineFigures& machine);

}  // namespace fullband
