#include "evals/regrade.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "common/error.h"
#include "common/names.h"
#include "evals/aligned_table.h"
#include "evals/choose.h"
#include "evals/execute.h"
#include "evals/grading.h"
#include "evals/lease.h"
#include "evals/sample_thoughts.h"
#include "evals/store/imported.h"
#include "tasks/suite.h"
#include "tasks/suite_definition.h"

namespace fullband {
namespace {

constexpr size_t kMostDifferences = 5;  // of a run and grader that notes tell of one by one

std::string Key(const RunRecord& run) { return run.key.substr(0, 8); }

bool IsPath(const std::string& suite) {
  return suite.find('/') != std::string::npos || suite.ends_with(".toml");
}

// The file's suite, where there is such a file and it can be read.
std::optional<Suite> PresentSuite(const std::string& name) {
  try {
    return LoadSuite(name);
  } catch (const Error&) {
    if (IsPath(name)) throw;
    return std::nullopt;
  }
}

// Whether there is something to grade; an imported run may have verdicts alone.
bool Gradable(const RunRecord& run) {
  const std::optional<ImportedRun> imported = ImportedOf(run);
  return !imported || imported->Gradable();
}

std::vector<RunRecord> ChosenRuns(Store& store, const RegradeRequest& request, const std::string& suite,
                                  RegradeResult* result) {
  if (!request.run.empty()) {
    const RunRecord run = store.FindRun(request.run);
    if (run.suite != suite)
      throw UsageError("--run " + request.run, fmt::format("is a run of {}, not of {}", run.suite, suite),
                       "name its suite, or another run");
    if (!Gradable(run))
      throw UsageError("--run " + request.run, "was imported with verdicts alone, there is nothing to grade",
                       "name another run");
    return {run};
  }
  std::vector<RunRecord> chosen;
  std::set<std::string> there;
  for (RunRecord& run : store.Runs()) {
    there.insert(run.suite);
    if (run.suite != suite) continue;
    if (Gradable(run))
      chosen.push_back(std::move(run));
    else
      result->notes.push_back(
          fmt::format("run {}: was imported with verdicts alone, there is nothing to grade", Key(run)));
  }
  if (chosen.empty() && result->notes.empty())
    throw UsageError(
        "--suite " + suite, fmt::format("{} has no run of it", store.path().string()),
        there.empty() ? "it has none at all" : fmt::format("it has runs of {}", fmt::join(there, ", ")));
  return chosen;
}

// The suite as the run was asked.
Suite AskedSuite(const RunRecord& run) {
  const auto identity = nlohmann::json::parse(run.identity, nullptr, false);
  const nlohmann::json::json_pointer key("/suite/definition");
  if (!identity.is_object() || !identity.contains(key) || !identity.at(key).is_object())
    throw Error(fmt::format("run {}", Key(run)), "its identity does not hold the suite's definition",
                "restore a copy of the store");
  return SuiteOfDefinition(identity.at(key), fmt::format("run {}, suite {}", Key(run), run.suite));
}

std::vector<std::string> KnownGraders(Ask ask) {
  return ask == Ask::kChoose ? ChoiceMetricNames() : GraderNames();
}

// Those of the suite, or those asked for.
std::vector<Judge> ChosenJudges(Suite suite, const std::vector<std::string>& wanted,
                                const GradingOptions& options) {
  std::vector<Judge> judges = JudgesOf(suite, options);
  if (wanted.empty()) return judges;
  std::vector<Judge> chosen;
  for (const std::string& name : wanted) {
    const auto has = [&](const Judge& judge) { return judge.name == name; };
    auto found = std::find_if(judges.begin(), judges.end(), has);
    if (found == judges.end()) {
      try {
        suite.graders.push_back(name);
        judges = JudgesOf(suite, options);
      } catch (const Error& error) {
        const std::vector<std::string> known = KnownGraders(suite.ask);
        const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
        throw UsageError("--grader " + name,
                         is_known ? error.why() : fmt::format("is no grader for {}", suite.name),
                         is_known ? error.remedy() : DidYouMean(name, known));
      }
      found = std::find_if(judges.begin(), judges.end(), has);
    }
    chosen.push_back(*found);
  }
  return chosen;
}

// A verdict that says nothing of the text: the grader failed, or had no time.
bool IsNone(const GradeRecord& grade) {
  return grade.outcome == OutcomeName(Outcome::kTimeout) ||
         (grade.outcome == OutcomeName(Outcome::kFault) && grade.detail == "grader_failed");
}

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
    progress_.Begin(fmt::format("{} {} ({})", run_.suite, run_.setting, Key(run_)),
                    static_cast<int64_t>(queue_.size()), 0);
    const auto at_once = static_cast<size_t>(MostAtOnce(judges_));
    {
      std::vector<std::jthread> helpers;
      for (size_t i = 1; i < std::min(at_once, queue_.size()); ++i) helpers.emplace_back([this] { Help(); });
      Help();
    }
    if (failure_) std::rethrow_exception(failure_);
    result_->stopped |= next_ < queue_.size();
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

  // Takes samples until there are none left. On several threads: what they share is touched under the mutex,
  // and judges are called outside of it.
  void Help() {
    std::unique_lock lock(mutex_);
    while (next_ < queue_.size() && !failure_ && !(request_.stop && *request_.stop)) {
      const int64_t id = queue_[next_++];
      try {
        const auto [sample, gold] = store_.SampleWithGold(id);
        const std::vector<GradeRecord> earlier = store_.GradesOfSample(id);
        lock.unlock();
        std::vector<GradeRecord> grades = Judged(sample, gold, earlier);
        lock.lock();
        Take(sample, earlier, grades);
        progress_.Advance(1, 0, rows_.front().counted, rows_.front().correct);
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        failure_ = std::current_exception();
      }
    }
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
    const bool repairs = IsNone(present) && !IsNone(now);
    if (!IsNone(present) && !IsNone(now)) {
      ++row->different;
      if (static_cast<size_t>(row->different) <= kMostDifferences)
        result_->notes.push_back(
            fmt::format("run {}, item {}, sample {}: {} version {} had said {} ({}), and now says {} ({})",
                        Key(run_), sample.item, sample.sample, present.grader, present.version,
                        present.outcome, Shown(present), now.outcome, Shown(now)));
    }
    const bool replaces = repairs || (request_.replace && !IsNone(now));
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
          Key(run_), row->grader, row->newest, row->version));
    if (static_cast<size_t>(row->different) > kMostDifferences)
      result_->notes.push_back(fmt::format("run {}: {} more verdicts of {} version {} differ", Key(run_),
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
  size_t next_ = 0;
  std::exception_ptr failure_;
  std::mutex mutex_;  // of all that changes, and of the store's connection
};

void NoteLease(Store& store, const RunRecord& run, RegradeResult* result) {
  const std::optional<LeaseRecord> held = store.Lease(run.id);
  if (!held || !IsAlive(*held, ThisProcess(), UtcNow(), LeaseTimes().silent)) return;
  result->notes.push_back(
      fmt::format("run {}: process {} on {} is working on it; what it adds from now on is graded by its own "
                  "graders alone",
                  Key(run), held->pid, held->host));
}

void NoteDefinition(const std::optional<Suite>& present, const RunRecord& run, RegradeResult* result) {
  if (!present || AskedSuite(run).definition == present->definition) return;
  result->notes.push_back(fmt::format(
      "run {}: {} has changed since it was asked (version {} then, {} now); it is graded as it was asked",
      Key(run), run.suite, run.suite_version, present->version));
}

}  // namespace

RegradeResult Regrade(const RegradeRequest& request, Progress& progress) {
  if (!std::filesystem::exists(request.store))
    throw Error(request.store.string(), "no such store", "fullband run --store makes one");
  const std::unique_ptr<Store> store = OpenStore(request.store, StoreMode::kReadWrite);
  const std::optional<Suite> present = PresentSuite(request.suite);
  RegradeResult result;
  const std::vector<RunRecord> runs =
      ChosenRuns(*store, request, IsPath(request.suite) ? present->name : request.suite, &result);
  std::map<int64_t, std::string> models;
  for (const ModelRecord& model : store->Models()) models[model.id] = model.name;
  for (const RunRecord& run : runs) {
    RunGrader grader(*store, request, run, models[run.model_id], progress, &result);
    NoteDefinition(present, run, &result);
    NoteLease(*store, run, &result);
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
    table.push_back({row.model, row.run.setting, Key(row.run), row.grader, fmt::format("{}", row.version),
                     fmt::format("{}", row.graded), count(row.same),
                     row.replaced == 0 ? count(row.different)
                                       : fmt::format("{} ({} replaced)", row.different, row.replaced),
                     row.counted + row.faults == 0 ? "-" : fmt::format("{}/{}", row.correct, row.counted),
                     count(row.faults), changed});
  }
  return AlignedTable(table, kLeftColumns);
}

}  // namespace fullband
