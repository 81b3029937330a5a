// Grades committed samples beside the engine, on a thread and a connection of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "evals/graders/grader.h"
#include "evals/store/store.h"
#include "tasks/suite.h"

namespace fullband {

// A grader of texts or a metric of choices, in one shape.
struct Judge {
  std::string name;
  int version = 1;
  std::function<Verdict(const SampleRecord& sample, const std::string& gold)> judge;
};

// The suite's graders, the headline first. Throws a usage Error with near names for an unknown one.
std::vector<Judge> JudgesOf(const Suite& suite);

// The sample's grade by one judge. A sample that is a fault has outcome `fault`, detail "not_answered"; so
// has one whose grader fails, with detail "grader_failed" and its message as `extracted`.
GradeRecord GradeSample(const Judge& judge, const SampleRecord& sample, const std::string& gold);

// Begins with the samples that the run has and this version of a judge has not graded.
class GradingThread {
 public:
  GradingThread(const std::filesystem::path& store, int64_t run_id, std::vector<Judge> judges);
  ~GradingThread();  // leaves what is still in the queue; a later session grades it
  GradingThread(const GradingThread&) = delete;
  GradingThread& operator=(const GradingThread&) = delete;

  void Push(int64_t sample_id);
  // Throws what the thread met, if it met anything.
  void Check();
  // Waits until all is graded; throws as Check.
  void Finish();

  // By the headline judge, of the whole run: verdicts that count (no faults), and the correct ones among
  // them.
  int64_t counted() const { return counted_; }
  int64_t correct() const { return correct_; }

 private:
  void Work();
  void GradeOne(int64_t sample_id);
  void Count(const GradeRecord& grade);

  std::unique_ptr<Store> store_;
  int64_t run_id_;
  std::vector<Judge> judges_;
  std::atomic<int64_t> counted_ = 0, correct_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<int64_t> queue_;
  bool busy_ = false;
  bool stop_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace fullband
