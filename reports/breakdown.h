// Accuracy by the groups that a suite names: by kind and difficulty, say.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/results.h"

namespace fullband {

// One run's items with a row's values.
struct BreakdownCell {
  int64_t items = 0;   // with a verdict of the headline grader that counts
  double correct = 0;  // sum of the items' scores

  std::optional<double> Share() const;
};

struct BreakdownRow {
  enum class Kind {
    kValues,  // the items with these values
    kSum,     // those of several rows
    kMean,    // the mean of several rows' shares: a row counts as an item does elsewhere
  };
  // A value, or range of values, for each field; "all" where the row sums up, "mean" where it is a mean.
  std::vector<std::string> labels;
  std::vector<BreakdownCell> cells;  // one a run
  Kind kind = Kind::kValues;
};

struct Breakdown {
  std::vector<std::string> fields;
  std::vector<const RunResults*> runs;
  // Sorted by value: numbers ascending, texts as the data have them. With two fields, the rows of each of the
  // first one's values stand together and end with their sum. Where the last field's values are texts, such
  // as subjects, the mean over them follows each sum.
  std::vector<BreakdownRow> rows;
};

// The most rows that a field's numbers fill on their own. Where there are more numbers, ranges of equal width
// (1, 2 or 5 times a power of ten) take their place.
inline constexpr size_t kMostNumberRows = 10;

// One for each list of fields that items of these runs, all of one suite, are grouped by; none where there is
// no such item. Runs without groups are in none.
std::vector<Breakdown> BreakDown(std::span<const RunResults> runs);

}  // namespace fullband
