#include "reports/comparisons/tables.h"

#include <fmt/format.h>

#include "reports/document/cells.h"
#include "reports/spelling.h"

namespace fullband {
namespace {

Cell PointsCell(const Estimate& difference) {
  return DifferenceCell(difference.value, difference.interval, 100);
}

Cell LengthCell(const Estimate& difference) { return DifferenceCell(difference.value, difference.interval); }

// "1.085 (1.047 … 1.122)"
Cell RatioCell(const std::optional<double>& ratio, const std::optional<Interval>& interval = {}) {
  Cell cell = FixedCell(ratio, 3);
  if (!ratio || !interval) return cell;
  cell.text += fmt::format(" ({} … {})", Fixed(interval->low, 3), Fixed(interval->high, 3));
  cell.further = {{"low", interval->low}, {"high", interval->high}};
  return cell;
}

// "25.0 % (19.0 – 23.4)"
Cell ShareCell(const Estimate& share) {
  Cell cell = PercentCell(share.value);
  if (!share.value || !share.interval) return cell;
  cell.text += fmt::format(" ({})", PercentInterval(*share.interval));
  cell.further = {{"low", share.interval->low}, {"high", share.interval->high}};
  return cell;
}

Cell SignedPercentCell(std::optional<double> share) {
  if (!share) return kNoValue;
  return {Fixed(100 * *share, 1, true) + " %", share};
}

Cell NumberCell(std::optional<double> count) {
  if (!count) return kNoValue;
  return {Count(static_cast<int64_t>(*count)), count};
}

std::optional<double> Quotient(std::optional<double> above, std::optional<double> below) {
  if (!above || !below || *below <= 0) return std::nullopt;
  return *above / *below;
}

// What an answer to "is B better than A?" is.
std::string Verdict(const Comparison& pair) {
  if (!pair.adjusted_p || !pair.accuracy.value) return kNoValue;
  if (*pair.adjusted_p > kSignificance) return "not told apart";
  return *pair.accuracy.value > 0 ? "better" : "worse";
}

std::optional<double> ForwardsRatio(const Comparison& pair) {
  if (!pair.cost) return std::nullopt;
  return Quotient(pair.cost->b.right_per_million_forwards, pair.cost->a.right_per_million_forwards);
}

// Rows of the pairs of which `cells` has something to say.
template <typename Cells>
Table TableOf(std::string name, PairRows rows, std::vector<Column> columns, std::span<const Comparison> pairs,
              std::string caption, const Cells& cells) {
  Table table{std::move(name), PairColumns(rows, std::move(columns)), {}, std::move(caption)};
  for (const Comparison& pair : pairs) {
    if (std::vector<Cell> row = cells(pair); !row.empty())
      table.rows.push_back(PairCells(rows, pair, std::move(row)));
  }
  return table;
}

}  // namespace

Table SummaryTable(std::span<const Comparison> pairs, PairRows rows) {
  return TableOf(
      "summary", rows,
      {{"items"},
       {"A right"},
       {"B right"},
       {"B − A, points"},
       {"p (Holm)"},
       {"B is", Align::kLeft},
       {"traces, B / A"},
       {"both right, B / A"},
       {"seconds a token, B over A"},
       {"right a forward, B / A"}},
      pairs,
      "B against A: accuracy, whether the difference may be chance, trace length, cost; 95 % "
      "intervals in brackets.",
      [](const Comparison& pair) -> std::vector<Cell> {
        const auto& lengths = pair.lengths;
        return {
            CountCell(pair.items),
            PercentCell(pair.accuracy_a.value),
            PercentCell(pair.accuracy_b.value),
            PointsCell(pair.accuracy),
            PValueCell(pair.adjusted_p),
            Verdict(pair),
            lengths ? RatioCell(lengths->all.ratio.value, lengths->all.ratio.interval) : Cell(kNoValue),
            lengths ? RatioCell(lengths->right.ratio.value, lengths->right.ratio.interval) : Cell(kNoValue),
            SignedPercentCell(pair.cost ? pair.cost->overhead : std::nullopt),
            RatioCell(ForwardsRatio(pair))};
      });
}

Table PairedAccuracyTable(std::span<const Comparison> pairs, PairRows rows) {
  return TableOf("accuracy", rows,
                 {{"A right"},
                  {"B right"},
                  {"both"},
                  {"only A"},
                  {"only B"},
                  {"neither"},
                  {"p"},
                  {"p (Holm)"},
                  {"tests"},
                  {"items needed"},
                  {"left out"}},
                 pairs, "Accuracy with its 95 % interval and who was right, item by item.",
                 [](const Comparison& pair) -> std::vector<Cell> {
                   const PairedCounts& counts = pair.counts;
                   const auto count = [&](int64_t value) {
                     return pair.single ? CountCell(value) : Cell(kNoValue);
                   };
                   return {ShareCell(pair.accuracy_a),
                           ShareCell(pair.accuracy_b),
                           count(counts.both),
                           count(counts.only_a),
                           count(counts.only_b),
                           count(counts.neither),
                           PValueCell(pair.p),
                           PValueCell(pair.adjusted_p),
                           pair.p ? CountCell(pair.family) : Cell(kNoValue),
                           NumberCell(pair.items_needed),
                           CountCell(pair.faults + pair.ungraded + pair.unpaired)};
                 });
}

Table PairedLengthTable(std::span<const Comparison> pairs, PairRows rows) {
  return TableOf("lengths", rows,
                 {{"A, mean"},
                  {"B, mean"},
                  {"A, median"},
                  {"B, median"},
                  {"B − A"},
                  {"items both right"},
                  {"A, mean there"},
                  {"B, mean there"},
                  {"B − A there"}},
                 pairs, "Trace length in tokens, item by item; 95 % bootstrap intervals over items.",
                 [](const Comparison& pair) -> std::vector<Cell> {
                   if (!pair.lengths) return {};
                   const auto& [a, b, all, right, finished, cut] = *pair.lengths;
                   return {
                       FixedCell(a.mean, 1),       FixedCell(b.mean, 1),       FixedCell(a.median, 1),
                       FixedCell(b.median, 1),     LengthCell(all.difference), CountCell(right.items),
                       FixedCell(right.mean_a, 1), FixedCell(right.mean_b, 1), LengthCell(right.difference)};
                 });
}

Table CutTracesTable(std::span<const Comparison> pairs, PairRows rows) {
  std::vector<Column> columns = {
      {"A cut"},      {"B cut"}, {"B − A up to the horizon"}, {"horizon"}, {"neither cut, items"},
      {"B − A there"}};
  for (const double factor : kStretches) columns.push_back({fmt::format("B − A, cut × {:g}", factor)});
  columns.push_back({"sign holds", Align::kLeft});
  columns.push_back({"turns at"});
  return TableOf(
      "cut", rows, std::move(columns), pairs,
      "What truncated traces do to the difference in length, in tokens.",
      [](const Comparison& pair) -> std::vector<Cell> {
        if (!pair.lengths || !pair.lengths->cut) return {};
        const CutTraces& cut = *pair.lengths->cut;
        const TruncationSensitivity& sensitivity = cut.sensitivity;
        std::vector<Cell> cells = {
            CountCell(sensitivity.truncated_a),       CountCell(sensitivity.truncated_b),
            LengthCell(cut.restricted.mean),          FixedCell(cut.restricted.horizon, 0),
            CountCell(pair.lengths->finished->items), LengthCell(pair.lengths->finished->difference)};
        for (const auto& stretched : sensitivity.stretched)
          cells.push_back(FixedCell(stretched.difference, 1, true));
        cells.push_back(cut.sign_holds ? "yes" : "no");
        cells.push_back(sensitivity.tipping_tokens ? FixedCell(sensitivity.tipping_tokens, 0, true)
                                                   : Cell(kNoValue));
        return cells;
      });
}

Table PartingTable(std::span<const Comparison> pairs, PairRows rows) {
  return TableOf("parting", rows,
                 {{"identical traces"},
                  {"same first token"},
                  {"tokens in common, 10 %"},
                  {"25 %"},
                  {"median"},
                  {"75 %"},
                  {"90 %"},
                  {"margin in A"},
                  {"margin in B"},
                  {"swapped"}},
                 pairs, "Where traces part: the first token that differs.",
                 [](const Comparison& pair) -> std::vector<Cell> {
                   if (!pair.parting) return {};
                   const Parting& parting = *pair.parting;
                   const auto share = [&](int64_t traces) {
                     return PercentCell(static_cast<double>(traces) / static_cast<double>(parting.traces));
                   };
                   return {share(parting.identical),           share(parting.first_alike),
                           FixedCell(parting.percentile10, 0), FixedCell(parting.percentile25, 0),
                           FixedCell(parting.median, 0),       FixedCell(parting.percentile75, 0),
                           FixedCell(parting.percentile90, 0), FixedCell(parting.margin_a, 3),
                           FixedCell(parting.margin_b, 3),     PercentCell(parting.swapped)};
                 });
}

Table PairedCostTable(std::span<const Comparison> pairs, PairRows rows) {
  return TableOf("cost", rows,
                 {{"A, seconds"},
                  {"B, seconds"},
                  {"A, tokens/s"},
                  {"B, tokens/s"},
                  {"A, ms a token"},
                  {"B, ms a token"},
                  {"B over A"},
                  {"A, forwards"},
                  {"B, forwards"},
                  {"A, right a million"},
                  {"B, right a million"},
                  {"A, peak memory"},
                  {"B, peak memory"}},
                 pairs, "What the runs cost.", [](const Comparison& pair) -> std::vector<Cell> {
                   if (!pair.cost) return {};
                   const RunCost &a = pair.cost->a, &b = pair.cost->b;
                   if (!a.seconds && !b.seconds && !a.forwards && !b.forwards) return {};
                   const auto milliseconds = [](const RunCost& cost) {
                     return FixedCell(Quotient(cost.decode_seconds_per_token, 1e-3), 2);
                   };
                   const auto memory = [](const RunCost& cost) {
                     return BytesCell(static_cast<int64_t>(cost.peak_memory_bytes.value_or(0)));
                   };
                   return {FixedCell(a.seconds, 1),
                           FixedCell(b.seconds, 1),
                           FixedCell(a.tokens_per_second, 1),
                           FixedCell(b.tokens_per_second, 1),
                           milliseconds(a),
                           milliseconds(b),
                           SignedPercentCell(pair.cost->overhead),
                           NumberCell(a.forwards),
                           NumberCell(b.forwards),
                           FixedCell(a.right_per_million_forwards, 1),
                           FixedCell(b.right_per_million_forwards, 1),
                           memory(a),
                           memory(b)};
                 });
}

Table TraceFiguresTable(std::span<const Comparison> pairs, PairRows rows) {
  Table table{"traces",
              PairColumns(rows, {{"run", Align::kLeft},
                                 {"mean"},
                                 {"10 %"},
                                 {"25 %"},
                                 {"median"},
                                 {"75 %"},
                                 {"90 %"},
                                 {"right"},
                                 {"not right"},
                                 {"truncated"},
                                 {"truncated traces"}}),
              {},
              "Trace length in tokens: mean, quantiles, and the means of those that were right, not right, "
              "and truncated."};
  for (const Comparison& pair : pairs) {
    if (!pair.lengths) continue;
    for (const auto& [side, figures] : {std::pair("A", &pair.lengths->a), std::pair("B", &pair.lengths->b)}) {
      const std::optional<TracesOf>& cut = figures->truncated;
      const std::optional<double> share =
          cut ? Quotient(static_cast<double>(cut->traces), static_cast<double>(figures->all.traces))
              : std::nullopt;
      table.rows.push_back(
          PairCells(rows, pair,
                    {side, FixedCell(figures->mean, 1), FixedCell(figures->percentile10, 1),
                     FixedCell(figures->percentile25, 1), FixedCell(figures->median, 1),
                     FixedCell(figures->percentile75, 1), FixedCell(figures->percentile90, 1),
                     FixedCell(figures->right.mean, 1), FixedCell(figures->wrong.mean, 1),
                     FixedCell(cut ? cut->mean : std::nullopt, 1), PercentCell(share)}));
    }
  }
  return table;
}

Table AcrossSuitesTable(std::span<const AcrossSuites> across) {
  Table table{"across",
              {{"A", Align::kLeft},
               {"B", Align::kLeft},
               {"suites"},
               {"items"},
               {"A, macro"},
               {"B, macro"},
               {"B − A, macro, points"},
               {"A, micro"},
               {"B, micro"},
               {"B − A, micro, points"}},
              {},
              "Accuracy over suites: macro counts every suite once, micro every item; 95 % intervals in "
              "brackets."};
  for (const AcrossSuites& of : across) {
    const Comparison& first = *of.suites.front();
    table.rows.push_back(
        {NameOfSide(*first.a), NameOfSide(*first.b), CountCell(of.macro.suites), CountCell(of.macro.of.items),
         PercentCell(of.macro_a.of.value), PercentCell(of.macro_b.of.value), PointsCell(of.macro.of),
         PercentCell(of.micro_a.of.value), PercentCell(of.micro_b.of.value), PointsCell(of.micro.of)});
  }
  return table;
}

}  // namespace fullband
