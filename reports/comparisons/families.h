// Which runs a report compares, how many tests it makes at once, and what they say across suites.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/comparison.h"
#include "reports/statistics/suites.h"

namespace fullband {

// Pairs of settings: runs of the same weights, suite, format and shots, in the order of `runs` (as
// ReadResults sorts them). A pair that differs in more than its setting is left out where the same two
// settings also come in a pair that does not.
std::vector<RunPair> SettingPairs(std::span<const RunResults> runs);

// Pairs of models: runs of the same suite, setting, format and shots, likewise.
std::vector<RunPair> ModelPairs(std::span<const RunResults> runs);

// Corrects the p-values of each family by Holm's method, and works out how many items it takes to see the
// differences that are not significant: with a chance of kPower, at what Holm's method asks of a family's
// smallest p-value (kSignificance over their number). Comparisons without a p-value are no tests and do not
// count.
using FamilyOf = std::function<std::string(const Comparison&)>;
void CorrectFamilies(const FamilyOf& family_of, std::vector<Comparison>* comparisons);

// A report's families: what is read off one table. Of settings the pairs of one suite and one model, of
// models the pairs of one suite under one setting.
std::string ReportFamily(const Comparison& comparison);

// All pairs of a suite, settings first, then models, corrected.
std::vector<Comparison> CompareSuite(std::span<const RunResults> runs);

// The same two settings of one model, or the same two models under one setting, over the suites that have
// both.
struct AcrossSuites {
  std::vector<const Comparison*> suites;  // one a suite: the first that a suite has of them
  int64_t further = 0;  // comparisons of a suite that has several (other formats or shots): left out
  SuitesEstimate macro_a, macro_b, macro;  // of accuracies, and of their paired differences, B less A
  SuitesEstimate micro_a, micro_b, micro;
};

// Of comparisons of one suite each; nothing for fewer than two. It points into `comparisons`.
std::optional<AcrossSuites> AcrossAll(std::span<const Comparison> comparisons);

// Of those that at least two suites have, in the order of the first. They point into `comparisons`.
std::vector<AcrossSuites> CompareAcrossSuites(std::span<const Comparison> comparisons);

}  // namespace fullband
