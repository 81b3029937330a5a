#include "evals/grading.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "common/error.h"
#include "evals/choose.h"
#include "evals/execute.h"
#include "evals/sample_thoughts.h"
#include "tasks/readers.h"

namespace fullband {
namespace {

// The suite's rule, compiled; null where it has none.
std::shared_ptr<const AnswerRule> RuleOf(const Suite& suite) {
  if (!suite.answer) return nullptr;
  auto rule = std::make_shared<AnswerRule>();
  if (const std::string& pattern = suite.answer->pattern; !pattern.empty())
    rule->pattern.emplace(pattern, suite.file.string() + ", answer.pattern");
  rule->ignore_case = suite.answer->ignore_case;
  return rule;
}

Judge TextJudge(const std::string& name, const std::shared_ptr<const AnswerRule>& rule,
                const ThoughtMarkers& markers) {
  const Grader& grader = FindGrader(name);
  return {grader.name, grader.version,
          [grade = grader.grade, rule, markers](const SampleRecord& sample, const std::string& gold) {
            const VisibleText visible = WithoutThoughts(sample.text, FindThoughts(sample, markers));
            return grade({sample.text, gold, rule.get(), &visible});
          }};
}

Judge ChoiceJudge(const std::string& name, Choices choices) {
  const ChoiceMetric& metric = FindChoiceMetric(name);
  if (metric.greedy != (choices == Choices::kOne))
    throw UsageError(name,
                     metric.greedy ? "judges items with one continuation, and these have several"
                                   : "compares continuations, and these items have one",
                     metric.greedy ? "use acc" : "use greedy");
  if (metric.greedy)
    return {metric.name, metric.version,
            [](const SampleRecord& sample, const std::string&) { return JudgeGreedy(sample.choices); }};
  return {metric.name, metric.version, [norm = metric.norm](const SampleRecord& sample, const std::string&) {
            return JudgeChoices(sample.choices, norm);
          }};
}

// The judge of a name, but for `execute`, which takes a machine that can.
Judge PlainJudge(const Suite& suite, const std::string& name, const std::shared_ptr<const AnswerRule>& rule,
                 const ThoughtMarkers& markers) {
  const Reader* reader = FindReader(suite.reader);
  const bool programs = reader && reader->programs;
  if ((name == kExecute) != programs)
    throw UsageError(name,
                     programs ? "compares texts, and these items ask for programs"
                              : fmt::format("runs programs, and items of {} ask for none", suite.reader),
                     programs ? "use execute" : "name a grader of texts");
  if (name == kExecute) return {name, 0, nullptr};
  return suite.ask == Ask::kChoose ? ChoiceJudge(name, suite.choices) : TextJudge(name, rule, markers);
}

void CheckRule(const Suite& suite) {
  if (!suite.answer) return;
  for (const std::string& name : suite.graders)
    if (name != kExecute && FindGrader(name).takes_rule) return;
  throw Error(suite.file.string() + ", answer", "none of the suite's graders heeds it",
              "add the grader exact, or take the table away");
}

}  // namespace

int MostAtOnce(const std::vector<Judge>& judges) {
  int most = 1;
  for (const Judge& judge : judges) most = std::max(most, judge.at_once);
  return most;
}

std::vector<Judge> JudgesOf(const Suite& suite, const GradingOptions& options) {
  std::vector<Judge> judges;
  const std::shared_ptr<const AnswerRule> rule = RuleOf(suite);
  for (const std::string& name : suite.graders) {
    try {
      judges.push_back(PlainJudge(suite, name, rule, options.thoughts));
    } catch (const Error& error) {  // the fault is the suite file's
      throw Error(fmt::format("{}, graders: {}", suite.file.string(), error.subject()), error.why(),
                  error.remedy());
    }
  }
  CheckRule(suite);
  for (Judge& judge : judges)
    if (judge.name == kExecute) judge = ExecuteJudge(suite.execution, options, "suite " + suite.name);
  return judges;
}

GradeRecord GradeSample(const Judge& judge, const SampleRecord& sample, const std::string& gold) {
  Verdict verdict{Outcome::kFault, 0, "", "not_answered"};
  if (sample.fault.empty()) {
    try {
      verdict = judge.judge(sample, gold);
    } catch (const std::exception& error) {
      verdict = {Outcome::kFault, 0, error.what(), "grader_failed"};
    }
  }
  return {sample.id,     judge.name,        judge.version, OutcomeName(verdict.outcome),
          verdict.score, verdict.extracted, verdict.detail};
}

GradingThread::GradingThread(const std::filesystem::path& store, int64_t run_id, std::vector<Judge> judges)
    : store_(OpenStore(store, StoreMode::kReadWrite)),
      run_id_(run_id),
      judges_(std::move(judges)),
      workers_(MostAtOnce(judges_)),
      limit_(std::max(workers_ / 4, 1)) {
  std::set<int64_t> ungraded;
  for (const Judge& judge : judges_)
    for (const int64_t id : store_->Ungraded(run_id_, judge.name, judge.version)) ungraded.insert(id);
  queue_.assign(ungraded.begin(), ungraded.end());
  for (const GradeRecord& grade : store_->Grades(run_id_))
    if (!ungraded.contains(grade.sample_id)) Count(grade);
  for (int i = 0; i < workers_; ++i) threads_.emplace_back([this] { Work(); });
}

GradingThread::~GradingThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void GradingThread::Push(int64_t sample_id) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(sample_id);
  }
  wake_.notify_all();
}

void GradingThread::Check() {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

void GradingThread::Finish() {
  {
    std::unique_lock lock(mutex_);
    limit_ = workers_;
    wake_.notify_all();
    idle_.wait(lock, [this] { return (failure_ || queue_.empty()) && busy_ == 0; });
  }
  Check();
}

void GradingThread::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || failure_ || (!queue_.empty() && busy_ < limit_); });
    if (stop_ || failure_) return;
    const int64_t id = queue_.front();
    queue_.pop_front();
    ++busy_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      GradeOne(id);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --busy_;
    if (!failure_) failure_ = failure;
    idle_.notify_all();
    wake_.notify_all();
  }
}

void GradingThread::GradeOne(int64_t sample_id) {
  const auto [sample, gold] = [&] {
    const std::lock_guard lock(store_mutex_);
    return store_->SampleWithGold(sample_id);
  }();
  std::vector<GradeRecord> grades;
  for (const Judge& judge : judges_) grades.push_back(GradeSample(judge, sample, gold));
  {
    const std::lock_guard lock(store_mutex_);
    store_->AddGrades(grades);
  }
  for (const GradeRecord& grade : grades) Count(grade);
}

void GradingThread::Count(const GradeRecord& grade) {
  if (grade.grader != judges_.front().name || grade.outcome == OutcomeName(Outcome::kFault)) return;
  ++counted_;
  if (grade.outcome == OutcomeName(Outcome::kCorrect)) ++correct_;
}

}  // namespace fullband
