#include "reports/document/cells.h"
#include "reports/sections/sections.h"
#include "reports/spelling.h"

namespace fullband {
namespace {

std::optional<double> PerSecond(int64_t count, double seconds) {
  if (count <= 0 || seconds <= 0) return std::nullopt;
  return static_cast<double>(count) / seconds;
}

std::vector<Cell> CostCells(const RunResults& results) {
  const SummedCost& cost = results.cost;
  const bool generates = results.run.ask == "generate";
  // Of imported runs no more is known than tokens and seconds, if that.
  const auto known = [ours = !results.imported](Cell cell) { return ours ? cell : Cell(kNoValue); };
  const std::optional<double> seconds =
      results.imported && cost.wall_seconds == 0 ? std::nullopt : std::optional(cost.wall_seconds);
  return RunCells(
      results, {generates && results.Knows("generated_tokens") ? CountCell(cost.generated_tokens) : kNoValue,
                FixedCell(seconds, 1), FixedCell(PerSecond(cost.generated_tokens, cost.wall_seconds), 1),
                FixedCell(generates ? PerSecond(cost.decode_forwards, cost.decode_seconds) : std::nullopt, 1),
                known(CountCell(cost.prefill_forwards + cost.decode_forwards)),
                known(CountCell(cost.saved_forwards)), known(BytesCell(cost.peak_memory_bytes))});
}

}  // namespace

std::optional<Section> CostSection(const SuiteRows& suite) {
  Table table{"cost",
              RunColumns({{"generated tokens"},
                          {"seconds"},
                          {"tokens/s"},
                          {"tokens/s of a sequence"},
                          {"position-forwards"},
                          {"saved by cache"},
                          {"peak memory"}}),
              {},
              CaptionOf(suite, "cost; seconds are wall time.")};
  for (const RunResults& results : suite.runs) {
    const SummedCost& cost = results.cost;
    if (results.imported && cost.generated_tokens == 0 && cost.wall_seconds == 0) continue;
    table.rows.push_back(CostCells(results));
  }
  if (table.rows.empty()) return std::nullopt;
  Section section = SectionOf(suite, "Cost", "cost");
  section.blocks = {
      Paragraph{
          "Seconds are wall time of all sessions; position-forwards are the prompt positions run in every "
          "prefill pass and the positions decoded or scored."},
      std::move(table)};
  return section;
}

}  // namespace fullband
