#include "evals/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "evals/sample.h"

namespace fullband {
namespace {

constexpr size_t kColumns = 10;
using Cells = std::array<std::string, kColumns>;

// Continuation bytes of UTF-8 take no column.
size_t Width(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

Cells CellsOf(const RunSummary& row) {
  const bool traces = row.generates && row.samples > row.faults;
  const double answered = static_cast<double>(row.samples - row.faults);
  return {row.model,
          row.suite,
          row.setting,
          row.key.substr(0, 8),
          fmt::format("{}", row.samples),
          row.faults == 0 ? "" : fmt::format("{}", row.faults),
          std::isnan(row.Accuracy()) ? "-" : fmt::format("{:.1f} %", 100 * row.Accuracy()),
          traces ? fmt::format("{:.1f} %", 100 * static_cast<double>(row.truncated) / answered) : "-",
          traces ? fmt::format("{:.1f}", static_cast<double>(row.trace_tokens) / answered) : "-",
          row.seconds > 0 ? fmt::format("{:.1f} in {}", static_cast<double>(row.tokens) / row.seconds,
                                        DurationText(row.seconds))
                          : "-"};
}

}  // namespace

double RunSummary::Accuracy() const {
  if (samples == faults) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(correct) / static_cast<double>(samples - faults);
}

RunSummary Summarize(Store& store, const RunRecord& run, const std::string& model,
                     const std::set<std::string>& items) {
  RunSummary summary;
  summary.model = model;
  summary.suite = run.suite;
  summary.setting = run.setting;
  summary.key = run.key;
  summary.generates = run.ask == "generate";
  std::map<int64_t, std::string> outcomes;
  for (const GradeRecord& grade : store.Grades(run.id))
    if (grade.grader == run.headline) outcomes[grade.sample_id] = grade.outcome;
  store.ForEachSample(run.id, false, [&](const SampleRecord& sample) {
    // The rate is of all that the sessions did, whichever items are asked about now.
    summary.tokens += ProcessedTokens(sample, summary.generates);
    if (!items.empty() && !items.contains(sample.item)) return;
    const auto outcome = outcomes.find(sample.id);
    ++summary.samples;
    if (!sample.fault.empty() || (outcome != outcomes.end() && outcome->second == "fault")) {
      ++summary.faults;
      return;
    }
    summary.correct += outcome != outcomes.end() && outcome->second == "correct";
    summary.truncated += sample.stop_reason == "length" || sample.stop_reason == "context";
    summary.trace_tokens += sample.trace_tokens;
  });
  for (const SessionRecord& session : store.Sessions(run.id)) summary.seconds += session.seconds;
  return summary;
}

std::string DurationText(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string SummaryTable(const std::vector<RunSummary>& rows) {
  std::vector<Cells> table = {
      {"model", "suite", "setting", "run", "n", "faults", "accuracy", "truncated", "mean trace", "tokens/s"}};
  for (const RunSummary& row : rows) table.push_back(CellsOf(row));
  std::array<size_t, kColumns> widths = {};
  for (const Cells& cells : table)
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], Width(cells[i]));
  std::string text;
  for (const Cells& cells : table) {
    std::string line;
    for (size_t i = 0; i < kColumns; ++i) {
      const std::string space(widths[i] - Width(cells[i]), ' ');
      line += (i == 0 ? "" : "  ") + (i < 4 ? cells[i] + space : space + cells[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace fullband
