// Faults that users of other harnesses reported, those about statistics: tests/data/faults/statistics.jsonl.
// Those about whole reports are in figures_test.cc and comparison_test.cc.
#include "tests/reports/faults.h"

#include <gtest/gtest.h>

#include "reports/statistics/bootstrap.h"
#include "reports/statistics/proportions.h"
#include "reports/statistics/significance.h"
#include "reports/statistics/summaries.h"

namespace fullband {
namespace {

using nlohmann::json;

TEST(StatisticsFaults, ABinaryMetricsErrorIsNotZeroBetweenTheEnds) {
  const json fault = FindFault("S02");
  const int n = fault.at("input").at("n"), k = fault.at("input").at("k");
  std::vector<double> scores(n, 0.0);
  std::fill_n(scores.begin(), k, 1.0);
  EXPECT_NEAR(*Mean(scores), fault.at("expected").at("acc").get<double>(), 1e-12);
  EXPECT_NEAR(*StandardError(scores), fault.at("expected").at("stderr").get<double>(), 1e-7);
  // At an end the deviation is zero, the interval is not.
  EXPECT_GT(WilsonInterval(n, n).high - WilsonInterval(n, n).low, 0.01);
}

TEST(StatisticsFaults, RepeatsOfOneItemAreNotIndependent) {
  const json fault = FindFault("S05");
  std::vector<double> means, all;
  for (const json& repeats : fault.at("input").at("scores")) {
    const std::vector<double> scores = repeats;
    means.push_back(*Mean(scores));
    all.insert(all.end(), scores.begin(), scores.end());
  }
  EXPECT_NEAR(*StandardError(means), fault.at("expected").at("se_clustered").get<double>(), 1e-7);
  EXPECT_NEAR(*StandardError(all), fault.at("expected").at("se_naive").get<double>(), 1e-7);
}

TEST(StatisticsFaults, ExactMcNemar) {
  const json fault = FindFault("S07");
  const json &cases = fault.at("input").at("cases"), &expected = fault.at("expected").at("p");
  for (size_t i = 0; i < cases.size(); ++i) {
    const double p = McNemarExact(cases.at(i).at(0), cases.at(i).at(1));
    EXPECT_NEAR(p / expected.at(i).get<double>(), 1, 1e-6);
  }
}

TEST(StatisticsFaults, OneValueHasNoError) {
  EXPECT_TRUE(FindFault("S10").at("expected").at("stderr").is_null());
  EXPECT_FALSE(StandardError(std::vector<double>{1}));
  EXPECT_FALSE(BootstrapMean(std::vector<double>{1, 0, 1}, {0.95, 0, 0}));
}

}  // namespace
}  // namespace fullband
