#include "evals/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "common/error.h"
#include "tests/support/small_mount.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RunRecord SomeRun(int64_t model_id, const std::string& key) {
  RunRecord run;
  run.key = key;
  run.identity = "{}";
  run.model_id = model_id;
  run.suite = "mini";
  run.ask = "generate";
  run.format = "completion";
  run.setting = "latent@2";
  run.seed = std::numeric_limits<uint64_t>::max();
  run.headline = "number";
  run.items_total = 3;
  return run;
}

SampleRecord SomeSample(int64_t item_id, int sample) {
  SampleRecord record;
  record.item_id = item_id;
  record.sample = sample;
  record.text = std::string("a\0b", 3);
  record.stop_reason = "stop_string";
  record.tokens = {5, 6, 7};
  record.text_ends = {1, 2, 3};
  record.runner_ups = {0, 1, 2};
  record.logprobs = {-0.25f, -1.0f, -3e-8f};
  record.runner_up_logprobs = {-2.0f, -1.5f, -17.0f};
  record.prompt_tokens = 10;
  record.generated_tokens = 3;
  record.trace_tokens = 2;
  record.prefill_forwards = 20;
  record.saved_forwards = 4;
  record.decode_forwards = 3;
  record.min_state_rms = 0.5;
  record.max_state_rms = 2;
  record.queue_seconds = 0.125;
  record.prefill_seconds = 1;
  record.decode_seconds = 2;
  return record;
}

struct StoreTest : testing::Test {
  TempFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder / "a.db", StoreMode::kReadWrite);
  int64_t model_id = store->AddModel({});
  int64_t run_id = store->AddRun(SomeRun(model_id, std::string(64, 'a')));
  SessionRecord session;

  void SetUp() override {
    store->AddItems(run_id, {{0, "i/0", 0, "p0", "g0", 0}, {0, "i/1", 1, "p1", "g1", 2}});
    ASSERT_TRUE(store->ReplaceLease(run_id, "", {"host", 1, "process", "token", UtcNow()}));
    session.run_id = run_id;
    session.id = store->AddSession(session);
  }
  int64_t Item(int index) { return store->Items(run_id).at(index).id; }
  int64_t Commit(const SampleRecord& sample) { return store->AddSample(sample, "token", session); }
};

TEST_F(StoreTest, ModelsAreToldApartByWeightsAndConfiguration) {
  ModelRecord model;
  model.weights_sha256 = "w";
  model.config = "c1";
  const int64_t first = store->AddModel(model);
  EXPECT_EQ(store->AddModel(model), first);
  model.config = "c2";
  EXPECT_NE(store->AddModel(model), first);
}

TEST_F(StoreTest, RunsAreFoundByAUniquePrefix) {
  store->AddRun(SomeRun(model_id, "ab" + std::string(62, '0')));
  EXPECT_EQ(store->AddRun(SomeRun(model_id, std::string(64, 'a'))), run_id);
  EXPECT_EQ(store->FindRun("aa").id, run_id);
  EXPECT_EQ(store->FindRun("aa").seed, std::numeric_limits<uint64_t>::max());
  for (const std::string prefix : {"a", "b", ""}) {
    try {
      store->FindRun(prefix);
      ADD_FAILURE() << prefix;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
    }
  }
}

TEST_F(StoreTest, ItemsAreAddedOnceAndNeverChanged) {
  store->AddItems(run_id, {{0, "i/1", 1, "p1", "g1", 2}, {0, "i/2", 2, "p2", "g2", 0}});
  EXPECT_EQ(store->Items(run_id).size(), 3u);
  EXPECT_THROW(store->AddItems(run_id, {{0, "i/3", 3, "p3", "g3", 0}, {0, "i/1", 1, "other", "g1", 2}}),
               Error);
  EXPECT_EQ(store->Items(run_id).size(), 3u);  // nothing of the refused call stays
}

TEST_F(StoreTest, ItemsTakeOverNewGroups) {
  const auto groups = [&](int index) { return store->Items(run_id).at(index).groups; };
  EXPECT_EQ(groups(0), "{}");
  store->AddItems(run_id,
                  {{0, "i/1", 1, "p1", "g1", 2, R"({"k":1})"}, {0, "i/2", 2, "p2", "g2", 0, R"({"k":2})"}});
  EXPECT_EQ(groups(0), "{}");
  EXPECT_EQ(groups(1), R"({"k":1})");
  EXPECT_EQ(groups(2), R"({"k":2})");
  // Of this run only.
  const int64_t other = store->AddRun(SomeRun(model_id, std::string(64, 'b')));
  for (const char* later : {"{}", R"({"k":7})"})
    store->AddItems(other, {{0, "i/1", 1, "p1", "g1", 2, later}});
  EXPECT_EQ(store->Items(other).at(0).groups, R"({"k":7})");
  EXPECT_EQ(groups(1), R"({"k":1})");
  // A refused call leaves them.
  EXPECT_THROW(store->AddItems(run_id, {{0, "i/1", 1, "p1", "g1", 2, "{}"}, {0, "i/2", 2, "p2", "other", 0}}),
               Error);
  EXPECT_EQ(groups(1), R"({"k":1})");
}

TEST_F(StoreTest, ASampleComesBackWhole) {
  SampleRecord sample = SomeSample(Item(0), 0);
  sample.choices = {{" yes", 1, 3, 3, -1.5, {-1.5f}, true, false},
                    {" no", 2, 2, 2, -INFINITY, {-1.0f, -INFINITY}, false, true}};
  const int64_t id = Commit(sample);
  const auto [read, gold] = store->SampleWithGold(id);
  EXPECT_EQ(gold, "g0");
  EXPECT_EQ(read.item, "i/0");
  EXPECT_EQ(read.text, sample.text);
  EXPECT_EQ(read.tokens, sample.tokens);
  EXPECT_EQ(read.text_ends, sample.text_ends);
  EXPECT_EQ(read.runner_ups, sample.runner_ups);
  EXPECT_EQ(read.logprobs, sample.logprobs);
  EXPECT_EQ(read.runner_up_logprobs, sample.runner_up_logprobs);
  EXPECT_EQ(read.prefill_forwards, 20);
  EXPECT_EQ(read.saved_forwards, 4);
  EXPECT_EQ(read.trace_tokens, 2);
  EXPECT_EQ(read.max_state_rms, 2);
  EXPECT_EQ(read.queue_seconds, 0.125);
  ASSERT_EQ(read.choices.size(), 2u);
  EXPECT_EQ(read.choices[1].text, " no");
  EXPECT_EQ(read.choices[1].logprob, -INFINITY);
  EXPECT_EQ(read.choices[1].logprobs, sample.choices[1].logprobs);
  EXPECT_TRUE(read.choices[1].gold);
  EXPECT_TRUE(read.choices[0].greedy);
  EXPECT_EQ(read.content_sha256, ContentSha256(read));
  EXPECT_FALSE(read.finished.empty());
  EXPECT_EQ(store->Sessions(run_id).at(0).samples, 1);
}

TEST_F(StoreTest, ASampleIsCommittedOnceOnly) {
  Commit(SomeSample(Item(0), 0));
  EXPECT_THROW(Commit(SomeSample(Item(0), 0)), Error);
  Commit(SomeSample(Item(0), 1));
  EXPECT_THAT(store->Committed(run_id), ElementsAre(std::pair("i/0", 0), std::pair("i/0", 1)));
  EXPECT_EQ(store->Sessions(run_id).at(0).samples, 2);
}

TEST_F(StoreTest, OnlyTheHolderCommits) {
  EXPECT_THROW(store->AddSample(SomeSample(Item(0), 0), "other", session), Error);
  ASSERT_TRUE(store->ReplaceLease(run_id, "token", {"host", 2, "process", "new", UtcNow()}));
  EXPECT_THROW(Commit(SomeSample(Item(0), 0)), Error);
  EXPECT_TRUE(store->Samples(run_id).empty());
}

TEST_F(StoreTest, WhatIsWrittenTogetherIsCommittedWholeOrNotAtAll) {
  const auto other = OpenStore(folder / "a.db", StoreMode::kReadWrite);
  const int64_t item = store->Items(run_id)[0].id;
  const auto body = [&](bool fails) {
    return [this, &other, item, fails] {
      store->AddRun(SomeRun(model_id, std::string(64, 'b')));
      store->AddSample(SomeSample(item, 0), "token", session);
      EXPECT_EQ(store->Runs().size(), 2u);
      EXPECT_EQ(other->Runs().size(), 1u);                                 // not yet committed
      if (fails) store->AddSample(SomeSample(item, 0), "token", session);  // there already
    };
  };
  EXPECT_THROW(store->Together(body(true)), Error);
  EXPECT_EQ(store->Runs().size(), 1u);
  EXPECT_TRUE(store->Committed(run_id).empty());
  EXPECT_EQ(store->Sessions(run_id)[0].samples, 0);
  store->Together(body(false));
  EXPECT_EQ(other->Runs().size(), 2u);
  EXPECT_EQ(other->Committed(run_id).size(), 1u);
  EXPECT_EQ(store->AddModel({}), model_id);  // a transaction of its own again
}

TEST_F(StoreTest, SamplesComeInDataOrder) {
  Commit(SomeSample(Item(1), 0));
  Commit(SomeSample(Item(0), 1));
  Commit(SomeSample(Item(0), 0));
  std::vector<std::string> order;
  for (const SampleRecord& sample : store->Samples(run_id)) {
    order.push_back(sample.item + ":" + std::to_string(sample.sample));
    EXPECT_TRUE(sample.tokens.empty());
  }
  EXPECT_THAT(order, ElementsAre("i/0:0", "i/0:1", "i/1:0"));
  EXPECT_EQ(store->Samples(run_id, true).at(0).tokens.size(), 3u);
}

TEST_F(StoreTest, TheNewestGradeCountsAndTheOldStays) {
  const int64_t first = Commit(SomeSample(Item(0), 0));
  const int64_t second = Commit(SomeSample(Item(1), 0));
  store->AddGrades({{first, "number", 1, "incorrect", 0, "1", ""}});
  EXPECT_THAT(store->Ungraded(run_id, "number", 1), ElementsAre(second));
  EXPECT_THAT(store->Ungraded(run_id, "number", 2), ElementsAre(first, second));
  store->AddGrades(
      {{first, "number", 2, "correct", 1, "1", "why"}, {first, "number", 1, "no_answer", 0, "", ""}});
  const auto grades = store->Grades(run_id);
  ASSERT_EQ(grades.size(), 1u);
  EXPECT_EQ(grades[0].version, 2);
  EXPECT_EQ(grades[0].outcome, "correct");
  EXPECT_EQ(grades[0].detail, "why");
}

TEST_F(StoreTest, LeasesGoFromTokenToToken) {
  EXPECT_FALSE(store->ReplaceLease(run_id, "", {"h", 2, "p", "b", UtcNow()}));
  EXPECT_FALSE(store->ReplaceLease(run_id, "wrong", {"h", 2, "p", "b", UtcNow()}));
  EXPECT_TRUE(store->ReplaceLease(run_id, "token", {"h", 2, "p", "b", "then"}));
  EXPECT_EQ(store->Lease(run_id)->pid, 2);
  EXPECT_FALSE(store->Heartbeat(run_id, "token"));
  EXPECT_TRUE(store->Heartbeat(run_id, "b"));
  EXPECT_NE(store->Lease(run_id)->heartbeat, "then");
  store->ReleaseLease(run_id, "token");
  EXPECT_TRUE(store->Lease(run_id).has_value());
  store->ReleaseLease(run_id, "b");
  EXPECT_FALSE(store->Lease(run_id).has_value());
}

TEST_F(StoreTest, CommittedSamplesSurviveKill) {
  const int64_t item = Item(0);
  store.reset();  // SQLite's connections must not be forked
  const pid_t child = fork();
  if (child == 0) {
    auto own = OpenStore(folder / "a.db", StoreMode::kReadWrite);
    for (int i = 0; i < 5; ++i) own->AddSample(SomeSample(item, i), "token", session);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  store = OpenStore(folder / "a.db", StoreMode::kReadWrite);
  EXPECT_EQ(store->Samples(run_id).size(), 5u);
}

TEST(ContentHash, CoversAllButTimesAndSavings) {
  const std::function<void(SampleRecord&)> changes[] = {
      [](SampleRecord& s) { s.sample = 1; },
      [](SampleRecord& s) { s.fault = "f"; },
      [](SampleRecord& s) { s.text += "x"; },
      [](SampleRecord& s) { s.stop_reason = "end"; },
      [](SampleRecord& s) { s.tokens[1] = 9; },
      [](SampleRecord& s) { s.text_ends[0] = 0; },
      [](SampleRecord& s) { s.runner_ups[0] = 9; },
      [](SampleRecord& s) { s.logprobs[2] = std::nextafter(s.logprobs[2], 0.0f); },
      [](SampleRecord& s) { s.runner_up_logprobs[2] = 0; },
      [](SampleRecord& s) { ++s.prompt_tokens; },
      [](SampleRecord& s) { ++s.generated_tokens; },
      [](SampleRecord& s) { ++s.trace_tokens; },
      [](SampleRecord& s) { ++s.prefill_forwards; },
      [](SampleRecord& s) { ++s.decode_forwards; },
      [](SampleRecord& s) { s.min_state_rms = 0.6; },
      [](SampleRecord& s) { s.max_state_rms = 3; },
      [](SampleRecord& s) { s.choices.push_back({}); },
      [](SampleRecord& s) {
        s.choices = {{" a", 1, 1, 1, -1, {-1}, false, true}};
      },
  };
  const std::string plain = ContentSha256(SomeSample(1, 0));
  std::set<std::string> all = {plain};
  for (const auto& change : changes) {
    SampleRecord sample = SomeSample(1, 0);
    change(sample);
    all.insert(ContentSha256(sample));
  }
  EXPECT_EQ(all.size(), std::size(changes) + 1);

  SampleRecord same = SomeSample(2, 0);
  same.id = 9;
  same.item = "x";
  same.prefill_forwards += same.saved_forwards;  // run instead of saved
  same.saved_forwards = 0;
  same.queue_seconds = same.prefill_seconds = same.decode_seconds = 7;
  same.finished = "then";
  EXPECT_EQ(ContentSha256(same), plain);
}

TEST(FullDisk, LeavesTheStoreWholeAndGoesOnWithMoreRoom) {
  SmallMount disk("512k");
  if (!disk.ok()) GTEST_SKIP() << "mounting needs root";
  auto store = OpenStore(disk.path() / "a.db", StoreMode::kReadWrite);
  const int64_t run_id = store->AddRun(SomeRun(store->AddModel({}), std::string(64, 'a')));
  store->AddItems(run_id, {{0, "i/0", 0, "p0", "g0", 0}});
  ASSERT_TRUE(store->ReplaceLease(run_id, "", {"host", 1, "process", "token", UtcNow()}));
  SessionRecord session;
  session.run_id = run_id;
  session.id = store->AddSession(session);
  SampleRecord sample = SomeSample(store->Items(run_id).at(0).id, 0);
  sample.text = std::string(20000, 't');
  std::string message;
  while (message.empty() && sample.sample < 1000) {
    try {
      store->AddSample(sample, "token", session);
      ++sample.sample;
    } catch (const Error& error) {
      message = error.what();
    }
  }
  EXPECT_THAT(message, HasSubstr("disk is full"));
  EXPECT_GT(sample.sample, 3);
  ASSERT_TRUE(disk.Resize("4m"));
  store->AddSample(sample, "token", session);
  store = OpenStore(disk.path() / "a.db", StoreMode::kReadWrite);
  EXPECT_EQ(store->Samples(run_id).size(), static_cast<size_t>(sample.sample) + 1);
}

}  // namespace
}  // namespace fullband
