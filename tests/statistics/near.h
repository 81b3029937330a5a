// Comparisons of estimates with figures.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "reports/statistics/estimate.h"

namespace fullband {

MATCHER_P3(IntervalNear, low, high, tolerance, "") {
  if (!arg) {
    *result_listener << "which is no interval";
    return false;
  }
  *result_listener << "which is " << arg->low << " to " << arg->high;
  return std::abs(arg->low - low) <= tolerance && std::abs(arg->high - high) <= tolerance;
}

}  // namespace fullband
