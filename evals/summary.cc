#include "evals/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "common/majority.h"
#include "common/pass_at_k.h"
#include "evals/aligned_table.h"
#include "evals/sample.h"
#include "evals/votes.h"

namespace fullband {
namespace {

using Cells = std::vector<std::string>;
constexpr size_t kLeftColumns = 4;

std::string AtK(const std::optional<double>& chance, int k) {
  return chance ? fmt::format("{:.1f} % @{}", 100 * *chance, k) : "-";
}

// `several`: with the chances of several samples.
Cells CellsOf(const RunSummary& row, bool several) {
  const bool traces = row.generates && row.samples > row.faults;
  const double answered = static_cast<double>(row.samples - row.faults);
  Cells cells = {row.model,
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
  if (several)
    cells.insert(cells.begin() + 7, {AtK(row.pass, row.per_item), AtK(row.majority, row.per_item)});
  return cells;
}

// The headline's verdicts of one item's samples, but for faults.
using Counted = std::vector<GradeRecord>;

void AddChances(const RunRecord& run, const std::map<int64_t, Counted>& items, RunSummary* summary) {
  double pass = 0, majority = 0;
  int64_t whole = 0;
  bool compares = true;
  for (const auto& [id, grades] : items) {
    if (grades.size() < static_cast<size_t>(summary->per_item)) continue;
    ++whole;
    int64_t correct = 0;
    for (const GradeRecord& grade : grades) correct += grade.outcome == "correct";
    pass += PassAtK(summary->per_item, correct, summary->per_item).value();
    const std::optional<std::vector<int>> answers = NumberAnswers(run, grades);
    compares = compares && answers;
    if (!answers) continue;
    Votes votes;
    for (const int answer : *answers) {
      const auto wrong = static_cast<size_t>(std::max(answer, 0));
      if (votes.wrong.size() < wrong) votes.wrong.resize(wrong, 0);
      ++(answer < 0 ? votes.none : answer == 0 ? votes.right : votes.wrong[wrong - 1]);
    }
    majority += MajorityAtK(votes, summary->per_item).value();
  }
  if (whole == 0) return;
  summary->pass = pass / static_cast<double>(whole);
  if (compares) summary->majority = majority / static_cast<double>(whole);
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
  std::map<int64_t, GradeRecord> grades;
  for (GradeRecord& grade : store.Grades(run.id))
    if (grade.grader == run.headline) grades[grade.sample_id] = std::move(grade);
  std::map<int64_t, Counted> counted;
  store.ForEachSample(run.id, false, [&](const SampleRecord& sample) {
    // The rate is of all that the sessions did, whichever items are asked about now.
    summary.tokens += ProcessedTokens(sample, summary.generates);
    if (!items.empty() && !items.contains(sample.item)) return;
    const auto grade = grades.find(sample.id);
    ++summary.samples;
    summary.per_item = std::max(summary.per_item, sample.sample + 1);
    if (!sample.fault.empty() || (grade != grades.end() && grade->second.outcome == "fault")) {
      ++summary.faults;
      return;
    }
    if (grade != grades.end()) {
      summary.correct += grade->second.outcome == "correct";
      counted[sample.item_id].push_back(std::move(grade->second));
    }
    summary.truncated += sample.stop_reason == "length" || sample.stop_reason == "context";
    summary.trace_tokens += sample.trace_tokens;
  });
  if (summary.per_item > 1) AddChances(run, counted, &summary);
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
  const bool several =
      std::any_of(rows.begin(), rows.end(), [](const RunSummary& row) { return row.per_item > 1; });
  Cells head = {"model",  "suite",    "setting",   "run",        "n",
                "faults", "accuracy", "truncated", "mean trace", "tokens/s"};
  if (several) head.insert(head.begin() + 7, {"pass@k", "maj@k"});
  std::vector<Cells> table = {head};
  for (const RunSummary& row : rows) table.push_back(CellsOf(row, several));
  return AlignedTable(table, kLeftColumns);
}

}  // namespace fullband
