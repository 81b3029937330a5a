#include "evals/regrade.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "common/error.h"
#include "evals/aligned_table.h"
#include "evals/choose.h"
#include "evals/execute.h"
#include "evals/grading.h"
#include "evals/regrade_runs.h"
#include "evals/sample_thoughts.h"
#include "evals/store/imported.h"

namespace fullband {
namespace {

constexpr size_t kMostDifferences = 5;  // of a run and grader that notes tell of one by one

// What a program printed and where it was in memory differs from run to run: there the outcome counts.
bool SameVerdict(const GradeRecord& a, const GradeRecord& b) {
  if (a.outcome != b.outcome || a.detail != b.detail) return false;
  return a.grader == kExecute || (a.score == b.score && a.extracted == b.extracted);
}

// At most so much of a text that a model wrote, on one line, whole characters.
std::string Brief(std::string text) {
  constexpr size_t kMost = 40;
  if (text.size() > kMost) {
    size_t end = kMost;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end) + "...";
  }
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

// The work on one run.
class RunGrader {
 public:
  RunGrader(Store& store, const RegradeRequest& request, const RunRecord& run, const std::string& model,
            Progress& progress, RegradeResult* result)
      : store_(store), request_(request), run_(run), progress_(progress), result_(result) {
    GradingOptions options = request.grading;
    options.thoughts = MarkersOfRun(run);
    judges_ = ChosenJudges(AskedSuite(run), request.graders, options);
    if (request.graders.empty()) LeaveOutUnknown();
    for (const Judge& judge : judges_) {
      RegradeRow& row = rows_.emplace_back();
      row.run = run;
      row.model = model;
      row.grader = judge.name;
      row.version = judge.version;
    }
  }

  // Stops early where it is asked to.
  void Work() {
    queue_ = Samples();
    progress_.Begin(fmt::format("{} {} ({})", run_.suite, run_.setting, ShortKey(run_)),
                    static_cast<int64_t>(queue_.size()), 0);
    const size_t begun = WorkThrough(queue_.size(), static_cast<size_t>(MostAtOnce(judges_)), request_.stop,
                                     [this](size_t i, auto& lock) { Work(queue_[i], lock); });
    result_->stopped |= begun < queue_.size();
    progress_.End(rows_.front().counted, rows_.front().correct);
    for (RegradeRow& row : rows_) Conclude(&row);
  }

 private:
  // The suite's metrics that an imported run does not have the counts for.
  void LeaveOutUnknown() {
    const std::optional<ImportedRun> imported = ImportedOf(run_);
    if (!imported || !imported->Has("logprobs") || imported->Has("choice_tokens")) return;
    std::erase_if(
        judges_, [](const Judge& judge) { return FindChoiceMetric(judge.name).norm == ChoiceNorm::kTokens; });
  }

  // Those that lack a verdict; behind them the others, where they are looked at, too.
  std::vector<int64_t> Samples() {
    std::set<int64_t> lacking;
    for (const Judge& judge : judges_)
      for (const int64_t id : store_.Ungraded(run_.id, judge.name, judge.version)) lacking.insert(id);
    std::vector<int64_t> samples, others;
    for (const int64_t id : store_.SampleIds(run_.id))
      (lacking.contains(id) ? samples : others).push_back(id);
    if (!request_.missing) samples.insert(samples.end(), others.begin(), others.end());
    return samples;
  }

  void Work(int64_t id, std::unique_lock<std::mutex>& lock) {
    const auto [sample, gold] = store_.SampleWithGold(id);
    const std::vector<GradeRecord> earlier = store_.GradesOfSample(id);
    lock.unlock();
    const std::vector<GradeRecord> grades = Judged(sample, gold, earlier);
    lock.lock();
    Take(sample, earlier, grades);
    progress_.Advance(1, 0, rows_.front().counted, rows_.front().correct);
  }

  static const GradeRecord* Find(const std::vector<GradeRecord>& grades, const Judge& judge) {
    for (const GradeRecord& grade : grades)
      if (grade.grader == judge.name && grade.version == judge.version) return &grade;
    return nullptr;
  }

  // By each judge, but that a verdict that is there is not given again where only missing ones are wanted.
  std::vector<GradeRecord> Judged(const SampleRecord& sample, const std::string& gold,
                                  const std::vector<GradeRecord>& earlier) const {
    std::vector<GradeRecord> grades;
    for (const Judge& judge : judges_) {
      const GradeRecord* present = Find(earlier, judge);
      grades.push_back(present && request_.missing ? *present : GradeSample(judge, sample, gold));
    }
    return grades;
  }

  // Compares a sample's verdicts with those that were there, commits and counts them.
  void Take(const SampleRecord& sample, const std::vector<GradeRecord>& earlier,
            const std::vector<GradeRecord>& grades) {
    std::vector<GradeRecord> fresh, better;
    std::vector<const GradeRecord*> kept;
    for (size_t i = 0; i < judges_.size(); ++i) {
      const GradeRecord* present = Find(earlier, judges_[i]);
      kept.push_back(present ? present : &grades[i]);
      rows_[i].graded += !present;
      if (!present) {
        fresh.push_back(grades[i]);
      } else if (!request_.missing && Compare(sample, *present, grades[i], &rows_[i])) {
        better.push_back(grades[i]);
        kept.back() = &grades[i];
      }
    }
    store_.AddGrades(fresh);
    store_.ReplaceGrades(better);
    for (size_t i = 0; i < judges_.size(); ++i) Count(*kept[i], earlier, &rows_[i]);
  }

  // Whether the new verdict goes into the present one's place.
  bool Compare(const SampleRecord& sample, const GradeRecord& present, const GradeRecord& now,
               RegradeRow* row) {
    if (SameVerdict(present, now)) {
      ++row->same;
      return false;
    }
    const bool repairs = IsNoVerdict(present) && !IsNoVerdict(now);
    if (!IsNoVerdict(present) && !IsNoVerdict(now)) {
      ++row->different;
      if (static_cast<size_t>(row->different) <= kMostDifferences)
        result_->notes.push_back(
            fmt::format("run {}, item {}, sample {}: {} version {} had said {} ({}), and now says {} ({})",
                        ShortKey(run_), sample.item, sample.sample, present.grader, present.version,
                        present.outcome, Shown(present), now.outcome, Shown(now)));
    }
    const bool replaces = repairs || (request_.replace && !IsNoVerdict(now));
    row->replaced += replaces;
    return replaces;
  }

  static std::string Shown(const GradeRecord& grade) {
    std::string text = Brief(grade.extracted);
    if (!grade.detail.empty()) text += (text.empty() ? "" : ", ") + grade.detail;
    return text;
  }

  // Of what the store now has for this version.
  static void Count(const GradeRecord& grade, const std::vector<GradeRecord>& earlier, RegradeRow* row) {
    const bool fault = grade.outcome == OutcomeName(Outcome::kFault);
    const bool correct = grade.outcome == OutcomeName(Outcome::kCorrect);
    row->faults += fault;
    row->counted += !fault;
    row->correct += correct;
    const GradeRecord* before = nullptr;
    for (const GradeRecord& other : earlier) {
      if (other.grader != grade.grader) continue;
      row->newest = std::max(row->newest, other.version);
      if (other.version < grade.version && (!before || other.version > before->version)) before = &other;
    }
    if (!before) return;
    row->previous = std::max(row->previous, before->version);
    const bool was_correct = before->outcome == OutcomeName(Outcome::kCorrect);
    row->changed += before->outcome != grade.outcome;
    row->gained += correct && !was_correct;
    row->lost += was_correct && !correct;
  }

  void Conclude(RegradeRow* row) {
    result_->different |= row->different > 0;
    result_->faults |= row->faults > 0;
    if (row->newest > row->version)
      result_->notes.push_back(fmt::format(
          "run {}: the store has verdicts of {} version {}, newer than this program's {}; reports use those",
          ShortKey(run_), row->grader, row->newest, row->version));
    if (static_cast<size_t>(row->different) > kMostDifferences)
      result_->notes.push_back(fmt::format("run {}: {} more verdicts of {} version {} differ", ShortKey(run_),
                                           static_cast<size_t>(row->different) - kMostDifferences,
                                           row->grader, row->version));
    result_->rows.push_back(std::move(*row));
  }

  Store& store_;
  const RegradeRequest& request_;
  const RunRecord& run_;
  Progress& progress_;
  RegradeResult* result_;
  std::vector<Judge> judges_;
  std::vector<RegradeRow> rows_;  // of each judge
  std::vector<int64_t> queue_;    // ids of samples
};

}  // namespace

RegradeResult Regrade(const RegradeRequest& request, Progress& progress) {
  if (!std::filesystem::exists(request.store))
    throw Error(request.store.string(), "no such store", "fullband run --store makes one");
  const std::unique_ptr<Store> store = OpenStore(request.store, StoreMode::kReadWrite);
  RegradeResult result;
  const std::vector<RunRecord> runs = ChosenRuns(*store, request, &result.notes);
  std::map<int64_t, std::string> models;
  for (const ModelRecord& model : store->Models()) models[model.id] = model.name;
  for (const RunRecord& run : runs) {
    RunGrader grader(*store, request, run, models[run.model_id], progress, &result);
    NoteCircumstances(*store, request, run, &result.notes);
    grader.Work();
    if (result.stopped) break;
  }
  return result;
}

std::string RegradeTable(const std::vector<RegradeRow>& rows) {
  constexpr size_t kLeftColumns = 4;
  std::vector<std::vector<std::string>> table = {{"model", "setting", "run", "grader", "version", "graded",
                                                  "same", "different", "correct", "faults", "changed"}};
  for (const RegradeRow& row : rows) {
    const auto count = [](int64_t value) { return value == 0 ? std::string() : fmt::format("{}", value); };
    const std::string changed = row.previous == 0 ? "-"
                                                  : fmt::format("{} (+{} -{}) since {}", row.changed,
                                                                row.gained, row.lost, row.previous);
    table.push_back({row.model, row.run.setting, ShortKey(row.run), row.grader,
                     fmt::format("{}", row.version), fmt::format("{}", row.graded), count(row.same),
                     row.replaced == 0 ? count(row.different)
                                       : fmt::format("{} ({} replaced)", row.different, row.replaced),
                     row.counted + row.faults == 0 ? "-" : fmt::format("{}/{}", row.correct, row.counted),
                     count(row.faults), changed});
  }
  return AlignedTable(table, kLeftColumns);
}

}  // namespace fullband
