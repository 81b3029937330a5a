// How often the intervals of reports hold what they promise: Markdown tables of coverage, simulated with
// populations whose figures are known. No test: its figures are for readers. scripts/simulate_coverage builds
// and runs it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "common/hash.h"
#include "reports/statistics/bootstrap.h"
#include "reports/statistics/clusters.h"
#include "reports/statistics/power.h"
#include "reports/statistics/proportions.h"
#include "reports/statistics/significance.h"
#include "reports/statistics/suites.h"
#include "reports/statistics/summaries.h"
#include "reports/statistics/truncation.h"

namespace fullband {
namespace {

// Tables drawn for a figure; intervals that are themselves resampled get a tenth.
int g_tables = 20'000;

class Random {
 public:
  // In (0, 1).
  double Uniform() { return (static_cast<double>(Mix64(stream_ + draw_++) >> 11) + 0.5) * 0x1p-53; }
  bool Chance(double p) { return Uniform() < p; }

 private:
  uint64_t stream_ = Mix64(2026), draw_ = 0;
};

Random g_random;

void Header(const std::string& title, const std::string& first, const std::vector<std::string>& columns) {
  fmt::print("\n## {}\n| {} |", title, first);
  for (const std::string& column : columns) fmt::print(" {} |", column);
  fmt::print("\n|---|");
  for (size_t i = 0; i < columns.size(); ++i) fmt::print("---:|");
  fmt::print("\n");
}

void Row(const std::string& name, const std::vector<double>& shares) {
  fmt::print("| {} |", name);
  for (const double share : shares) fmt::print(" {:.1f} % |", 100 * share);
  fmt::print("\n");
  std::fflush(stdout);
}

std::vector<std::string> Names(const std::string& before, const std::vector<int>& numbers) {
  std::vector<std::string> names;
  for (const int number : numbers) names.push_back(before + std::to_string(number));
  return names;
}

// The share of tables whose interval holds the truth; a table without an interval misses it.
double Coverage(int tables, double truth, const std::function<std::optional<Interval>()>& interval) {
  int held = 0;
  for (int i = 0; i < tables; ++i) {
    const std::optional<Interval> of = interval();
    held += of && of->low <= truth && truth <= of->high;
  }
  return static_cast<double>(held) / tables;
}

// Not simulated: every number of right items, weighted with its chance.
double WilsonCoverage(int items, double p) {
  double coverage = 0;
  for (int right = 0; right <= items; ++right) {
    const Interval interval = WilsonInterval(right, items);
    if (interval.low > p || p > interval.high) continue;
    coverage +=
        std::exp(std::lgamma(items + 1.0) - std::lgamma(right + 1.0) - std::lgamma(items - right + 1.0) +
                 right * std::log(p) + (items - right) * std::log1p(-p));
  }
  return coverage;
}

void PrintWilson() {
  const std::vector<int> sizes = {10, 30, 100, 500, 1319};
  Header("Wilson's interval (exact, no simulation)", "share right", Names("n = ", sizes));
  for (const double p : {0.02, 0.1, 0.25, 0.5, 0.9}) {
    std::vector<double> shares;
    for (const int items : sizes) shares.push_back(WilsonCoverage(items, p));
    Row(fmt::format("{}", p), shares);
  }
}

struct PairedShares {
  double both, only_a, only_b;
};

const PairedShares kPopulations[] = {{0.5, 0.1, 0.1},
                                     {0.3, 0.05, 0.15},
                                     {207 / 1319.0, 71 / 1319.0, 153 / 1319.0},
                                     {0.9, 0.02, 0.03},
                                     {0.0, 0.01, 0.04}};

PairedCounts Draw(const PairedShares& shares, int64_t items) {
  PairedCounts counts;
  for (int64_t i = 0; i < items; ++i) {
    const double u = g_random.Uniform();
    if (u < shares.both) {
      ++counts.both;
    } else if (u < shares.both + shares.only_a) {
      ++counts.only_a;
    } else if (u < shares.both + shares.only_a + shares.only_b) {
      ++counts.only_b;
    } else {
      ++counts.neither;
    }
  }
  return counts;
}

std::string Name(const PairedShares& shares) {
  return fmt::format("{:.3g}, {:.3g}, {:.3g}", shares.both, shares.only_a, shares.only_b);
}

// The usual interval, for comparison.
Interval Wald(const PairedCounts& counts) {
  const double n = static_cast<double>(counts.Items());
  const double difference = static_cast<double>(counts.only_b - counts.only_a) / n;
  const double discordant = static_cast<double>(counts.only_a + counts.only_b) / n;
  const double reach = 1.959964 * std::sqrt((discordant - difference * difference) / n);
  return {difference - reach, difference + reach};
}

void PrintPaired() {
  const std::vector<int> sizes = {10, 30, 100, 500, 1319};
  const auto print = [&](const std::string& title,
                         const std::function<Interval(const PairedCounts&)>& interval) {
    Header(title, "both, only A, only B", Names("n = ", sizes));
    for (const PairedShares& shares : kPopulations) {
      std::vector<double> row;
      for (const int items : sizes) {
        row.push_back(Coverage(g_tables, shares.only_b - shares.only_a,
                               [&] { return std::optional(interval(Draw(shares, items))); }));
      }
      Row(Name(shares), row);
    }
  };
  print("Paired difference of proportions, Newcombe's method 10",
        [](const PairedCounts& counts) { return *PairedProportionDifference(counts).interval; });
  print("The same, Wald's interval (not used)", Wald);
}

// Trace lengths: 10 tokens and then an end at each further one with the same chance. Skewness 2.
constexpr double kLeast = 10, kScale = 100;
double Length(double scale = kScale) { return kLeast + std::floor(-scale * std::log(g_random.Uniform())); }
double LengthQuantile(double q) { return kLeast + std::floor(-kScale * std::log(1 - q)); }
// Of min(length, horizon).
double LengthMean(double horizon = 1e9, double scale = kScale) {
  const double stay = std::exp(-1 / scale);
  return kLeast + stay * (1 - std::pow(stay, horizon - kLeast)) / (1 - stay);
}

std::vector<double> Lengths(int count) {
  std::vector<double> lengths(static_cast<size_t>(count));
  for (double& length : lengths) length = Length();
  return lengths;
}

void PrintBootstrap() {
  const std::vector<int> sizes = {10, 30, 100, 300, 1000};
  Header("Bootstrap of trace lengths (1,000 resamples)", "figure", Names("n = ", sizes));
  const BootstrapOptions options{0.95, 1000, 0};
  const int tables = g_tables / 10;
  const auto row = [&](const std::string& name, double truth, auto&& interval) {
    std::vector<double> shares;
    for (const int items : sizes) shares.push_back(Coverage(tables, truth, [&] { return interval(items); }));
    Row(name, shares);
  };
  row("mean", LengthMean(), [&](int items) { return BootstrapMean(Lengths(items), options); });
  row("median", LengthQuantile(0.5),
      [&](int items) { return BootstrapQuantile(Lengths(items), 0.5, options); });
  row("90 % quantile", LengthQuantile(0.9),
      [&](int items) { return BootstrapQuantile(Lengths(items), 0.9, options); });
  row("paired difference of means", LengthMean(1e9, 60) - LengthMean(), [&](int items) {
    std::vector<double> differences(static_cast<size_t>(items));
    for (double& difference : differences) difference = Length(60) - Length();
    return BootstrapMean(differences, options);
  });
  row("ratio of means", 1.1, [&](int items) {
    const std::vector<double> a = Lengths(items);
    std::vector<double> b = a;
    for (double& length : b) length *= 0.6 + g_random.Uniform();
    return BootstrapRatio(a, b, options);
  });
}

// Cut at one of two budgets.
std::vector<TraceLength> CutTraces(int count, double scale) {
  std::vector<TraceLength> traces;
  for (int i = 0; i < count; ++i) {
    const double length = Length(scale), budget = g_random.Chance(0.5) ? 100 : 200;
    traces.push_back({std::min(length, budget), length > budget});
  }
  return traces;
}

// What the horizon of a table makes the truth is taken from its result.
double RestrictedCoverage(int tables, const std::function<RestrictedMean()>& of,
                          const std::function<double(double)>& truth) {
  int held = 0;
  for (int i = 0; i < tables; ++i) {
    const RestrictedMean result = of();
    const double value = truth(result.horizon);
    held += result.mean.interval && result.mean.interval->low <= value && value <= result.mean.interval->high;
  }
  return static_cast<double>(held) / tables;
}

void PrintRestricted() {
  const std::vector<int> sizes = {10, 30, 100, 300};
  Header("Restricted mean up to 200 tokens, cut at 100 or 200", "figure", Names("n = ", sizes));
  std::vector<double> means, differences;
  for (const int items : sizes) {
    means.push_back(RestrictedCoverage(
        g_tables, [&] { return RestrictedMeanOf(CutTraces(items, kScale), 200); },
        [](double horizon) { return LengthMean(horizon); }));
    differences.push_back(RestrictedCoverage(
        g_tables / 10,
        [&] {
          return PairedRestrictedDifference(CutTraces(items, kScale), CutTraces(items, 60), 200,
                                            {0.95, 1000, 0});
        },
        [](double horizon) { return LengthMean(horizon, 60) - LengthMean(horizon); }));
  }
  Row("mean (Greenwood)", means);
  Row("paired difference (bootstrap, 1,000 resamples)", differences);
}

void DrawSamples(double p, int samples, ItemSamples* item) {
  item->clear();
  for (int i = 0; i < samples; ++i) item->push_back(g_random.Chance(p) ? 1 : 0);
}

// An item's chance to be right is a squared uniform number: a third on average.
std::vector<ItemSamples> Samples(int items, int samples) {
  std::vector<ItemSamples> of(static_cast<size_t>(items));
  for (ItemSamples& item : of) {
    const double u = g_random.Uniform();
    DrawSamples(u * u, samples, &item);
  }
  return of;
}

std::vector<ItemSamples> EachAnItem(const std::vector<ItemSamples>& items) {
  std::vector<ItemSamples> each;
  for (const ItemSamples& item : items) {
    for (const double score : item) each.push_back({score});
  }
  return each;
}

// Of the mean of B less A: B's chance is a tenth more, at most 1.
std::optional<Interval> DifferenceOfSamples(int items, int samples) {
  std::vector<ItemSamples> a(static_cast<size_t>(items)), b(a);
  for (size_t i = 0; i < a.size(); ++i) {
    const double u = g_random.Uniform();
    DrawSamples(u * u, samples, &a[i]);
    DrawSamples(std::min(u * u + 0.1, 1.0), samples, &b[i]);
  }
  return ClusteredDifference(a, b).interval;
}

void PrintClusters() {
  const std::vector<int> sizes = {10, 30, 100, 500};
  Header("Several samples an item", "figure, samples an item", Names("items = ", sizes));
  const double full = std::sqrt(0.9), gain = std::pow(full, 3) / 3 + 0.1 * full + (1 - full) - 1.0 / 3;
  const int tables = g_tables / 4;
  for (const int samples : {1, 4, 16}) {
    std::vector<double> clustered, naive, wilson, difference;
    for (const int items : sizes) {
      clustered.push_back(
          Coverage(tables, 1.0 / 3, [&] { return ClusteredMean(Samples(items, samples)).interval; }));
      naive.push_back(Coverage(tables, 1.0 / 3,
                               [&] { return ClusteredMean(EachAnItem(Samples(items, samples))).interval; }));
      wilson.push_back(Coverage(tables, 1.0 / 3, [&] {
        return std::optional(WilsonInterval(*ClusteredMean(Samples(items, samples)).value * items, items));
      }));
      difference.push_back(Coverage(tables, gain, [&] { return DifferenceOfSamples(items, samples); }));
    }
    Row(fmt::format("mean, clustered, {}", samples), clustered);
    Row(fmt::format("mean, Wilson over items, {}", samples), wilson);
    Row(fmt::format("mean, samples taken for items (wrong), {}", samples), naive);
    Row(fmt::format("paired difference, {}", samples), difference);
  }
}

void PrintSuites() {
  struct Suite {
    int items;
    double p;
    PairedShares shares;
  };
  const std::vector<std::vector<Suite>> groups = {
      {{100, 0.9, kPopulations[3]}, {50, 0.3, kPopulations[1]}, {20, 0.6, kPopulations[0]}},
      {{1319, 0.27, kPopulations[2]},
       {500, 0.1, kPopulations[1]},
       {164, 0.5, kPopulations[0]},
       {20, 0.02, kPopulations[4]}}};
  Header("Several suites", "items of the suites",
         {"accuracy, macro", "micro", "paired difference, macro", "micro"});
  for (const std::vector<Suite>& suites : groups) {
    std::vector<double> row;
    for (const bool paired : {false, true}) {
      for (const bool macro : {true, false}) {
        double truth = 0, weights = 0;
        for (const Suite& suite : suites) {
          const double weight = macro ? 1 : suite.items;
          truth += weight * (paired ? suite.shares.only_b - suite.shares.only_a : suite.p);
          weights += weight;
        }
        row.push_back(Coverage(g_tables, truth / weights, [&] {
          std::vector<Estimate> of;
          for (const Suite& suite : suites) {
            if (paired) {
              of.push_back(PairedProportionDifference(Draw(suite.shares, suite.items)));
              continue;
            }
            const double right = static_cast<double>(Draw({suite.p, 0, 0}, suite.items).both);
            of.push_back({suite.items, right / suite.items, {}, WilsonInterval(right, suite.items)});
          }
          return (macro ? MacroMean(of) : MicroMean(of)).of.interval;
        }));
      }
    }
    std::string name;
    for (const Suite& suite : suites) name += (name.empty() ? "" : ", ") + std::to_string(suite.items);
    Row(name, row);
  }
}

void PrintPower() {
  Header("Exact McNemar test at the items needed for a power of 80 %", "both, only A, only B",
         {"significant", "by McNemarPower", "where nothing differs"});
  for (const PairedShares& shares : kPopulations) {
    const std::optional<int64_t> items = ItemsNeeded({shares.only_a, shares.only_b});
    if (!items) continue;
    const auto significant = [&](const PairedShares& population) {
      int seen = 0;
      const int tables = g_tables / 4;
      for (int i = 0; i < tables; ++i) {
        const PairedCounts counts = Draw(population, *items);
        seen += McNemarExact(counts.only_a, counts.only_b) <= 0.05;
      }
      return static_cast<double>(seen) / tables;
    };
    const double half = (shares.only_a + shares.only_b) / 2;
    Row(fmt::format("{}: {} items", Name(shares), *items),
        {significant(shares), McNemarPower(*items, {shares.only_a, shares.only_b}),
         significant({shares.both, half, half})});
  }
}

}  // namespace
}  // namespace fullband

int main(int argc, char** argv) {
  using namespace fullband;
  if (argc > 1) g_tables = std::atoi(argv[1]);
  if (argc > 2 || g_tables < 100) {
    fmt::print(stderr,
               "simulate_coverage: one argument, the number of tables a figure (at least 100; 20000)\n");
    return 2;
  }
  fmt::print("Intervals of 95 %; {} tables a figure, fewer where said or resampled.\n", g_tables);
  PrintWilson();
  PrintPaired();
  PrintBootstrap();
  PrintRestricted();
  PrintClusters();
  PrintSuites();
  PrintPower();
}
