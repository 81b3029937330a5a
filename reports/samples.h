// Figures of runs with several samples of an item.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/results.h"

namespace fullband {

// A chance of k samples, as the mean over items.
struct ChanceAtK {
  int k = 1;
  int64_t items = 0;        // with at least k samples that count
  int64_t short_items = 0;  // answered, with fewer: left out
  std::optional<double> mean;
  std::optional<double> error;  // standard error over items; nothing for fewer than two
};

// By the headline grader. Faults and samples without a verdict are left out, as in every accuracy.
struct SampleFigures {
  int samples = 0;                  // the most that an item has
  std::optional<double> accuracy;   // over items, of the mean over an item's samples
  std::optional<double> error;      // of it: the samples of an item are one cluster
  std::vector<double> by_sample;    // accuracy of the first samples of all items, the second ones, ...
  std::optional<double> spread;     // standard deviation of those
  std::vector<ChanceAtK> pass;      // pass@k
  std::vector<ChanceAtK> majority;  // maj@k; empty where the grader compares no answers
};

SampleFigures FiguresOfSamples(const RunResults& results, const std::vector<int>& ks);

// 1, the powers of two and of five up to `samples`, and `samples`, ascending.
std::vector<int> UsualKs(int samples);

// Of one item; nothing where fewer than k of its samples count. Comparisons take them item by item.
std::optional<double> PassAtK(const ItemResult& item, const std::string& grader, int k);
// By the grader whose answers `ItemResult` numbers: the headline.
std::optional<double> MajorityAtK(const ItemResult& item, const std::string& headline, int k);

}  // namespace fullband
