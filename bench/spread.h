// Statistics of repeated measurements.
#pragma once

#include <span>
#include <vector>

namespace fullband {

struct Spread {
  double median = 0, least = 0, most = 0;
};

// Of at least one value. The median of an even number of values is the mean of the middle two.
Spread SpreadOf(std::vector<double> values);

// Where the median of what the values were drawn from lies.
struct MedianInterval {
  double low = 0, high = 0;
  double confidence = 0;  // what the interval really has
};

// Between two order statistics, as many from the lower end as from the upper, so that no distribution is
// assumed: the narrowest such interval whose confidence is at least `confidence`; the whole range, with the
// confidence that it has, where the values are too few.
MedianInterval MedianIntervalOf(std::vector<double> values, double confidence = 0.95);

}  // namespace fullband
