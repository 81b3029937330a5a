#include "reports/statistics/power.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "reports/statistics/critical.h"

namespace fullband {

namespace {

void Check(const DiscordantShares& shares) {
  // A little more than 1 is what rounding makes of shares that sum to 1.
  if (!(shares.only_a >= 0 && shares.only_b >= 0 && shares.only_a + shares.only_b <= 1 + 1e-12))
    throw std::invalid_argument("the shares of discordant items are not among 0 .. 1");
}

void CheckChance(double chance, const char* name) {
  if (!(chance > 0 && chance < 1)) throw std::invalid_argument(std::string(name) + " is not between 0 and 1");
}

double Discordant(const DiscordantShares& shares) { return std::min(shares.only_a + shares.only_b, 1.0); }

// P(X <= most) for X ~ Binomial(trials, share), led on a step at a time: thousands of them for a power.
// `most` of -1 stands for the empty event.
class LowerTail {
 public:
  LowerTail(int64_t trials, int64_t most, double share) : trials_(trials), most_(most), share_(share) {
    if (most < 0 || share == 1) return;
    const boost::math::binomial distribution(static_cast<double>(trials), share);
    chance_ = boost::math::cdf(distribution, static_cast<double>(most));
    at_most_ = boost::math::pdf(distribution, static_cast<double>(most));
  }

  void AddTrial() {
    ++trials_;
    if (most_ < 0 || share_ == 1) return;
    chance_ -= share_ * at_most_;
    at_most_ *= (1 - share_) * static_cast<double>(trials_) / static_cast<double>(trials_ - most_);
  }

  // What the chance would be after Raise.
  double Raised() const { return chance_ + Next(); }

  void Raise() {
    at_most_ = Next();
    chance_ += at_most_;
    ++most_;
  }

  int64_t most() const { return most_; }
  double chance() const { return chance_; }

 private:
  // P(X = most + 1).
  double Next() const {
    if (share_ == 1) return 0;  // never asked for so many that all trials fit in
    if (most_ < 0) return std::pow(1 - share_, static_cast<double>(trials_));
    return at_most_ * static_cast<double>(trials_ - most_) / static_cast<double>(most_ + 1) * share_ /
           (1 - share_);
  }

  int64_t trials_, most_;
  double share_, chance_ = 0, at_most_ = 0;
};

// The chances of so many discordant items as matter: outside of them lie less than 1e-15.
struct DiscordantChances {
  int64_t first = 0;
  std::vector<double> chances;
};

DiscordantChances ChancesOf(int64_t items, double share) {
  if (share == 0) return {0, {1}};
  if (share == 1) return {items, {1}};
  const double n = static_cast<double>(items), reach = 9 * std::sqrt(n * share * (1 - share)) + 20;
  const int64_t mode = std::min(static_cast<int64_t>(std::floor((n + 1) * share)), items);
  const int64_t first = std::max(mode - static_cast<int64_t>(reach), int64_t{0});
  const int64_t last = std::min(mode + static_cast<int64_t>(reach), items);
  DiscordantChances of{first, std::vector<double>(static_cast<size_t>(last - first + 1))};
  const double odds = share / (1 - share);
  const size_t middle = static_cast<size_t>(mode - first);
  of.chances[middle] = boost::math::pdf(boost::math::binomial(n, share), static_cast<double>(mode));
  for (size_t i = middle; i > 0; --i) {
    const double count = static_cast<double>(first) + static_cast<double>(i);
    of.chances[i - 1] = of.chances[i] * count / (n - count + 1) / odds;
  }
  for (size_t i = middle; i + 1 < of.chances.size(); ++i) {
    const double count = static_cast<double>(first) + static_cast<double>(i);
    of.chances[i + 1] = of.chances[i] * (n - count) / (count + 1) * odds;
  }
  return of;
}

// The most items on the rarer side with which a split of so many discordant ones is still significant; -1:
// none.
int64_t CriticalSplit(int64_t discordant, double alpha) {
  if (discordant == 0) return -1;
  const boost::math::binomial coin(static_cast<double>(discordant), 0.5);
  const auto significant = [&](int64_t most) {
    return most < 0 || 2 * boost::math::cdf(coin, static_cast<double>(most)) <= alpha;
  };
  int64_t yes = -1,
          no = discordant / 2 + 1;  // a half has at least the chance 1/2, so that it is never significant
  while (no - yes > 1) {
    const int64_t middle = yes + (no - yes) / 2;
    (significant(middle) ? yes : no) = middle;
  }
  return yes;
}

}  // namespace

double McNemarPower(int64_t items, const DiscordantShares& shares, double alpha) {
  Check(shares);
  CheckChance(alpha, "alpha");
  if (items < 0) throw std::invalid_argument("McNemarPower: the number of items is negative");
  const double discordant = Discordant(shares);
  if (items == 0 || discordant == 0) return 0;
  const double share_a = std::min(shares.only_a / discordant, 1.0),
               share_b = std::min(shares.only_b / discordant, 1.0);
  const DiscordantChances of = ChancesOf(items, discordant);
  const int64_t critical = CriticalSplit(of.first, alpha);
  LowerTail fair(of.first, critical, 0.5), few_a(of.first, critical, share_a),
      few_b(of.first, critical, share_b);
  double power = 0;
  for (const double chance : of.chances) {
    power += chance * (few_a.chance() + few_b.chance());
    fair.AddTrial();
    few_a.AddTrial();
    few_b.AddTrial();
    while (2 * fair.Raised() <= alpha) {
      fair.Raise();
      few_a.Raise();
      few_b.Raise();
    }
  }
  return std::clamp(power, 0.0, 1.0);
}

namespace {

// The normal reaches that a significant difference has to bridge: of the test, and of its power.
double Bridged(const DiscordantShares& shares, double alpha, double power) {
  const double discordant = Discordant(shares), difference = shares.only_b - shares.only_a;
  const double z_power = boost::math::quantile(boost::math::normal(), power);
  return NormalReach(1 - alpha) * std::sqrt(discordant) +
         z_power * std::sqrt(std::max(discordant - difference * difference, 0.0));
}

}  // namespace

std::optional<double> ConnorItems(const DiscordantShares& shares, double alpha, double power) {
  Check(shares);
  CheckChance(alpha, "alpha");
  CheckChance(power, "power");
  const double difference = shares.only_b - shares.only_a;
  if (difference == 0) return std::nullopt;
  const double root = std::max(Bridged(shares, alpha, power), 0.0) / difference;
  return root * root;
}

std::optional<int64_t> ItemsNeeded(const DiscordantShares& shares, double alpha, double power) {
  const std::optional<double> normal = ConnorItems(shares, alpha, power);
  if (!normal || *normal > static_cast<double>(kMostItems)) return std::nullopt;
  const auto enough = [&](int64_t items) { return McNemarPower(items, shares, alpha) >= power; };
  // The exact test needs about 1/|difference| items more.
  int64_t no = static_cast<int64_t>(*normal * 0.9), yes = static_cast<int64_t>(*normal) + 8;
  while (no > 0 && enough(no)) no /= 2;
  while (!enough(yes)) {
    no = yes;
    if (yes > kMostItems) return std::nullopt;
    yes += yes / 4;
  }
  while (yes - no > 1) {
    const int64_t middle = no + (yes - no) / 2;
    (enough(middle) ? yes : no) = middle;
  }
  return yes;
}

std::optional<double> ItemsForMeanDifference(double deviation, double difference, double alpha,
                                             double power) {
  CheckChance(alpha, "alpha");
  CheckChance(power, "power");
  if (!(deviation >= 0)) throw std::invalid_argument("ItemsForMeanDifference: the deviation is negative");
  if (difference == 0) return std::nullopt;
  const double z_power = boost::math::quantile(boost::math::normal(), power);
  const double root = std::max(NormalReach(1 - alpha) + z_power, 0.0) * deviation / difference;
  return root * root;
}

}  // namespace fullband
