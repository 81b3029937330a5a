#include "evals/regrade_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "common/error.h"
#include "common/names.h"
#include "evals/choose.h"
#include "evals/grading.h"
#include "evals/lease.h"
#include "evals/store/imported.h"
#include "tasks/suite_definition.h"

namespace fullband {
namespace {

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

std::vector<std::string> KnownGraders(Ask ask) {
  return ask == Ask::kChoose ? ChoiceMetricNames() : GraderNames();
}

void NoteLease(Store& store, const RunRecord& run, std::vector<std::string>* notes) {
  const std::optional<LeaseRecord> held = store.Lease(run.id);
  if (!held || !IsAlive(*held, ThisProcess(), UtcNow(), LeaseTimes().silent)) return;
  notes->push_back(
      fmt::format("run {}: process {} on {} is working on it; what it adds from now on is graded by its own "
                  "graders alone",
                  ShortKey(run), held->pid, held->host));
}

void NoteDefinition(const std::optional<Suite>& present, const RunRecord& run,
                    std::vector<std::string>* notes) {
  if (!present || AskedSuite(run).definition == present->definition) return;
  notes->push_back(fmt::format(
      "run {}: {} has changed since it was asked (version {} then, {} now); it is graded as it was asked",
      ShortKey(run), run.suite, run.suite_version, present->version));
}

}  // namespace

std::string ShortKey(const RunRecord& run) { return run.key.substr(0, 8); }

std::vector<RunRecord> ChosenRuns(Store& store, const RegradeRequest& request,
                                  std::vector<std::string>* notes) {
  const std::optional<Suite> present = PresentSuite(request.suite);
  const std::string suite = IsPath(request.suite) ? present->name : request.suite;
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
      notes->push_back(
          fmt::format("run {}: was imported with verdicts alone, there is nothing to grade", ShortKey(run)));
  }
  if (chosen.empty() && notes->empty())
    throw UsageError(
        "--suite " + suite, fmt::format("{} has no run of it", store.path().string()),
        there.empty() ? "it has none at all" : fmt::format("it has runs of {}", fmt::join(there, ", ")));
  return chosen;
}

Suite AskedSuite(const RunRecord& run) {
  const auto identity = nlohmann::json::parse(run.identity, nullptr, false);
  const nlohmann::json::json_pointer key("/suite/definition");
  if (!identity.is_object() || !identity.contains(key) || !identity.at(key).is_object())
    throw Error(fmt::format("run {}", ShortKey(run)), "its identity does not hold the suite's definition",
                "restore a copy of the store");
  return SuiteOfDefinition(identity.at(key), fmt::format("run {}, suite {}", ShortKey(run), run.suite));
}

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

bool IsNoVerdict(const GradeRecord& grade) {
  return grade.outcome == OutcomeName(Outcome::kTimeout) ||
         (grade.outcome == OutcomeName(Outcome::kFault) && grade.detail == "grader_failed");
}

void NoteCircumstances(Store& store, const RegradeRequest& request, const RunRecord& run,
                       std::vector<std::string>* notes) {
  NoteDefinition(PresentSuite(request.suite), run, notes);
  NoteLease(store, run, notes);
}

size_t WorkThrough(size_t count, size_t at_once, const std::atomic<bool>* stop,
                   const std::function<void(size_t index, std::unique_lock<std::mutex>& lock)>& work) {
  size_t next = 0;
  std::exception_ptr failure;
  std::mutex mutex;  // of these and of what `work` shares
  const auto help = [&] {
    std::unique_lock lock(mutex);
    while (next < count && !failure && !(stop && *stop)) {
      const size_t index = next++;
      try {
        work(index, lock);
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        failure = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (size_t i = 1; i < std::min(at_once, count); ++i) helpers.emplace_back(help);
    help();
  }
  if (failure) std::rethrow_exception(failure);
  return next;
}

}  // namespace fullband
