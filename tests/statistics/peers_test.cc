// Every statistic against SciPy's and statsmodels' on random and degenerate tables
// (scripts/peers/statistics_numbers.py says what a family's inputs are).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "reports/statistics/bootstrap.h"
#include "reports/statistics/clusters.h"
#include "reports/statistics/power.h"
#include "reports/statistics/proportions.h"
#include "reports/statistics/significance.h"
#include "reports/statistics/suites.h"
#include "reports/statistics/summaries.h"
#include "reports/statistics/truncation.h"
#include "tests/statistics/near.h"

namespace fullband {
namespace {

using nlohmann::json;
using Figures = std::vector<std::optional<double>>;
using Values = std::vector<double>;

json Fixture() {
  std::ifstream file(std::string(FULLBAND_TEST_DATA) + "/peers/statistics.json");
  if (!file) throw std::runtime_error("no fixture statistics.json");
  return json::parse(file);
}

void Add(const std::optional<Interval>& interval, Figures* figures) {
  figures->push_back(interval ? std::optional(interval->low) : std::nullopt);
  figures->push_back(interval ? std::optional(interval->high) : std::nullopt);
}

Figures Ends(const std::optional<Interval>& interval) {
  Figures figures;
  Add(interval, &figures);
  return figures;
}

std::vector<TraceLength> Traces(const json& pairs) {
  std::vector<TraceLength> traces;
  for (const json& pair : pairs) traces.push_back({pair.at(0), pair.at(1)});
  return traces;
}

std::optional<double> Budget(const json& in) {
  return in.at("budget").is_null() ? std::nullopt : std::optional(in.at("budget").get<double>());
}

BootstrapOptions Options(const json& in) { return {in.at("level"), in.at("resamples"), in.at("seed")}; }

PairedCounts Counts(const json& in) { return {in.at(0), in.at(1), in.at(2), in.at(3)}; }

Figures Wilson(const json& in) { return Ends(WilsonInterval(in.at(0), in.at(1), in.at(2))); }

Figures Paired(const json& in) {
  const Estimate estimate = PairedProportionDifference(Counts(in), in.at(4));
  Figures figures = {estimate.value};
  Add(estimate.interval, &figures);
  return figures;
}

Figures McNemar(const json& in) { return {McNemarExact(in.at(0), in.at(1))}; }

Figures Holm(const json& in) {
  const Values adjusted = HolmAdjusted(in.get<Values>());
  return {adjusted.begin(), adjusted.end()};
}

Figures Summaries(const json& in) {
  const Values values = in;
  return {Mean(values),           StandardDeviation(values), StandardError(values),
          Median(values),         Quantile(values, 0),       Quantile(values, 0.1),
          Quantile(values, 0.25), Quantile(values, 0.9),     Quantile(values, 1)};
}

Figures OfMean(const json& in) { return Ends(BootstrapMean(in.at("values").get<Values>(), Options(in))); }

Figures OfQuantile(const json& in) {
  return Ends(BootstrapQuantile(in.at("values").get<Values>(), in.at("q"), Options(in)));
}

Figures OfRatio(const json& in) {
  return Ends(BootstrapRatio(in.at("a").get<Values>(), in.at("b").get<Values>(), Options(in)));
}

Figures WithError(const Estimate& estimate) {
  Figures figures = {estimate.value, estimate.error};
  Add(estimate.interval, &figures);
  return figures;
}

using Samples = std::vector<ItemSamples>;

Figures Clustered(const json& in) {
  return WithError(ClusteredMean(in.at("items").get<Samples>(), in.at("level")));
}

Figures ClusteredPairs(const json& in) {
  const Estimate difference =
      ClusteredDifference(in.at("a").get<Samples>(), in.at("b").get<Samples>(), in.at("level"));
  Figures figures = WithError(difference);
  figures.push_back(ClusteredDifferenceP(difference));
  return figures;
}

Figures Curve(const json& in) {
  Figures figures;
  for (const SurvivalStep& step : KaplanMeier(Traces(in))) {
    figures.push_back(step.tokens);
    figures.push_back(step.longer);
  }
  return figures;
}

Figures Restricted(const json& in) {
  const RestrictedMean of = RestrictedMeanOf(Traces(in.at("traces")), Budget(in), in.at("level"));
  Figures figures = {of.mean.value, of.horizon, of.mean.error};
  Add(of.mean.interval, &figures);
  return figures;
}

Figures RestrictedPairs(const json& in) {
  const RestrictedMean of =
      PairedRestrictedDifference(Traces(in.at("a")), Traces(in.at("b")), Budget(in), Options(in));
  Figures figures = {of.mean.value, of.horizon};
  Add(of.mean.interval, &figures);
  return figures;
}

Figures Power(const json& in) { return {McNemarPower(in.at(0), {in.at(1), in.at(2)}, in.at(3))}; }

Figures Connor(const json& in) { return {ConnorItems({in.at(0), in.at(1)}, in.at(2), in.at(3))}; }

Figures MeanItems(const json& in) { return {ItemsForMeanDifference(in.at(0), in.at(1), in.at(2), in.at(3))}; }

Figures OfSuites(const json& in) {
  std::vector<Estimate> accuracies, differences;
  for (const json& table : in) {
    const PairedCounts counts = Counts(table);
    const double right = static_cast<double>(counts.both + counts.only_b),
                 items = static_cast<double>(counts.Items());
    accuracies.push_back({counts.Items(),
                          items > 0 ? std::optional(right / items) : std::nullopt,
                          {},
                          WilsonInterval(right, counts.Items())});
    differences.push_back(PairedProportionDifference(counts));
  }
  Figures figures;
  for (const std::vector<Estimate>& suites : {accuracies, differences}) {
    for (const SuitesEstimate& mean : {MacroMean(suites), MicroMean(suites)}) {
      figures.push_back(mean.of.value);
      Add(mean.of.interval, &figures);
    }
  }
  return figures;
}

// Figures agree within `tolerance` of the larger of `scale` and the figure itself.
struct Family {
  const char* name;
  Figures (*figures)(const json& in);
  double tolerance, scale;
};

void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

// P-values and powers differ by what the two libraries' binomials do; sums of tokens by their order.
const Family kFamilies[] = {
    {"wilson", Wilson, 1e-11, 1},
    {"paired_difference", Paired, 1e-11, 1},
    {"mcnemar", McNemar, 1e-9, 0},
    {"holm", Holm, 1e-12, 0},
    {"summaries", Summaries, 1e-12, 1},
    {"bootstrap_mean", OfMean, 1e-12, 1},
    {"bootstrap_quantile", OfQuantile, 1e-12, 1},
    {"bootstrap_ratio", OfRatio, 1e-12, 1},
    {"clustered_mean", Clustered, 1e-10, 1},
    {"clustered_difference", ClusteredPairs, 1e-10, 1},
    {"kaplan_meier", Curve, 1e-12, 1},
    {"restricted_mean", Restricted, 1e-10, 1},
    {"restricted_difference", RestrictedPairs, 1e-11, 1},
    {"power", Power, 1e-10, 1},
    {"connor", Connor, 1e-9, 0},
    {"mean_items", MeanItems, 1e-9, 0},
    {"suites", OfSuites, 1e-11, 1},
};

// What differs, in words.
std::vector<std::string> Differences(const Family& family, const json& rows) {
  std::vector<std::string> differences;
  for (const json& row : rows) {
    const Figures ours = family.figures(row.at("in"));
    const json& theirs = row.at("out");
    std::string wrong = ours.size() == theirs.size() ? "" : "another number of figures";
    for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
      const bool both = ours[i] && !theirs[i].is_null();
      if (both) {
        const double figure = theirs[i];
        if (std::abs(*ours[i] - figure) <= family.tolerance * std::max(family.scale, std::abs(figure)))
          continue;
      } else if (!ours[i] && theirs[i].is_null()) {
        continue;
      }
      wrong += " [" + std::to_string(i) + "] " + (ours[i] ? json(*ours[i]).dump() : "none") + " against " +
               theirs[i].dump();
    }
    if (!wrong.empty()) differences.push_back(row.at("in").dump().substr(0, 200) + ":" + wrong);
  }
  return differences;
}

class StatisticsPeers : public testing::TestWithParam<Family> {};

TEST_P(StatisticsPeers, Agree) {
  const json rows = Fixture().at("families").at(GetParam().name);
  ASSERT_GE(rows.size(), 4u);
  for (const std::string& difference : Differences(GetParam(), rows)) ADD_FAILURE() << difference;
}

// A comparison that could not fail would compare nothing: every figure of every row counts.
TEST_P(StatisticsPeers, APlantedFaultIsSeen) {
  const Family& family = GetParam();
  const json rows = Fixture().at("families").at(family.name);
  for (const json& row : rows) {
    for (size_t i = 0; i < row.at("out").size(); ++i) {
      json planted = row;
      json& figure = planted["out"][i];
      if (figure.is_null()) {
        figure = 0.5;
      } else {
        const double value = figure;
        const double scale = std::max(family.scale, std::abs(value));
        figure = value + 3 * family.tolerance * (scale > 0 ? scale : 1);
      }
      EXPECT_EQ(Differences(family, json::array({planted})).size(), 1u) << planted.dump().substr(0, 200);
    }
    json shorter = row;
    shorter["out"].push_back(0.5);
    EXPECT_EQ(Differences(family, json::array({shorter})).size(), 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, StatisticsPeers, testing::ValuesIn(kFamilies),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(StatisticsPeers, NoFamilyIsLeftOut) { EXPECT_EQ(Fixture().at("families").size(), std::size(kFamilies)); }

// SciPy's own draws: ends differ by what two draws of 20,000 do, less than a thirtieth of the interval. Ends
// of a quantile's interval are values that were drawn: no more than one other value lies between them.
TEST(StatisticsPeers, BootstrapsConverge) {
  const json rows = Fixture().at("bootstrap_by_scipy");
  for (const json& row : rows) {
    const Values values = row.at("in").at("values");
    const BootstrapOptions options{0.95, 20'000, 11};
    const json& q = row.at("in").at("q");
    const double low = row.at("out").at(0), high = row.at("out").at(1);
    SCOPED_TRACE(std::to_string(values.size()) + " values, q " + q.dump());
    if (q.is_null()) {
      EXPECT_THAT(BootstrapMean(values, options), IntervalNear(low, high, (high - low) / 30));
      continue;
    }
    const auto between = [&](double x, double y) {
      return std::count_if(values.begin(), values.end(),
                           [&](double value) { return value > std::min(x, y) && value < std::max(x, y); });
    };
    const std::optional<Interval> ours = BootstrapQuantile(values, q, options);
    EXPECT_LE(between(ours->low, low), 1) << ours->low << " against " << low;
    EXPECT_LE(between(ours->high, high), 1) << ours->high << " against " << high;
  }
}

TEST(StatisticsPeers, ItemsNeededIsACrossing) {
  const json rows = Fixture().at("crossings");
  for (const json& row : rows) {
    const std::optional<int64_t> items = ItemsNeeded({row.at("in").at(0), row.at("in").at(1)});
    ASSERT_TRUE(items);
    const Values crossings = row.at("out");
    EXPECT_EQ(std::count(crossings.begin(), crossings.end(), static_cast<double>(*items)), 1)
        << *items << " items, " << row.dump();
  }
}

}  // namespace
}  // namespace fullband
