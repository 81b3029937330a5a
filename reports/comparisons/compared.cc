#include "reports/comparisons/compared.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/comparisons/sections.h"
#include "reports/comparisons/sources.h"
#include "reports/comparisons/tables.h"
#include "reports/sections/suite_rows.h"
#include "reports/spelling.h"

namespace fullband {
namespace {

// "+4.0 … +8.4"
std::string Ends(const Interval& interval, double scale, int digits = 1) {
  return fmt::format("{} … {}", Fixed(scale * interval.low, digits, true),
                     Fixed(scale * interval.high, digits, true));
}

std::string AccuracyInWords(const Comparison& comparison) {
  const Estimate& difference = comparison.accuracy;
  if (!difference.value) return "No item can be compared.";
  std::string points = Fixed(100 * *difference.value, 1, true) + " points";
  if (difference.interval) points += " (" + Ends(*difference.interval, 100) + ")";
  if (!comparison.adjusted_p) return "B's accuracy less A's is " + points + "; no test can be made.";
  points += ", p = " + PValue(*comparison.adjusted_p);
  if (comparison.family > 1) points += " by Holm";
  if (*comparison.adjusted_p <= kSignificance)
    return fmt::format("B is {}: {}.", *difference.value > 0 ? "better" : "worse", points);
  std::string text = "The two are not told apart: " + points;
  if (comparison.items_needed)
    text += fmt::format("; such a difference would take {} items to see",
                        Count(static_cast<int64_t>(*comparison.items_needed)));
  return text + ".";
}

std::string LengthInWords(const LengthDifference& lengths) {
  if (!lengths.ratio.value) return "";
  const double percent = 100 * (*lengths.ratio.value - 1);
  std::string text = Fixed(percent, 1, true) + " %";
  if (!lengths.ratio.interval) return text;
  const auto& [low, high] = *lengths.ratio.interval;
  return text + fmt::format(" ({})", Ends({low - 1, high - 1}, 100));
}

// All runs that the pairs are of, once each.
std::vector<RunResults> ReadChosen(Store& store, const std::vector<ChosenPair>& pairs, ReadOptions options) {
  std::set<int64_t> wanted;
  for (const ChosenPair& pair : pairs) wanted.insert({pair.a.id, pair.b.id});
  options.wanted = [wanted](const RunRecord& run) { return wanted.contains(run.id); };
  return ReadResults(store, options);
}

// The names of one side's runs, mostly the same in all suites.
std::string SideInWords(const Compared& compared, const RunResults* Comparison::*side) {
  std::vector<std::string> names;
  for (const Comparison& suite : compared.suites) {
    const std::string name = NameOfSide(*(suite.*side));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return Joined(names);
}

}  // namespace

Compared CompareChosen(Store& store, const CompareRequest& request, const ReadOptions& options) {
  Chosen chosen = ChoosePairs(store, request);
  Compared compared;
  compared.one_sided = std::move(chosen.one_sided);
  compared.runs = ReadChosen(store, chosen.pairs, options);
  const auto run = [&](const RunRecord& record) {
    return &*std::find_if(compared.runs.begin(), compared.runs.end(),
                          [&](const RunResults& results) { return results.run.id == record.id; });
  };
  std::vector<RunPair> pairs;
  for (const ChosenPair& pair : chosen.pairs) pairs.push_back({run(pair.a), run(pair.b)});
  compared.suites = CompareAll(pairs);
  CorrectFamilies([](const Comparison&) { return ""; }, &compared.suites);
  AddSources(SourcesOf(store), &compared.suites);
  compared.across = AcrossAll(compared.suites);
  return compared;
}

std::string InWords(const Comparison& comparison) {
  std::string text = AccuracyInWords(comparison);
  if (comparison.lengths) {
    const std::string all = LengthInWords(comparison.lengths->all),
                      right = LengthInWords(comparison.lengths->right);
    if (!all.empty()) text += " Length of its traces: " + all;
    if (!all.empty() && !right.empty()) text += ", of items that both got right " + right;
    if (!all.empty()) text += ".";
    if (comparison.lengths->cut && !comparison.lengths->cut->sign_holds)
      text += " Which are longer hangs on the truncated ones.";
  }
  if (comparison.cost && comparison.cost->overhead)
    text += fmt::format(" Seconds a token: {} %.", Fixed(100 * *comparison.cost->overhead, 1, true));
  return text;
}

Document ComparedAsDocument(const Compared& compared) {
  Document document{"B against A", {}, {}};
  Notes runs;
  runs.notes.push_back({"A", SideInWords(compared, &Comparison::a)});
  runs.notes.push_back({"B", SideInWords(compared, &Comparison::b)});
  for (const Comparison& suite : compared.suites)
    runs.notes.push_back(
        {fmt::format("{} ({}, {})", suite.a->run.suite, KeyOf(*suite.a), KeyOf(*suite.b)), InWords(suite)});
  if (!compared.one_sided.empty())
    runs.notes.push_back(
        {"not compared", "only one of the two has runs of " + Joined(compared.one_sided) + "."});
  document.head.push_back(std::move(runs));
  for (Block& block : PairBlocks(compared.suites, PairRows::kSuites))
    document.head.push_back(std::move(block));
  if (Table traces = TraceFiguresTable(compared.suites, PairRows::kSuites); !traces.rows.empty()) {
    document.head.push_back(
        Paragraph{"Trace lengths of each run, of the items that are compared: mean and quantiles of all, "
                  "then means of those that were right, not right, and truncated."});
    document.head.push_back(std::move(traces));
  }
  if (compared.across) document.sections.push_back(AcrossSuitesSection({&*compared.across, 1}));
  return document;
}

}  // namespace fullband
