// The runner on the toy backend: nothing is asked twice, and what is stored depends on nothing but the run's
// key.
#include "evals/runner.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include "common/error.h"
#include "evals/requests.h"
#include "evals/store/store.h"
#include "tests/evals/toy_run.h"
#include "tests/support/small_mount.h"
#include "tests/support/temp_folder.h"
#include "tests/tasks/own_suite.h"
#include "tests/tasks/tiny_tokenizer.h"

namespace fullband {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

struct RunnerTest : testing::Test {
  TempFolder folder;
  ToyRun run{folder / "a.db"};
  std::vector<ItemSample> asked;

  void SetUp() override {
    run.options.on_ask = [this](const std::string& item, int sample) { asked.emplace_back(item, sample); };
  }
  std::unique_ptr<Store> Open() { return OpenStore(folder / "a.db", StoreMode::kReadOnly); }
  // What an undisturbed run of the same leaves.
  std::map<std::string, std::string> Undisturbed(const Task& task) {
    ToyRun other = run;
    other.options.store = folder / "undisturbed.db";
    other.options.on_ask = nullptr;
    other.options.stop = nullptr;
    other.Run(task);
    return Content(other.options.store);
  }
};

TEST_F(RunnerTest, CommitsAndGradesEveryItem) {
  const RunResult result = run.Run(ToyTask(11));
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.summary.samples, 11);
  EXPECT_EQ(result.summary.faults, 0);
  const auto store = Open();
  const auto samples = store->Samples(result.run.id, true);
  ASSERT_THAT(samples, SizeIs(11));
  for (const SampleRecord& sample : samples) {
    EXPECT_EQ(sample.generated_tokens, 9);
    EXPECT_EQ(sample.stop_reason, "length");
    EXPECT_THAT(sample.tokens, SizeIs(9));
    EXPECT_THAT(sample.logprobs, SizeIs(9));
    EXPECT_THAT(sample.runner_ups, SizeIs(9));
    EXPECT_EQ(sample.prefill_forwards + sample.saved_forwards, 2 * sample.prompt_tokens);
    EXPECT_EQ(sample.content_sha256, ContentSha256(sample));
  }
  EXPECT_THAT(store->Grades(result.run.id), SizeIs(22));
  EXPECT_EQ(result.summary.truncated, 11);
  EXPECT_EQ(result.summary.tokens, 99);
  EXPECT_FALSE(store->Lease(result.run.id).has_value());
  const auto sessions = store->Sessions(result.run.id);
  ASSERT_THAT(sessions, SizeIs(1));
  EXPECT_EQ(sessions[0].samples, 11);
  EXPECT_GT(sessions[0].peak_memory_bytes, 1 << 20);
  EXPECT_GE(sessions[0].threads, 1);
}

TEST_F(RunnerTest, AFinishedRunAsksNothing) {
  run.Run(ToyTask(5));
  const auto content = Content(folder / "a.db");
  asked.clear();
  const RunResult again = run.Run(ToyTask(5));
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(again.summary.samples, 5);
  EXPECT_EQ(Content(folder / "a.db"), content);
}

TEST_F(RunnerTest, StopsEarlyAndGoesOnWithoutAskingTwice) {
  const Task task = ToyTask(40);
  std::atomic<bool> stop = false;
  run.options.stop = &stop;
  run.options.on_ask = [&](const std::string& item, int sample) {
    asked.emplace_back(item, sample);
    if (asked.size() % 17 == 0) stop = true;
  };
  int stops = 0;
  for (bool stopped = true; stopped; stops += stopped) {
    std::set<ItemSample> before;
    if (stops > 0) before = Open()->Committed(1);
    const size_t first = asked.size();
    stop = false;
    stopped = run.Run(task).stopped;
    for (size_t i = first; i < asked.size(); ++i) EXPECT_FALSE(before.contains(asked[i])) << asked[i].first;
    ASSERT_LT(stops, 40);
  }
  EXPECT_GT(stops, 1);
  EXPECT_EQ(Content(folder / "a.db"), Undisturbed(task));
  EXPECT_THAT(Open()->Sessions(1), SizeIs(stops + 1));
}

TEST_F(RunnerTest, NothingStoredDependsOnSchedulingOrOrder) {
  const Task task = ToyTask(12);
  const Task choices = ToyChoices(7);
  std::set<std::map<std::string, std::string>> contents;
  int count = 0;
  for (const int batch : {1, 3, 16}) {
    for (const int chunk : {2, 64}) {
      for (const std::optional<uint64_t> shuffle : {std::optional<uint64_t>(), std::optional<uint64_t>(7)}) {
        ToyRun one(folder / std::to_string(++count));
        one.options.engine.batch = batch;
        one.options.engine.chunk = chunk;
        one.options.shuffle = shuffle;
        one.sampling.temperature = 0.8;
        one.sampling.seed = 3;
        one.options.samples = 2;
        one.Run(task);
        one.Run(choices);
        contents.insert(Content(one.options.store));
      }
    }
  }
  EXPECT_THAT(contents, SizeIs(1));
  EXPECT_THAT(*contents.begin(), SizeIs(12 * 2 + 7));
}

TEST_F(RunnerTest, ShuffleChangesTheOrderOnly) {
  run.Run(ToyTask(12));
  const auto plain = asked;
  asked.clear();
  ToyRun other = run;
  other.options.store = folder / "b.db";
  other.options.shuffle = 1;
  other.Run(ToyTask(12));
  EXPECT_NE(asked, plain);
  EXPECT_THAT(asked, testing::UnorderedElementsAreArray(plain));
}

// By the traces of another setting; a shuffle stays what was asked for.
TEST_F(RunnerTest, WhatTookLongElsewhereIsAskedFirst) {
  run.backend.end_tokens = {3};
  Task task = ToyTask(30);
  task.max_new_tokens = 60;
  run.setting = "standard";
  run.Run(task);
  std::map<std::string, int64_t> lengths;
  for (const SampleRecord& sample : Open()->Samples(1)) lengths[sample.item] = sample.generated_tokens;
  for (const bool shuffled : {false, true}) {
    asked.clear();
    run.setting = shuffled ? "latent@3" : "latent@2";
    if (shuffled) run.options.shuffle = 1;
    run.Run(task);
    std::vector<int64_t> order;
    for (const auto& [item, sample] : asked) order.push_back(lengths.at(item));
    ASSERT_GT(std::set<int64_t>(order.begin(), order.end()).size(), 5u);
    EXPECT_EQ(std::is_sorted(order.rbegin(), order.rend()), !shuffled);
  }
}

TEST_F(RunnerTest, ALimitIsExtended) {
  const Task whole = ToyTask(9);
  Task part = whole;
  part.questions.resize(4);
  EXPECT_EQ(run.Run(part).summary.samples, 4);
  asked.clear();
  EXPECT_EQ(run.Run(whole).summary.samples, 9);
  EXPECT_THAT(asked, SizeIs(5));
  EXPECT_EQ(Content(folder / "a.db"), Undisturbed(whole));
  // And the smaller limit again speaks of its own items.
  EXPECT_EQ(run.Run(part).summary.samples, 4);
}

TEST_F(RunnerTest, MoreSamplesAreAddedToThoseThere) {
  run.sampling.temperature = 1;
  run.options.samples = 2;
  run.Run(ToyTask(4));
  run.options.samples = 5;
  asked.clear();
  run.Run(ToyTask(4));
  EXPECT_THAT(asked, SizeIs(4 * 3));
  EXPECT_EQ(Content(folder / "a.db"), Undisturbed(ToyTask(4)));
  std::set<std::vector<int32_t>> traces;
  for (const SampleRecord& sample : Open()->Samples(1, true)) traces.insert(sample.tokens);
  EXPECT_GT(traces.size(), 10u);  // draws differ from sample to sample
}

TEST_F(RunnerTest, WhatWasCommittedAndNotGradedIsGradedLater) {
  const Task task = ToyTask(6);
  run.Run(task);
  const auto content = Content(folder / "a.db");
  SQLite::Database(folder / "a.db", SQLite::OPEN_READWRITE)
      .exec("DELETE FROM grades WHERE sample_id % 2 = 0 OR grader = 'number' AND sample_id < 4");
  ASSERT_NE(Content(folder / "a.db"), content);
  asked.clear();
  run.Run(task);
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(Content(folder / "a.db"), content);
}

TEST_F(RunnerTest, FaultsAreStoredWithTheirReasonAndNeverCountAsWrong) {
  Task task = ToyTask(6);
  task.questions[1].fault = "the question does not fit the context";
  task.questions[2].prompt = {0, 15, 0};    // the poisoned token
  task.questions[3].prompt.assign(300, 1);  // longer than the context
  task.questions[4].prompt = {99};          // no such token
  for (Question& question : task.questions)
    if (question.prompt.size() != 3)
      for (int32_t& token : question.prompt) token = token == 15 ? 14 : token;
  run.backend.poison = 15;
  task.max_new_tokens = 1;
  const RunResult result = run.Run(task);
  EXPECT_EQ(result.summary.samples, 6);
  EXPECT_EQ(result.summary.faults, 4);
  std::vector<std::string> faults;
  for (const SampleRecord& sample : Open()->Samples(1)) faults.push_back(sample.fault);
  EXPECT_EQ(faults[0], "");
  EXPECT_EQ(faults[1], "the question does not fit the context");
  EXPECT_THAT(faults[2], HasSubstr("finite"));
  EXPECT_THAT(faults[3], HasSubstr("300"));
  EXPECT_THAT(faults[4], HasSubstr("99"));
  int grades = 0;
  for (const GradeRecord& grade : Open()->Grades(1)) {
    grades += grade.outcome == "fault";
    EXPECT_EQ(grade.detail == "not_answered", grade.outcome == "fault");
  }
  EXPECT_EQ(grades, 4 * 2);
  for (const ItemSample& one : asked) EXPECT_NE(one.first, "toy/1");
}

TEST_F(RunnerTest, ChoicesKeepTheirSumsAndCounts) {
  const Task task = ToyChoices(8);
  run.setting = "parallel@2";
  const RunResult result = run.Run(task);
  EXPECT_EQ(result.summary.samples, 8);
  const auto samples = Open()->Samples(1, true);
  ASSERT_THAT(samples, SizeIs(8));
  for (size_t i = 0; i < samples.size(); ++i) {
    ASSERT_THAT(samples[i].choices, SizeIs(3));
    for (size_t c = 0; c < 3; ++c) {
      const ChoiceRecord& choice = samples[i].choices[c];
      double sum = 0;
      for (const float logprob : choice.logprobs) sum += logprob;
      EXPECT_EQ(choice.logprob, sum);
      EXPECT_LT(choice.logprob, 0);
      EXPECT_EQ(choice.gold, c == i % 3);
      EXPECT_EQ(choice.text, task.questions[i].choices[c].text);
      EXPECT_EQ(choice.tokens, static_cast<int>(task.questions[i].choices[c].continuation.size()));
    }
  }
  EXPECT_THAT(Open()->Grades(1), SizeIs(16));
  EXPECT_EQ(Open()->Runs().at(0).headline, "acc");
}

// The engine's answers belong to the right choice whatever the order in which they come.
TEST_F(RunnerTest, ChoicesAreWhatTheEngineSaysOfEachAlone) {
  const Task task = ToyChoices(5);
  run.options.engine.batch = 16;
  run.Run(task);
  Engine engine(std::make_unique<ToyBackend>(run.backend), nullptr, run.options.engine);
  const auto samples = Open()->Samples(1, true);
  for (size_t i = 0; i < samples.size(); ++i) {
    for (size_t c = 0; c < 3; ++c) {
      ScoreRequest request;
      request.context = task.questions[i].choices[c].context;
      request.continuation = task.questions[i].choices[c].continuation;
      request.setting = Setting::Parse(run.setting);
      engine.Submit(request);
      EXPECT_EQ(samples[i].choices[c].logprobs, engine.Next()->logprobs);
    }
  }
}

// Suites of a user's own, by path, of each kind of choice: asked, stored and graded.
TEST_F(RunnerTest, EveryKindOfChoiceIsAskedAndGraded) {
  const OwnSuite own;
  const TempFolder tokenizer_folder;
  const auto tokenizer = TinyTokenizer(tokenizer_folder.path());
  run.backend.vocab_size = 258;
  run.backend.max_positions = 1024;
  const struct {
    const char* file;
    int shots;
    size_t items, choices, graders;
  } cases[] = {{"own_choice.toml", 1, 2, 0, 2},
               {"own_schema.toml", 1, 2, 2, 1},
               {"own_parts.toml", 2, 4, 4, 1},
               {"own_continuation.toml", 0, 2, 1, 1}};
  for (const auto& one : cases) {
    const Task task = BuildTask(LoadSuite(own.Path(one.file)), {}, *tokenizer, nullptr);
    const RunResult result = run.Run(task);
    EXPECT_EQ(result.run.shots, one.shots) << one.file;
    EXPECT_EQ(result.summary.faults, 0) << one.file;
    const auto samples = Open()->Samples(result.run.id, true);
    ASSERT_THAT(samples, SizeIs(one.items)) << one.file;
    EXPECT_THAT(Open()->Grades(result.run.id), SizeIs(one.items * one.graders)) << one.file;
    for (size_t i = 0; i < samples.size(); ++i) {
      const Question& question = task.questions[i];
      ASSERT_THAT(samples[i].choices, SizeIs(question.choices.size()));
      if (one.choices > 0) {
        EXPECT_THAT(samples[i].choices, SizeIs(one.choices)) << one.file;
      }
      for (size_t c = 0; c < question.choices.size(); ++c) {
        EXPECT_EQ(samples[i].choices[c].text, question.choices[c].text);
        EXPECT_EQ(samples[i].choices[c].gold, static_cast<int>(c) == question.gold_choice);
        EXPECT_THAT(samples[i].choices[c].logprobs, SizeIs(question.choices[c].continuation.size()));
      }
    }
  }
}

TEST_F(RunnerTest, ARunThatIsHeldIsLeftAlone) {
  run.Run(ToyTask(3));
  {
    const Lease held(folder / "a.db", 1, "this run");
    try {
      run.Run(ToyTask(3));
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("is working on it"));
      EXPECT_THAT(error.what(), HasSubstr("toy latent@2"));
    }
    run.setting = "standard";  // another run goes on beside it
    EXPECT_EQ(run.Run(ToyTask(3)).summary.samples, 3);
  }
  run.setting = "latent@2";
  run.Run(ToyTask(4));
}

TEST_F(RunnerTest, AHolderWhoseRunWasTakenOverCommitsNothingMore) {
  run.options.on_ask = [&](const std::string& item, int) {
    if (item != "toy/20") return;
    const auto store = OpenStore(folder / "a.db", StoreMode::kReadWrite);
    LeaseRecord thief = ThisProcess();
    ASSERT_TRUE(store->ReplaceLease(1, store->Lease(1)->token, thief));
  };
  try {
    run.Run(ToyTask(40));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("taken over"));
  }
  EXPECT_LT(Open()->Samples(1).size(), 21u);
  EXPECT_TRUE(Open()->Lease(1).has_value());  // and leaves the other's lease in place
}

TEST_F(RunnerTest, AChangedPromptUnderTheSameKeyIsRefused) {
  Task task = ToyTask(3);
  run.Run(task);
  task.questions[1].prompt_text += " changed";
  EXPECT_THROW(run.Run(task), Error);
}

// Groups only describe: a suite that comes to name some later says them of the items that are there.
TEST_F(RunnerTest, GroupsAreKeptAndMayChangeWithoutAskingAgain) {
  Task task = ToyTask(3);
  const std::string key = run.Run(task).run.key;
  const auto groups = [&] {
    std::vector<std::string> all;
    for (const ItemRecord& item : Open()->Items(1)) all.push_back(item.groups);
    return all;
  };
  EXPECT_THAT(groups(), testing::ElementsAre("{}", "{}", "{}"));
  asked.clear();
  const auto before = Content(folder / "a.db");
  for (Question& question : task.questions) question.groups = R"({"of":")" + question.item + R"("})";
  EXPECT_EQ(run.Run(task).run.key, key);
  EXPECT_THAT(groups(), testing::ElementsAre(R"({"of":"toy/0"})", R"({"of":"toy/1"})", R"({"of":"toy/2"})"));
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(Content(folder / "a.db"), before);
}

TEST(RunnerOnAFullDisk, EndsWithOneClearErrorAndGoesOnLater) {
  SmallMount disk("640k");
  if (!disk.ok()) GTEST_SKIP() << "mounting needs root";
  Task task = ToyTask(200);
  for (Question& question : task.questions) question.prompt_text.append(2000, 'p');
  task.max_new_tokens = 60;
  ToyRun run(disk.path() / "a.db");
  try {
    run.Run(task);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("disk is full"));
  }
  ASSERT_TRUE(disk.Resize("32m"));
  EXPECT_EQ(run.Run(task).summary.samples, 200);
  TempFolder folder;
  ToyRun undisturbed(folder / "a.db");
  undisturbed.Run(task);
  EXPECT_EQ(Content(disk.path() / "a.db"), Content(folder / "a.db"));
}

TEST(ItemKey, IsTheIdsHash) {
  // sha256("abc") = ba7816bf 8f01cfea ...
  EXPECT_EQ(ItemKey("abc"), 0xba7816bf8f01cfeaull);
}

}  // namespace
}  // namespace fullband
