#include "evals/budgets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/error.h"
#include "evals/aligned_table.h"
#include "evals/cuts.h"
#include "evals/grading.h"
#include "evals/regrade_runs.h"
#include "evals/sample_thoughts.h"
#include "evals/store/imported.h"

namespace fullband {
namespace {

std::vector<std::string> StopStringsOf(const RunRecord& run) {
  const auto identity = nlohmann::json::parse(run.identity, nullptr, false);
  return identity.is_object() ? identity.value("stop_strings", std::vector<std::string>())
                              : std::vector<std::string>();
}

// Why a run's traces cannot be cut; empty where they can.
std::string WhyNot(const RunRecord& run) {
  if (run.ask != "generate") return "asks by choices, there is no trace to cut";
  const std::optional<ImportedRun> imported = ImportedOf(run);
  if (!imported) return "";
  if (!imported->Has("text_ends"))
    return "was imported without what its tokens spell (import its token ids with --tokenizer)";
  if (!imported->Has("stop_reason"))
    return "was imported without stop reasons, which tell whole traces from cut ones";
  return "";
}

// What all that graders see of a sample comes to.
struct Seen {
  std::string text;
  VisibleText visible;

  friend bool operator==(const Seen& a, const Seen& b) {
    return a.text == b.text && a.visible.text == b.visible.text &&
           a.visible.ends_in_thought == b.visible.ends_in_thought;
  }
};

// The verdicts of one judge on the texts of one sample.
class TextVerdicts {
 public:
  TextVerdicts(const Judge& judge, const ThoughtMarkers& markers, const std::string& gold)
      : judge_(judge), markers_(markers), gold_(gold) {}

  void Know(const SampleRecord& sample, const GradeRecord& grade) {
    known_.push_back({SeenOf(sample), grade});
  }
  // Whether such a text was judged.
  bool Knows(const SampleRecord& sample) const { return Find(SeenOf(sample)) != nullptr; }
  // Asks the judge where no such text was judged; `asked` becomes true then.
  GradeRecord Of(const SampleRecord& sample, bool* asked) {
    Seen seen = SeenOf(sample);
    if (const GradeRecord* grade = Find(seen)) return *grade;
    *asked = true;
    GradeRecord grade = GradeSample(judge_, sample, gold_);
    if (!IsNoVerdict(grade)) known_.push_back({std::move(seen), grade});
    return grade;
  }

 private:
  const GradeRecord* Find(const Seen& seen) const {
    for (const auto& [text, grade] : known_)
      if (text == seen) return &grade;
    return nullptr;
  }
  Seen SeenOf(const SampleRecord& sample) const {
    return {sample.text, WithoutThoughts(sample.text, FindThoughts(sample, markers_))};
  }

  const Judge& judge_;
  const ThoughtMarkers& markers_;
  const std::string& gold_;
  std::vector<std::pair<Seen, GradeRecord>> known_;
};

// The work on one run.
class RunCutter {
 public:
  RunCutter(Store& store, const RegradeRequest& request, const RunRecord& run, const std::string& model,
            std::vector<int64_t> budgets, Progress& progress, BudgetResult* result)
      : store_(store),
        request_(request),
        run_(run),
        budgets_(std::move(budgets)),
        stop_strings_(StopStringsOf(run)),
        markers_(MarkersOfRun(run)),
        progress_(progress),
        result_(result) {
    GradingOptions options = request.grading;
    options.thoughts = markers_;
    const std::vector<std::string> headline = {run.headline};
    judges_ = ChosenJudges(AskedSuite(run), request.graders.empty() ? headline : request.graders, options);
    for (const Judge& judge : judges_)
      for (const int64_t budget : budgets_) {
        BudgetRow& row = rows_.emplace_back();
        row.run = run;
        row.model = model;
        row.grader = judge.name;
        row.version = judge.version;
        row.budget = budget;
      }
  }

  void Work() {
    const std::vector<int64_t> samples = store_.SampleIds(run_.id);
    progress_.Begin(fmt::format("{} {} ({})", run_.suite, run_.setting, ShortKey(run_)),
                    static_cast<int64_t>(samples.size()), 0);
    const size_t begun =
        WorkThrough(samples.size(), static_cast<size_t>(MostAtOnce(judges_)), request_.stop,
                    [&](size_t i, std::unique_lock<std::mutex>& lock) { WorkOn(samples[i], lock); });
    result_->stopped |= begun < samples.size();
    progress_.End(rows_.back().counted, rows_.back().correct);
    Conclude();
  }

 private:
  struct Verdict {
    BudgetGradeRecord record;
    bool asked = false, present = false;
  };

  void WorkOn(int64_t id, std::unique_lock<std::mutex>& lock) {
    const auto [sample, gold] = store_.SampleWithGold(id);
    const std::vector<GradeRecord> whole = store_.GradesOfSample(id);
    std::vector<std::vector<BudgetGradeRecord>> present;
    for (const Judge& judge : judges_) present.push_back(store_.BudgetGrades(id, judge.name, judge.version));
    lock.unlock();
    std::vector<Verdict> verdicts;  // as rows_
    for (size_t j = 0; j < judges_.size(); ++j) {
      std::vector<Verdict> by_budget = ByBudget(judges_[j], sample, gold, whole, present[j]);
      std::move(by_budget.begin(), by_budget.end(), std::back_inserter(verdicts));
    }
    lock.lock();
    Take(verdicts);
    progress_.Advance(1, 0, rows_.back().counted, rows_.back().correct);
  }

  // The sample's verdicts by one judge, for each budget.
  std::vector<Verdict> ByBudget(const Judge& judge, const SampleRecord& sample, const std::string& gold,
                                const std::vector<GradeRecord>& whole,
                                const std::vector<BudgetGradeRecord>& present) const {
    TextVerdicts texts(judge, markers_, gold);
    for (const GradeRecord& grade : whole)
      if (grade.grader == judge.name && grade.version == judge.version && !IsNoVerdict(grade))
        texts.Know(sample, grade);
    const TextVerdicts of_whole = texts;
    std::vector<Verdict> verdicts;
    for (const int64_t budget : budgets_) {
      const Cut cut = CutAt(sample, budget, stop_strings_);
      const auto there = std::find_if(present.begin(), present.end(), [&](const BudgetGradeRecord& record) {
        return record.budget == budget;
      });
      Verdict& verdict = verdicts.emplace_back();
      // Where the text is the whole one, its verdict is the sample's, which may have been given anew since.
      if (there != present.end() && !request_.replace && !IsNoVerdict(there->grade) &&
          !of_whole.Knows(cut.sample)) {
        verdict = {*there, false, true};
        if (there->certain) texts.Know(cut.sample, there->grade);
        continue;
      }
      verdict.record = Judged(cut, budget, &texts, &verdict.asked);
      verdict.present = there != present.end() && !verdict.asked && SameVerdict(*there, verdict.record);
    }
    return verdicts;
  }

  static bool SameVerdict(const BudgetGradeRecord& a, const BudgetGradeRecord& b) {
    return a.grade.outcome == b.grade.outcome && a.grade.score == b.grade.score &&
           a.grade.extracted == b.grade.extracted && a.grade.detail == b.grade.detail &&
           a.certain == b.certain;
  }

  static BudgetGradeRecord Judged(const Cut& cut, int64_t budget, TextVerdicts* texts, bool* asked) {
    BudgetGradeRecord record;
    record.budget = budget;
    record.truncated = cut.truncated;
    record.text_bytes = static_cast<int64_t>(cut.sample.text.size());
    record.grade = texts->Of(cut.sample, asked);
    SampleRecord other = cut.sample;
    for (const std::string& text : cut.other_texts) {
      other.text = text;
      record.certain &= texts->Of(other, asked).outcome == record.grade.outcome;
    }
    return record;
  }

  void Take(const std::vector<Verdict>& verdicts) {
    std::vector<BudgetGradeRecord> fresh;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      const auto& [record, asked, present] = verdicts[i];
      if (!present) fresh.push_back(record);
      BudgetRow& row = rows_[i];
      row.graded += !present && asked;
      row.unchanged += !present && !asked;
      row.kept += present;
      const bool fault = record.grade.outcome == OutcomeName(Outcome::kFault);
      row.faults += fault;
      row.counted += !fault;
      row.correct += record.grade.outcome == OutcomeName(Outcome::kCorrect);
      row.truncated += !fault && record.truncated;
      row.uncertain += !record.certain;
    }
    store_.ReplaceBudgetGrades(fresh);
  }

  void Conclude() {
    int64_t uncertain = 0;
    for (const BudgetRow& row : rows_) {
      result_->faults |= row.faults > 0;
      uncertain += row.uncertain;
    }
    if (uncertain > 0)
      result_->notes.push_back(fmt::format(
          "run {}: {} verdicts hang on the last character of a cut, which the store does not tell (a "
          "character or a stop string had begun); they are marked as not certain",
          ShortKey(run_), uncertain));
    std::move(rows_.begin(), rows_.end(), std::back_inserter(result_->rows));
  }

  Store& store_;
  const RegradeRequest& request_;
  const RunRecord& run_;
  const std::vector<int64_t> budgets_;  // ascending
  const std::vector<std::string> stop_strings_;
  const ThoughtMarkers markers_;
  Progress& progress_;
  BudgetResult* result_;
  std::vector<Judge> judges_;
  std::vector<BudgetRow> rows_;  // by judge, then budget
};

// The runs whose traces can be cut, with their longest budgets.
std::vector<std::pair<RunRecord, int64_t>> CuttableRuns(Store& store, std::vector<RunRecord> runs,
                                                        const std::string& suite, BudgetResult* result) {
  std::vector<std::pair<RunRecord, int64_t>> cuttable;
  std::string why_not;
  for (RunRecord& run : runs) {
    why_not = WhyNot(run);
    if (why_not.empty()) {
      const int64_t limit = LongestBudget(store, run);
      cuttable.emplace_back(std::move(run), limit);
    } else {
      result->notes.push_back(fmt::format("run {}: {}", ShortKey(run), why_not));
    }
  }
  if (cuttable.empty())
    throw UsageError("--budgets", fmt::format("no run of {} can be cut: {}", suite,
                                              why_not.empty() ? "none can be graded" : "it " + why_not));
  return cuttable;
}

std::vector<int64_t> BudgetsOf(const BudgetRequest& request, const RunRecord& run, int64_t limit,
                               const std::vector<std::pair<RunRecord, int64_t>>& runs, BudgetResult* result) {
  std::vector<int64_t> budgets = request.budgets, above;
  if (budgets.empty()) {
    budgets = UsualBudgets(limit);
    // Runs with smaller limits are compared with this one at theirs.
    for (const auto& [other, other_limit] : runs)
      if (other_limit < limit && other_limit > 0) budgets.push_back(other_limit);
  }
  std::sort(budgets.begin(), budgets.end());
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  const auto first_above = std::upper_bound(budgets.begin(), budgets.end(), limit);
  above.assign(first_above, budgets.end());
  budgets.erase(first_above, budgets.end());
  if (!above.empty())
    result->notes.push_back(
        fmt::format("run {}: left out {}: its traces were cut at {} tokens, and how they would "
                    "have gone on is not known",
                    ShortKey(run), fmt::join(above, ", "), limit));
  return budgets;
}

}  // namespace

BudgetResult RegradeBudgets(const BudgetRequest& request, Progress& progress) {
  const RegradeRequest& regrade = request.regrade;
  if (!std::filesystem::exists(regrade.store))
    throw Error(regrade.store.string(), "no such store", "fullband run --store makes one");
  for (const int64_t budget : request.budgets)
    if (budget < 1) throw UsageError(fmt::format("--budgets {}", budget), "is not 1 or more");
  const std::unique_ptr<Store> store = OpenStore(regrade.store, StoreMode::kReadWrite);
  BudgetResult result;
  const auto runs = CuttableRuns(*store, ChosenRuns(*store, regrade, &result.notes), regrade.suite, &result);
  std::map<int64_t, std::string> models;
  for (const ModelRecord& model : store->Models()) models[model.id] = model.name;
  bool any = false;
  for (const auto& [run, limit] : runs) {
    std::vector<int64_t> budgets = BudgetsOf(request, run, limit, runs, &result);
    if (budgets.empty()) continue;
    any = true;
    RunCutter cutter(*store, regrade, run, models[run.model_id], std::move(budgets), progress, &result);
    NoteCircumstances(*store, regrade, run, &result.notes);
    cutter.Work();
    if (result.stopped) break;
  }
  if (!any)
    throw UsageError("--budgets", "all runs have smaller limits than these budgets",
                     fmt::format("the largest limit is {}",
                                 std::max_element(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
                                   return a.second < b.second;
                                 })->second));
  return result;
}

std::string BudgetTable(const std::vector<BudgetRow>& rows) {
  constexpr size_t kLeftColumns = 4;
  std::vector<std::vector<std::string>> table = {{"model", "setting", "run", "grader", "version", "budget",
                                                  "graded", "unchanged", "there", "correct", "accuracy",
                                                  "truncated", "faults"}};
  for (const BudgetRow& row : rows) {
    const auto count = [](int64_t value) { return value == 0 ? std::string() : fmt::format("{}", value); };
    const auto share = [&](int64_t part) {
      return row.counted == 0 ? std::string("-")
                              : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) /
                                                            static_cast<double>(row.counted));
    };
    table.push_back({row.model, row.run.setting, ShortKey(row.run), row.grader,
                     fmt::format("{}", row.version), fmt::format("{}", row.budget), count(row.graded),
                     count(row.unchanged), count(row.kept), fmt::format("{}/{}", row.correct, row.counted),
                     share(row.correct), share(row.truncated), count(row.faults)});
  }
  return AlignedTable(table, kLeftColumns);
}

}  // namespace fullband
