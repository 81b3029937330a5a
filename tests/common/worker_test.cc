#include "common/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "common/error.h"
#include "common/paths.h"

namespace fullband {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr seconds kPlenty{60};

// The product's worker with jobs that misbehave.
constexpr const char* kJobs = R"py(
import os, sys, time
sys.path.insert(0, os.environ["FULLBAND_TEST_SCRIPTS"])
import worker

def loud(request):
    print("printed")
    os.write(1, b"\xff\xff\xff\xff written to descriptor 1")
    sys.stdout.flush()
    return sys.stdin.read()

def sleep(request):
    time.sleep(request["seconds"])

def crash(request):
    print("last words", file=sys.stderr, flush=True)
    os._exit(3)

def import_missing(request):
    import fullband_has_no_such_package

def fail(request):
    raise ValueError("the reason")

def leave(request):
    sys.exit(0)

def surrogate(request):
    return "\ud800"

def spin(request):
    while True:
        pass

def echo(request):
    return request["value"]

def pid(request):
    return os.getpid()

for name in ("loud", "sleep", "crash", "import_missing", "fail", "leave", "surrogate", "spin", "echo", "pid"):
    worker.JOBS[name] = ("__main__", name)

worker.main()
)py";

class WorkerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(PythonInterpreter()))
      GTEST_SKIP() << PythonInterpreter() << " is missing (run scripts/setup)";
    setenv("FULLBAND_TEST_SCRIPTS", (HomeFolder() / "scripts").c_str(), 1);
    script_ = fs::temp_directory_path() / ("worker_test_" + std::to_string(getpid()) + ".py");
    std::ofstream(script_) << kJobs;
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove(script_, ignored);
  }
  std::string FailureOf(Worker& worker, const json& request) {
    try {
      worker.Call(request, kPlenty);
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "no Error for " << request;
    return "";
  }
  fs::path script_;
};

TEST_F(WorkerTest, GivesBackWhatAJobReturns) {
  Worker worker(script_);
  const json value = {{"text", "naïve 漢字 🙂 \n"}, {"numbers", {1, 2.5, -3}}, {"nothing", nullptr}};
  EXPECT_EQ(worker.Call({{"job", "echo"}, {"value", value}}, kPlenty), value);
}

TEST_F(WorkerTest, KeepsItsProcessBetweenCalls) {
  Worker worker(script_);
  const json first = worker.Call({{"job", "pid"}}, kPlenty);
  EXPECT_EQ(worker.Call({{"job", "pid"}}, kPlenty), first);
}

TEST_F(WorkerTest, CarriesFramesFarLargerThanAPipeHolds) {
  Worker worker(script_);
  const std::string large(20'000'000, 'x');
  EXPECT_EQ(worker.Call({{"job", "echo"}, {"value", large}}, kPlenty), large);
}

TEST_F(WorkerTest, PrintingJobsDoNotBreakFrames) {
  Worker worker(script_);
  EXPECT_EQ(worker.Call({{"job", "loud"}}, kPlenty), "");
  EXPECT_EQ(worker.Call({{"job", "echo"}, {"value", 7}}, kPlenty), 7);
}

TEST_F(WorkerTest, ReportsAJobsFailureAndGoesOn) {
  Worker worker(script_);
  const json before = worker.Call({{"job", "pid"}}, kPlenty);
  EXPECT_EQ(FailureOf(worker, {{"job", "fail"}}), "worker job fail: the reason");
  EXPECT_THAT(FailureOf(worker, {{"job", "leave"}}), HasSubstr("tried to end the worker"));
  EXPECT_THAT(FailureOf(worker, {{"job", "nonsense"}}), HasSubstr("unknown job 'nonsense'"));
  EXPECT_EQ(worker.Call({{"job", "pid"}}, kPlenty), before);
}

TEST_F(WorkerTest, NamesAMissingPackageAndTheRemedy) {
  Worker worker(script_);
  EXPECT_EQ(
      FailureOf(worker, {{"job", "import_missing"}}),
      "worker job import_missing: Python package missing: fullband_has_no_such_package (run scripts/setup)");
}

TEST_F(WorkerTest, RestartsAfterACrash) {
  Worker worker(script_);
  const json before = worker.Call({{"job", "pid"}}, kPlenty);
  EXPECT_THAT(FailureOf(worker, {{"job", "crash"}}), HasSubstr("ended without an answer: last words"));
  EXPECT_NE(worker.Call({{"job", "pid"}}, kPlenty), before);
}

TEST_F(WorkerTest, SurvivesWritingToADeadProcess) {
  Worker worker(script_);
  const pid_t child = worker.Call({{"job", "pid"}}, kPlenty).get<pid_t>();
  kill(child, SIGKILL);
  // Larger than a pipe, so that the write itself meets the closed end.
  EXPECT_THAT(FailureOf(worker, {{"job", "echo"}, {"value", std::string(1'000'000, 'x')}}),
              HasSubstr("ended without an answer"));
  EXPECT_EQ(worker.Call({{"job", "echo"}, {"value", 1}}, kPlenty), 1);
}

TEST_F(WorkerTest, KillsAndRestartsAfterATimeout) {
  Worker worker(script_);
  const pid_t before = worker.Call({{"job", "pid"}}, kPlenty).get<pid_t>();
  for (const char* job : {"sleep", "spin"}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW(worker.Call({{"job", job}, {"seconds", 30}}, milliseconds(300)), WorkerTimeout);
    EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(10));
  }
  EXPECT_EQ(kill(before, 0), -1) << "the timed-out process still lives";
  EXPECT_EQ(worker.Call({{"job", "echo"}, {"value", 1}}, kPlenty), 1);
}

TEST_F(WorkerTest, IgnoresTheInterruptThatItsParentDecidesOn) {
  Worker worker(script_);
  const pid_t child = worker.Call({{"job", "pid"}}, kPlenty).get<pid_t>();
  kill(child, SIGINT);
  EXPECT_EQ(worker.Call({{"job", "pid"}}, kPlenty), child);
}

TEST_F(WorkerTest, LeavesNoProcessBehind) {
  pid_t child = 0;
  {
    Worker worker(script_);
    child = worker.Call({{"job", "pid"}}, kPlenty).get<pid_t>();
  }
  EXPECT_EQ(kill(child, 0), -1);
}

TEST_F(WorkerTest, TwoWorkersDoNotHoldEachOther) {
  auto first = std::make_unique<Worker>(script_);
  Worker second(script_);
  first->Call({{"job", "pid"}}, kPlenty);
  second.Call({{"job", "pid"}}, kPlenty);
  first.reset();
  EXPECT_EQ(second.Call({{"job", "echo"}, {"value", 2}}, kPlenty), 2);
}

TEST_F(WorkerTest, ServesThreadsOneAtATime) {
  Worker worker(script_);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&worker, i] {
      for (int k = 0; k < 20; ++k) EXPECT_EQ(worker.Call({{"job", "echo"}, {"value", i}}, kPlenty), i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(WorkerTest, RefusesTextThatIsNotUtf8) {
  Worker worker(script_);
  EXPECT_THAT(FailureOf(worker, {{"job", "echo"}, {"value", "\xff"}}), HasSubstr("not UTF-8"));
}

TEST_F(WorkerTest, AnAnswerThatIsNotTextOfUtf8IsAnErrorNotACrash) {
  Worker worker(script_);
  EXPECT_THAT(FailureOf(worker, {{"job", "surrogate"}}), HasSubstr("not UTF-8"));
  EXPECT_EQ(worker.Call({{"job", "echo"}, {"value", 1}}, kPlenty), 1);
}

TEST(WorkerWithoutPython, SaysWhatToRun) {
  const char* before = std::getenv("FULLBAND_PYTHON");
  const std::string kept = before ? before : "";
  setenv("FULLBAND_PYTHON", "/nonexistent/python3", 1);
  Worker worker(HomeFolder() / "scripts" / "worker.py");
  try {
    worker.Call({{"job", "render_chat"}}, kPlenty);
    ADD_FAILURE() << "no Error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "/nonexistent/python3: no such Python interpreter (run scripts/setup)");
  }
  before ? setenv("FULLBAND_PYTHON", kept.c_str(), 1) : unsetenv("FULLBAND_PYTHON");
}

}  // namespace
}  // namespace fullband
