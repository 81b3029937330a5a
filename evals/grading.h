// Grades committed samples beside the engine, on threads and a connection of their own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "evals/judge.h"
#include "evals/store/store.h"
#include "tasks/suite.h"

namespace fullband {

// The suite's graders, the headline first. Throws a usage Error with near names for an unknown one, and Error
// where the suite's programs cannot be run on this machine.
std::vector<Judge> JudgesOf(const Suite& suite, const GradingOptions& options = {});

// How many samples all of the judges together can be given at the same time.
int MostAtOnce(const std::vector<Judge>& judges);

// The sample's grade by one judge. A sample that is a fault has outcome `fault`, detail "not_answered"; so
// has one whose grader fails, with detail "grader_failed" and its message as `extracted`.
GradeRecord GradeSample(const Judge& judge, const SampleRecord& sample, const std::string& gold);

// Begins with the samples that the run has and this version of a judge has not graded. Judges that run
// programs work on several samples at once: on a quarter of their number, so that the engine keeps its
// processors, and on all once there is nothing else to wait for (Finish). A sample's verdicts are committed
// together as soon as it has them all.
class GradingThread {
 public:
  GradingThread(const std::filesystem::path& store, int64_t run_id, std::vector<Judge> judges);
  ~GradingThread();  // leaves what is still in the queue; a later session grades it
  GradingThread(const GradingThread&) = delete;
  GradingThread& operator=(const GradingThread&) = delete;

  void Push(int64_t sample_id);
  // Throws what the thread met, if it met anything.
  void Check();
  // Waits until all is graded; throws as Check. Nothing is pushed any more.
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
  const int workers_;
  std::atomic<int64_t> counted_ = 0, correct_ = 0;
  std::mutex store_mutex_;  // of store_, which takes one thread at a time
  std::mutex mutex_;        // of what follows
  std::condition_variable wake_, idle_;
  std::deque<int64_t> queue_;
  int busy_ = 0, limit_;
  bool stop_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace fullband
