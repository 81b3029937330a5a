// What grading a store's samples again takes, whether as they are (evals/regrade.h) or cut short
// (evals/budgets.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "evals/judge.h"
#include "evals/regrade.h"
#include "evals/store/store.h"
#include "tasks/suite.h"

namespace fullband {

// The beginning of its key, by which people name it.
std::string ShortKey(const RunRecord& run);

// The runs that the request is about; notes on those that hold nothing to grade. Throws a usage Error where
// there are none, or where the run it names is not the suite's.
std::vector<RunRecord> ChosenRuns(Store& store, const RegradeRequest& request,
                                  std::vector<std::string>* notes);

// The suite as the run was asked.
Suite AskedSuite(const RunRecord& run);

// The suite's judges, or those `wanted`. Throws a usage Error for one that is unknown or does not fit.
std::vector<Judge> ChosenJudges(Suite suite, const std::vector<std::string>& wanted,
                                const GradingOptions& options);

// A verdict that says nothing of the text: the grader failed, or had no time.
bool IsNoVerdict(const GradeRecord& grade);

// Notes where the suite's file has changed since the run was asked, and where another process is working on
// it.
void NoteCircumstances(Store& store, const RegradeRequest& request, const RunRecord& run,
                       std::vector<std::string>* notes);

// Calls `work` with 0 .. count - 1, on up to `at_once` threads, until `stop` is set or a call throws; returns
// how many were begun, or throws what was thrown. The lock is held when `work` is called and when it returns:
// what threads share is touched under it, and judges are called with it open.
size_t WorkThrough(size_t count, size_t at_once, const std::atomic<bool>* stop,
                   const std::function<void(size_t index, std::unique_lock<std::mutex>& lock)>& work);

}  // namespace fullband
