#include "reports/charts/charts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "reports/charts/spec.h"
#include "reports/comparisons/families.h"
#include "reports/figures.h"
#include "reports/statistics/proportions.h"
#include "tests/reports/charts/made_runs.h"
#include "tests/reports/made_results.h"

namespace fullband {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const json& Rows(const Chart& chart) { return chart.spec.at("data").at("values"); }

// The first row with these values.
const json& RowOf(const json& rows, const json& values) {
  for (const json& row : rows) {
    const bool fits = std::all_of(values.items().begin(), values.items().end(), [&](const auto& item) {
      return row.contains(item.key()) && row[item.key()] == item.value();
    });
    if (fits) return row;
  }
  throw std::runtime_error("no row with " + values.dump());
}

// Every color scale in the spec.
void CollectDomains(const json& value, std::set<std::string>* domains) {
  if (value.is_object() && value.contains("color") && value["color"].contains("scale"))
    domains->insert(value["color"]["scale"]["domain"].dump());
  if (!value.is_structured()) return;
  for (const json& inner : value) CollectDomains(inner, domains);
}

MadeSample Sample(Result result, int64_t length, bool truncated = false) {
  return {result, length, truncated};
}

TEST(ChartLooks, KeepTheFirstPlaceForStandard) {
  const std::vector<RunResults> runs = {MakeResults("latent@2", {}), MakeResults("latent", {}),
                                        MakeResults("latent@2", {})};
  EXPECT_THAT(ChartLooks(runs).Shown(), ElementsAre("standard", "latent", "latent@2"));
  EXPECT_EQ(ChartLooks(runs).Shown("latent"), "latent");
  EXPECT_THROW(ChartLooks(runs).Shown("parallel@2"), std::invalid_argument);
}

TEST(ChartLooks, AreTheSameInEveryChart) {
  const std::vector<RunResults> runs = MakeSweep({{"a", "b"}, {"standard", "latent", "latent@2"}, 60});
  std::set<std::string> domains;
  for (const Chart& chart : ChartsOf(runs)) {
    if (chart.name != "passes") CollectDomains(chart.spec, &domains);  // its lines are models
  }
  EXPECT_THAT(domains, ElementsAre(R"(["standard","latent","latent@2"])"));
}

TEST(ChartLooks, AreAllDifferent) {
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back("latent@" + std::to_string(i));
  const ChartLooks looks(names);
  for (const Look second : {Look::kShape, Look::kDash}) {
    const json encoding = SeriesEncoding(looks, names, second, Legend::kRight);
    const json& range = encoding[second == Look::kShape ? "shape" : "strokeDash"]["scale"]["range"];
    std::set<std::string> seen;  // colours as the renderer's range has them
    for (size_t i = 0; i < names.size(); ++i)
      EXPECT_TRUE(seen.insert(std::to_string(i == 0 ? 0 : (i - 1) % 7 + 1) + range[i].dump()).second) << i;
  }
}

TEST(ChartText, IsOneLineOfUtf8) {
  EXPECT_EQ(ChartText("plain"), "plain");
  EXPECT_EQ(ChartText("a\nb\tc\x01"), "a b\\tc\\x01");
  EXPECT_EQ(ChartText("\xff"), "\\xff");
  EXPECT_EQ(ChartText("x\xEF\xBF\xBEy"), "xy");  // XML has no U+FFFE
  EXPECT_EQ(ChartText("  \xEF\xBF\xBF"), "–");
  EXPECT_EQ(ChartText(""), "–");
}

TEST(ChartText, LosesTheMiddleWhereLong) {
  EXPECT_EQ(ChartText("0123456789", 10), "0123456789");
  EXPECT_EQ(ChartText("0123456789a", 10), "01234…789a");
  EXPECT_EQ(ChartText("中中中中中中", 8), "中中…中");  // each is two columns wide
}

TEST(ChartNames, AreOfFilesAndDistinct) {
  EXPECT_EQ(ChartName("latent@2:zero"), "latent_2_zero");
  EXPECT_EQ(ChartName("../../etc/passwd"), "etc_passwd");
  EXPECT_EQ(ChartName("…"), "chart");
  EXPECT_EQ(ChartName(std::string(100, 'A')), std::string(40, 'a'));
  std::set<std::string> taken;
  EXPECT_EQ(TakeName("a", &taken), "a");
  EXPECT_EQ(TakeName("a_2", &taken), "a_2");
  EXPECT_EQ(TakeName("a", &taken), "a_3");
  EXPECT_THAT(Distinct({"a", "a", "a (2)", "a"}), ElementsAre("a", "a (2)", "a (2) (2)", "a (3)"));
}

TEST(LabelRuns, TellsRunsApart) {
  std::vector<RunResults> runs = MakeSweep({{"same", "same"}, {"standard", "latent"}, 5});
  runs.push_back(runs[1]);
  runs.back().run.key = "f" + std::string(63, '0');
  runs[0].run.shots = 0;
  std::vector<const RunResults*> pointers;
  for (const RunResults& results : runs) pointers.push_back(&results);
  std::vector<std::string> texts;
  for (const RunLabel& label : LabelRuns(pointers, ChartLooks(runs)))
    texts.push_back(label.group + "|" + label.label);
  EXPECT_THAT(texts,
              ElementsAre("same, completion, 0 shots|standard", "same, completion, 5 shots|latent (b0000000)",
                          "same (2), completion, 5 shots|standard", "same (2), completion, 5 shots|latent",
                          "same, completion, 5 shots|latent (f0000000)"));
}

TEST(AccuracyChart, HasTheFigures) {
  const std::vector<RunResults> runs = MakeSweep({{"a", "b"}, {"standard", "latent"}, 150});
  const Chart chart = AccuracyChart(runs, ChartLooks(runs)).value();
  ASSERT_EQ(Rows(chart).size(), 4);
  for (size_t i = 0; i < runs.size(); ++i) {
    const Accuracy accuracy = Figures(runs[i]).headline;
    const json& row = RowOf(Rows(chart), {{"group", runs[i].model.name}, {"label", runs[i].run.setting}});
    EXPECT_EQ(row["accuracy"], 100 * *accuracy.share);
    EXPECT_EQ(row["low"], 100 * accuracy.interval.low);
    EXPECT_EQ(row["high"], 100 * accuracy.interval.high);
  }
  EXPECT_NE(Rows(chart)[0]["accuracy"], Rows(chart)[1]["accuracy"]);  // else nothing above says much
  EXPECT_EQ(chart.spec["facet"]["sort"], json({"a", "b"}));
}

TEST(AccuracyChart, IsNoneWithoutVerdicts) {
  const std::vector<RunResults> runs = {MakeResults("standard", {{Sample(Result::kUngraded, 1)}})};
  EXPECT_FALSE(AccuracyChart(runs, ChartLooks(runs)));
}

TEST(ThroughputChart, DividesTokensBySeconds) {
  std::vector<RunResults> runs = MakeSweep({{"a"}, {"standard", "latent", "latent@2"}, 20});
  runs[0].cost = {.generated_tokens = 500, .wall_seconds = 4};
  runs[1].cost.wall_seconds = 0;  // not known
  runs[2].run.ask = "choose";
  const Chart chart = ThroughputChart(runs, ChartLooks(runs)).value();
  ASSERT_EQ(Rows(chart).size(), 1);
  EXPECT_EQ(Rows(chart)[0]["rate"], 125);
  EXPECT_EQ(Rows(chart)[0]["shown"], "125");
}

TEST(AgainstBaseline, IsStandardWhereThereIsOne) {
  const std::vector<RunResults> runs = MakeSweep({{"a"}, {"standard", "latent", "latent@2"}, 20});
  const std::vector<RunResults> without = MakeSweep({{"a"}, {"latent", "latent@2", "latent@3"}, 20});
  const auto names = [](const std::vector<Comparison>& pairs) {
    std::vector<std::string> texts;
    for (const Comparison* pair : AgainstBaseline(pairs))
      texts.push_back(pair->a->run.setting + " " + pair->b->run.setting);
    return texts;
  };
  EXPECT_THAT(names(CompareSuite(runs)), ElementsAre("standard latent", "standard latent@2"));
  EXPECT_THAT(names(CompareSuite(without)), ElementsAre("latent latent@2", "latent latent@3"));
}

TEST(DifferenceChart, HasTheComparisons) {
  std::vector<RunResults> runs = MakeSweep({{"a"}, {"standard", "latent", "latent@2"}, 150});
  runs[2].run.identity = R"({"setting":"2","seed":1})";
  const std::vector<Comparison> pairs = CompareSuite(runs);
  const Chart chart = DifferenceChart(pairs, ChartLooks(runs)).value();
  ASSERT_EQ(Rows(chart).size(), 2);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(Rows(chart)[i]["difference"], 100 * *pairs[i].accuracy.value);
    EXPECT_EQ(Rows(chart)[i]["low"], 100 * pairs[i].accuracy.interval->low);
    EXPECT_EQ(Rows(chart)[i]["high"], 100 * pairs[i].accuracy.interval->high);
  }
  EXPECT_THAT(Rows(chart)[0]["shown"], AnyOf(StartsWith("+"), StartsWith("−")));
  EXPECT_EQ(Signed(-1.25), "−1.2");
  EXPECT_EQ(Signed(-0.01), "+0.0");
  EXPECT_EQ(Rows(chart)[0]["label"], "latent");
  EXPECT_EQ(Rows(chart)[1]["label"], "latent@2 *");  // differs in more than the setting
}

TEST(LengthCharts, CountEveryPairedItemOnce) {
  const std::vector<RunResults> runs = MakeSweep({{"a"}, {"standard", "latent", "latent@2"}, 400, 200});
  const std::vector<Comparison> pairs = CompareSuite(runs);
  const std::vector<Chart> charts = LengthCharts(pairs, ChartLooks(runs));
  ASSERT_EQ(charts.size(), 2);
  EXPECT_EQ(charts[0].name, "lengths_latent");
  EXPECT_EQ(charts[1].name, "lengths_latent_2");
  for (size_t i = 0; i < charts.size(); ++i) {
    int64_t finished = 0, truncated = 0;
    for (const json& bar : charts[i].spec["hconcat"][1]["data"]["values"]) {
      finished += bar["finished"].get<int64_t>();
      truncated += bar["truncated"].get<int64_t>();
      EXPECT_EQ(bar["both"].get<int64_t>(), bar["finished"].get<int64_t>() + bar["truncated"].get<int64_t>());
    }
    EXPECT_EQ(finished, pairs[i].lengths->finished->items);
    EXPECT_EQ(finished + truncated, pairs[i].lengths->all.items);
    EXPECT_GT(truncated, 0);
  }
}

TEST(LengthCharts, LeaveOutWhatComparisonsDo) {
  const auto standard =
      MakeResults("standard", {{Sample(Result::kCorrect, 10)},
                               {Sample(Result::kFault, 90)},
                               {Sample(Result::kCorrect, 20)},
                               {Sample(Result::kUngraded, 90)},
                               {Sample(Result::kCorrect, 30), Sample(Result::kCorrect, 33)}});
  const auto latent = MakeResults("latent", {{Sample(Result::kIncorrect, 13)},
                                             {Sample(Result::kCorrect, 90)},
                                             {Sample(Result::kCorrect, 50, true)},
                                             {Sample(Result::kCorrect, 90)},
                                             {Sample(Result::kCorrect, 30), Sample(Result::kCorrect, 31)}});
  const std::vector<RunResults> runs = {standard, latent};
  const std::vector<Comparison> pairs = CompareSuite(runs);
  const std::vector<Chart> charts = LengthCharts(pairs, ChartLooks(runs));
  ASSERT_EQ(charts.size(), 1);
  const json& bars = charts[0].spec["hconcat"][1]["data"]["values"];
  // Differences 3, 30 (truncated) and -1 (of means).
  ASSERT_EQ(bars.size(), 3);
  EXPECT_EQ(RowOf(bars, {{"from", 2.5}})["finished"], 1);
  EXPECT_EQ(RowOf(bars, {{"from", 29.5}})["truncated"], 1);
  EXPECT_EQ(RowOf(bars, {{"from", -1.5}})["finished"], 1);
  // Of standard's 10, 20, 30, 33 all have finished; of latent's 13, 50, 30, 31 three have.
  const json& rows = Rows(charts[0]);
  EXPECT_EQ(RowOf(rows, {{"series", "standard"}, {"tokens", 20}})["finished"], 50);
  EXPECT_EQ(RowOf(rows, {{"series", "standard"}, {"tokens", 50}})["finished"], 100);
  EXPECT_EQ(RowOf(rows, {{"series", "latent"}, {"tokens", 50}})["finished"], 75);
  EXPECT_EQ(RowOf(rows, {{"series", "latent"}, {"side", -1}})["shown"], "25.0 % truncated");
  EXPECT_THROW(RowOf(rows, {{"series", "standard"}, {"side", 1}}), std::runtime_error);
}

TEST(LengthCharts, StaySmall) {
  std::vector<std::vector<MadeSample>> a, b;
  for (int64_t i = 0; i < 20'000; ++i) {
    a.push_back({Sample(Result::kCorrect, i)});
    b.push_back({Sample(Result::kCorrect, 40'000 - 2 * i)});
  }
  const std::vector<RunResults> runs = {MakeResults("standard", a), MakeResults("latent", b)};
  const std::vector<Comparison> pairs = CompareSuite(runs);
  const std::vector<Chart> charts = LengthCharts(pairs, ChartLooks(runs));
  EXPECT_LT(charts[0].spec.dump().size(), 50'000);
  // What is drawn of a curve is exact where it is drawn.
  for (const json& row : Rows(charts[0])) {
    if (row["series"] != "standard" || !row.contains("finished")) continue;
    const double tokens = row["tokens"];
    EXPECT_DOUBLE_EQ(row["finished"], 100 * std::min(tokens + 1, 20'000.0) / 20'000);
  }
}

TEST(LengthCharts, AreNoneWhereAllTracesAreAlike) {
  std::vector<RunResults> runs = MakeSweep({{"a"}, {"standard", "latent"}, 20});
  for (RunResults& results : runs) {
    for (ItemResult& item : results.items) item.samples[0].trace_tokens = 1;
  }
  EXPECT_TRUE(LengthCharts(CompareSuite(runs), ChartLooks(runs)).empty());
  runs[1].items[3].samples[0].trace_tokens = 2;
  EXPECT_EQ(LengthCharts(CompareSuite(runs), ChartLooks(runs)).size(), 1);
}

TEST(LengthCharts, AreNoneOfChoices) {
  std::vector<RunResults> runs = MakeSweep({{"a"}, {"standard", "latent"}, 20});
  for (RunResults& results : runs) results.run.ask = "choose";
  const std::vector<Comparison> pairs = CompareSuite(runs);
  EXPECT_TRUE(LengthCharts(pairs, ChartLooks(runs)).empty());
}

TEST(DifficultyCharts, HaveTheBreakdown) {
  const std::vector<RunResults> runs = MakeSweep({{"a"}, {"standard", "latent"}, 300});
  const std::vector<Breakdown> breakdowns = BreakDown(runs);
  const std::vector<Chart> charts = DifficultyCharts(breakdowns, ChartLooks(runs));
  ASSERT_EQ(charts.size(), 1);
  EXPECT_EQ(charts[0].name, "accuracy_by_steps");
  size_t cells = 0;
  for (const BreakdownRow& row : breakdowns[0].rows) {
    if (row.kind != BreakdownRow::Kind::kValues) continue;
    for (size_t run = 0; run < runs.size(); ++run, ++cells) {
      const json& drawn =
          RowOf(Rows(charts[0]),
                {{"group", row.labels[0]}, {"place", row.labels[1]}, {"series", runs[run].run.setting}});
      const BreakdownCell& cell = row.cells[run];
      EXPECT_EQ(drawn["accuracy"], 100 * *cell.Share());
      EXPECT_EQ(drawn["items"], cell.items);
      EXPECT_EQ(drawn["high"], 100 * WilsonInterval(cell.correct, cell.items).high);
    }
  }
  EXPECT_EQ(cells, Rows(charts[0]).size());
}

TEST(DifficultyCharts, HaveNoIntervalsWhereTheyWouldCoverEachOther) {
  const auto title = [](size_t settings) {
    std::vector<std::string> names = {"standard", "latent", "latent@2", "latent@3", "latent@4", "latent@5"};
    names.resize(settings);
    const std::vector<RunResults> runs = MakeSweep({{"a"}, names, 60});
    const std::vector<Breakdown> breakdowns = BreakDown(runs);
    const Chart chart = DifficultyCharts(breakdowns, ChartLooks(runs)).at(0);
    return chart.title +
           (chart.spec.dump().find(R"("interval")") == std::string::npos ? " - none" : " - some");
  };
  EXPECT_EQ(title(5), "Accuracy by steps, in per cent, with 95 % intervals - some");
  EXPECT_EQ(title(6), "Accuracy by steps, in per cent - none");
}

TEST(DifficultyCharts, AreOneForEachModelAndNoneOfTexts) {
  std::vector<RunResults> runs = MakeSweep({{"a", "b"}, {"standard", "latent"}, 100});
  const std::vector<Breakdown> breakdowns = BreakDown(runs);
  const std::vector<Chart> charts = DifficultyCharts(breakdowns, ChartLooks(runs));
  ASSERT_EQ(charts.size(), 2);
  EXPECT_EQ(charts[1].name, "accuracy_by_steps_2");
  EXPECT_THAT(charts[1].title, HasSubstr("b: accuracy by steps"));
  for (RunResults& results : runs) {
    for (ItemResult& item : results.items) item.groups.pop_back();
  }
  const std::vector<Breakdown> texts = BreakDown(runs);
  ASSERT_EQ(texts.size(), 1);
  EXPECT_TRUE(DifficultyCharts(texts, ChartLooks(runs)).empty());
}

TEST(LengthAccuracyChart, MarksWhereManyAreTruncated) {
  const std::vector<RunResults> runs = {
      MakeResults("standard", {{Sample(Result::kCorrect, 10)}, {Sample(Result::kIncorrect, 20)}}),
      MakeResults("latent", {{Sample(Result::kCorrect, 30)}, {Sample(Result::kIncorrect, 50, true)}})};
  const Chart chart = LengthAccuracyChart(runs, ChartLooks(runs)).value();
  const json& standard = RowOf(Rows(chart), {{"series", "standard"}});
  const json& latent = RowOf(Rows(chart), {{"series", "latent"}});
  EXPECT_EQ(standard["tokens"], 15);
  EXPECT_EQ(standard["accuracy"], 50);
  EXPECT_EQ(standard["truncated"], false);
  EXPECT_EQ(latent["tokens"], 40);
  EXPECT_EQ(latent["truncated"], true);
}

TEST(BudgetChart, HasThePoints) {
  const ChartLooks looks(std::vector<std::string>{"standard", "latent"});
  const std::vector<BudgetPoint> points = {{"standard", 64, 0.25, 0.2, 0.3},
                                           {"standard", 1024, 0.5, 0.4, 0.6},
                                           {"majority of 4", 1024, 0.75, 0.7, 0.8}};
  const Chart chart = BudgetChart(points, looks).value();
  EXPECT_EQ(Rows(chart)[1],
            json::parse(R"({"group": "–", "series": "standard", "budget": 1024, "accuracy": 50.0,
                                            "low": 40.0, "high": 60.0})"));
  const json& first = chart.spec["layer"][0]["encoding"];
  EXPECT_EQ(first["x"]["scale"]["type"], "log");
  EXPECT_EQ(first["x"]["axis"]["values"], json({64, 1024}));
  EXPECT_EQ(first["color"]["scale"]["domain"], json({"standard", "latent", "majority of 4"}));
  EXPECT_EQ(chart.spec["layer"][2]["encoding"]["color"]["legend"]["values"],
            json({"standard", "majority of 4"}));
  EXPECT_FALSE(BudgetChart(std::span(points).subspan(1), looks));  // one budget is no curve
}

}  // namespace
}  // namespace fullband
