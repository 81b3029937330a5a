// How many items it takes to see a difference.
#pragma once

#include <cstdint>
#include <optional>

namespace fullband {

// Shares of items: right in A alone, right in B alone.
struct DiscordantShares {
  double only_a = 0, only_b = 0;
};

// All of these throw std::invalid_argument unless the shares are at least 0 and at most 1 together, 0 < alpha
// < 1, and (where it is asked for) 0 < power < 1.

// The chance that McNemarExact gives at most `alpha` for so many items, exactly: summed over how many items
// are discordant and how these are split (unconditional power; Duffy, Biometrics 40, 1984, 1005-1015). No
// discordant items: 0. Where the shares are equal it is the chance of an error, which is less than alpha, as
// the test is exact.
double McNemarPower(int64_t items, const DiscordantShares& shares, double alpha = 0.05);

// Connor's formula (Biometrics 43, 1987, 207-211) for the items that McNemar's test without continuity
// correction needs; not rounded. Nothing where the shares are equal.
std::optional<double> ConnorItems(const DiscordantShares& shares, double alpha = 0.05, double power = 0.8);

// The items that McNemarExact needs by McNemarPower: that many have at least `power`, one item less has not.
// (Power is a saw: a few more items may have a little less again.) Nothing where the shares are equal (no
// number is enough) and where it would take more than kMostItems. The observed shares of a few items are
// themselves uncertain, and the number with them: it is a size to plan with and no finding.
inline constexpr int64_t kMostItems = 1'000'000'000;
std::optional<int64_t> ItemsNeeded(const DiscordantShares& shares, double alpha = 0.05, double power = 0.8);

// The items needed for a mean of paired differences (n samples an item: of the items' mean differences),
// normal approximation (Miller, "Adding Error Bars to Evals", arXiv 2411.00640); not rounded.
// `deviation` is the items' standard deviation, of the same unit as `difference`. Nothing where the
// difference is 0. A deviation of 0 needs 0. Throws std::invalid_argument for a negative deviation.
std::optional<double> ItemsForMeanDifference(double deviation, double difference, double alpha = 0.05,
                                             double power = 0.8);

}  // namespace fullband
