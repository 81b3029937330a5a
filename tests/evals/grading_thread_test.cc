// Grading beside the engine: several samples at once where the judge is worth it, each verdict committed,
// none lost or given twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include "common/error.h"
#include "evals/execute.h"
#include "evals/grading.h"
#include "tests/evals/sandbox/usable.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::HasSubstr;

// A store with one run whose items' gold answers are given.
struct GradingThreadTest : testing::Test {
  TempFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder / "a.db", StoreMode::kReadWrite);
  int64_t run_id = 0;
  SessionRecord session;
  std::vector<int64_t> items;

  void Fill(const std::vector<std::string>& golds) {
    RunRecord run;
    run.key = std::string(64, 'a');
    run.identity = "{}";
    run.model_id = store->AddModel({});
    run.suite = "own";
    run.ask = "generate";
    run.format = "completion";
    run.setting = "standard";
    run.headline = "execute";
    run_id = store->AddRun(run);
    std::vector<ItemRecord> records;
    for (size_t i = 0; i < golds.size(); ++i)
      records.push_back({0, "i/" + std::to_string(i), static_cast<int64_t>(i), "prompt", golds[i], 0});
    store->AddItems(run_id, records);
    for (const ItemRecord& item : store->Items(run_id)) items.push_back(item.id);
    ASSERT_TRUE(store->ReplaceLease(run_id, "", {"host", 1, "process", "token", UtcNow()}));
    session.run_id = run_id;
    session.id = store->AddSession(session);
  }
  int64_t Commit(size_t item, const std::string& text) {
    SampleRecord sample;
    sample.item_id = items.at(item);
    sample.text = text;
    sample.stop_reason = "end";
    sample.finished = UtcNow();
    return store->AddSample(sample, "token", session);
  }
  // How often each sample was judged right and wrong.
  std::map<int64_t, std::string> Outcomes() {
    std::map<int64_t, std::string> outcomes;
    for (const GradeRecord& grade : store->Grades(run_id)) {
      EXPECT_FALSE(outcomes.contains(grade.sample_id));
      outcomes[grade.sample_id] = grade.outcome;
    }
    return outcomes;
  }
};

// A judge that notes how many of it run at once.
struct Counting {
  std::atomic<int> now = 0, most = 0, calls = 0;

  Judge Make(int at_once, std::chrono::milliseconds takes) {
    Judge judge{"execute", 1, [this, takes](const SampleRecord& sample, const std::string& gold) {
                  const int running = ++now;
                  for (int seen = most; running > seen && !most.compare_exchange_weak(seen, running);) {
                  }
                  ++calls;
                  std::this_thread::sleep_for(takes);
                  --now;
                  const bool right = sample.text == gold;
                  return Verdict{right ? Outcome::kCorrect : Outcome::kIncorrect, right ? 1.0 : 0.0, "", ""};
                }};
    judge.at_once = at_once;
    return judge;
  }
};

TEST_F(GradingThreadTest, KeepsToAQuarterWhileOthersWorkAndThenTakesAll) {
  Fill(std::vector<std::string>(40, "a"));
  Counting counting;
  GradingThread grading(folder / "a.db", run_id, {counting.Make(8, std::chrono::milliseconds(20))});
  for (size_t i = 0; i < 40; ++i) grading.Push(Commit(i, i % 4 == 0 ? "b" : "a"));
  for (int i = 0; i < 400 && counting.calls < 8; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_LE(counting.most, 2);
  EXPECT_GE(counting.most, 1);
  grading.Finish();
  EXPECT_LE(counting.most, 8);
  EXPECT_GT(counting.most, 2);
  EXPECT_EQ(counting.calls, 40);
  EXPECT_EQ(grading.counted(), 40);
  EXPECT_EQ(grading.correct(), 30);
  const auto outcomes = Outcomes();
  EXPECT_EQ(outcomes.size(), 40u);
  for (const SampleRecord& sample : store->Samples(run_id))
    EXPECT_EQ(outcomes.at(sample.id), sample.text == "a" ? "correct" : "incorrect");
}

TEST_F(GradingThreadTest, JudgesOfTextsTakeTheirSamplesOneByOne) {
  Fill(std::vector<std::string>(10, "a"));
  Counting counting;
  GradingThread grading(folder / "a.db", run_id, {counting.Make(1, std::chrono::milliseconds(2))});
  for (size_t i = 0; i < 10; ++i) grading.Push(Commit(i, "a"));
  grading.Finish();
  EXPECT_EQ(counting.most, 1);
  EXPECT_EQ(grading.correct(), 10);
}

TEST_F(GradingThreadTest, WhatIsLeftInTheQueueIsGradedByTheNextSession) {
  Fill(std::vector<std::string>(30, "a"));
  Counting counting;
  for (size_t i = 0; i < 30; ++i) Commit(i, "a");
  {  // begins with what the run has, and is ended in the middle
    const GradingThread grading(folder / "a.db", run_id, {counting.Make(4, std::chrono::milliseconds(10))});
    while (counting.calls < 4) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const size_t done = Outcomes().size();
  EXPECT_GE(done, 3u);
  EXPECT_LT(done, 30u);
  const int before = counting.calls;
  EXPECT_EQ(done, static_cast<size_t>(before));  // what was begun was finished and committed
  GradingThread grading(folder / "a.db", run_id, {counting.Make(4, std::chrono::milliseconds(1))});
  grading.Finish();
  EXPECT_EQ(Outcomes().size(), 30u);
  EXPECT_EQ(counting.calls - before, static_cast<int>(30 - done));
  EXPECT_EQ(grading.counted(), 30);
}

TEST_F(GradingThreadTest, TroubleWithTheStoreEndsAllAndIsThrown) {
  Fill(std::vector<std::string>(8, "a"));
  Counting counting;
  GradingThread grading(folder / "a.db", run_id, {counting.Make(4, std::chrono::milliseconds(1))});
  grading.Push(4711);  // no such sample
  for (size_t i = 0; i < 8; ++i) grading.Push(Commit(i, "a"));
  EXPECT_THROW(grading.Finish(), Error);
  EXPECT_THROW(grading.Check(), Error);
}

struct GradingPrograms : GradingThreadTest {
  void SetUp() override {
    if (!TheSandbox().sandbox) GTEST_SKIP() << TheSandbox().why;
  }
};

// Right and wrong programs, and such as use up their limits, beside each other: each gets its own verdict.
TEST_F(GradingPrograms, GetTheVerdictsThatTheyGetAlone) {
  const std::string gold =
      R"j({"entry_point": "f", "setup": "", "tests": ["assert f(2) == 4", "assert f(3) == 9"]})j";
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"def f(x):\n    return x * x\n", "passed"},
      {"def f(x):\n    return 4\n", "assertion"},
      {"def f(x):\n    while True: pass\n", "cpu_limit"},
      {"def f(x):\n    return [0] * 10**10\n", "memory_limit"},
      {"import os\nos._exit(0)\n", "exited_early"},
  };
  const size_t count = 20;
  Fill(std::vector<std::string>(count, gold));
  Execution execution;
  execution.cpu_seconds = 1;
  GradingOptions options;
  options.workers = 4;
  GradingThread grading(folder / "a.db", run_id, {ExecuteJudge(execution, options, "the test")});
  std::map<int64_t, std::string> expected;
  for (size_t i = 0; i < count; ++i) {
    const auto& [text, detail] = kinds[i % kinds.size()];
    const int64_t id = Commit(i, text);
    expected[id] = detail;
    grading.Push(id);
  }
  grading.Finish();
  std::map<int64_t, std::string> details;
  for (const GradeRecord& grade : store->Grades(run_id)) details[grade.sample_id] = grade.detail;
  EXPECT_EQ(details, expected);
  EXPECT_EQ(grading.counted(), static_cast<int64_t>(count));
  EXPECT_EQ(grading.correct(), 4);
}

}  // namespace
}  // namespace fullband
