#include "tasks/fewshot.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/error.h"
#include "tasks/task_data.h"
#include "tests/tasks/own_suite.h"

namespace fullband {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Questions(size_t count) {
  std::vector<std::string> questions;
  for (size_t i = 0; i < count; ++i) questions.push_back(fmt::format("q{}", i));
  return questions;
}

std::vector<std::string> Ids(const std::vector<Item>& items) {
  std::vector<std::string> ids;
  for (const Item& item : items) ids.push_back(item.id);
  return ids;
}

TEST(Shots, QuestionsAreComparedWithoutSpacingAndCase) {
  EXPECT_EQ(NormalisedQuestion("  What is\t\n 2+2?  "), "what is 2+2?");
  EXPECT_EQ(NormalisedQuestion(""), "");
  EXPECT_NE(NormalisedQuestion("2+2?"), NormalisedQuestion("2+3?"));
}

// The draw is part of runs' identity: it must be these rows for ever, on every platform.
TEST(Shots, TheDrawIsPinned) {
  EXPECT_THAT(DrawShots(Questions(100), {}, 0, 5), ElementsAre(47, 18, 58, 1, 43));
  EXPECT_THAT(DrawShots(Questions(100), {}, 1234, 5), ElementsAre(30, 92, 66, 31, 77));
}

TEST(Shots, FewerShotsBeginTheDrawOfMore) {
  const std::vector<size_t> many = DrawShots(Questions(50), {}, 7, 20);
  EXPECT_EQ(std::set<size_t>(many.begin(), many.end()).size(), 20u);
  for (size_t count = 0; count < 20; ++count)
    EXPECT_EQ(DrawShots(Questions(50), {}, 7, count),
              std::vector<size_t>(many.begin(), many.begin() + count));
}

TEST(Shots, EverySeedDrawsOthersAndEveryRowComesUp) {
  std::set<std::vector<size_t>> draws;
  std::vector<int> times(10, 0);
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const std::vector<size_t> drawn = DrawShots(Questions(10), {}, seed, 3);
    draws.insert(drawn);
    for (const size_t row : drawn) ++times[row];
  }
  EXPECT_GT(draws.size(), 500u);                              // of 720 possible
  for (const int count : times) EXPECT_NEAR(count, 300, 75);  // five standard deviations
}

TEST(Shots, ExcludedAndRepeatedQuestionsArePassedOver) {
  EXPECT_THAT(DrawShots({"a", "b", "a", "c", "a"}, {"b"}, 3, 5), ::testing::SizeIs(2));
  const std::vector<size_t> all = DrawShots(Questions(20), {}, 5, 20);
  const std::vector<size_t> less = DrawShots(Questions(20), {fmt::format("q{}", all[0])}, 5, 19);
  EXPECT_EQ(less, std::vector<size_t>(all.begin() + 1, all.end()));
}

// A suite without a file of shots never asks what it shows, whatever the seed.
TEST(Shots, OfOwnItemsAreNotAsked) {
  const OwnSuite own;
  std::string lines;
  for (int i = 0; i < 20; ++i)
    lines += R"({"query": "Item )" + std::to_string(i) + R"(?", "choices": ["x", "y"], "gold": 0})" + "\n";
  own.Write("own_choice.jsonl", lines);
  const Suite suite = own.Load("own_choice.toml");
  for (uint64_t seed = 0; seed < 100; ++seed) {
    TaskOptions options;
    options.shots = 2;
    options.fewshot_seed = seed;
    const TaskData data = LoadTaskData(suite, options);
    ASSERT_EQ(data.shots.size(), 2u);
    ASSERT_EQ(data.items.size(), 18u);
    for (const Item& item : data.items)
      for (const Item& shot : data.shots) EXPECT_NE(item.id, shot.id);
  }
}

TEST(Shots, ATwinOfAnAskedQuestionIsNoShot) {
  const OwnSuite own;
  own.Write("own_shots.jsonl",
            "{\"id\": \"val-3\", \"question\": \" 1+1?  \", \"answer\": \"#### 2\"}\n"
            "{\"id\": \"val-4\", \"question\": \"9+9?\", \"answer\": \"#### 18\"}\n");
  TaskOptions options;
  options.shots = 1;
  for (options.fewshot_seed = 0; options.fewshot_seed < 20; ++options.fewshot_seed)
    EXPECT_THAT(Ids(LoadTaskData(own.Load(), options).shots), ElementsAre("val-4"));
  own.Write("own_choice.jsonl",
            "{\"query\": \"Same?\", \"choices\": [\"x\", \"y\"], \"gold\": 0}\n"
            "{\"query\": \"same? \", \"choices\": [\"x\", \"z\"], \"gold\": 0}\n"
            "{\"query\": \"Other?\", \"choices\": [\"x\", \"y\"], \"gold\": 0}\n");
  for (options.fewshot_seed = 0; options.fewshot_seed < 20; ++options.fewshot_seed) {
    const TaskData data = LoadTaskData(own.Load("own_choice.toml"), options);
    EXPECT_THAT(Ids(data.shots), ElementsAre("2"));
    EXPECT_THAT(Ids(data.items), ElementsAre("0", "1"));
  }
}

TEST(Shots, TheSeedAlwaysFeedsTheDraw) {
  TaskOptions options;  // the suite's default number of shots
  const auto draw = [&](uint64_t seed) {
    options.fewshot_seed = seed;
    return Ids(LoadTaskData(LoadSuite("mini_gsm8k"), options).shots);
  };
  EXPECT_EQ(draw(1).size(), 2u);
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
}

TEST(Shots, AnItemLimitChangesNothing) {
  TaskOptions all, few;
  few.limit = 3;
  const TaskData one = LoadTaskData(LoadSuite("mini_choice"), all),
                 other = LoadTaskData(LoadSuite("mini_choice"), few);
  EXPECT_EQ(Ids(one.shots), Ids(other.shots));
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(CompletionPrompt(one, one.items[i], 5), CompletionPrompt(other, other.items[i], 5));
}

TEST(Shots, TooSmallAPoolIsAnError) {
  const OwnSuite own;
  for (const auto& [name, shots] :
       std::vector<std::pair<std::string, int>>{{"own.toml", 4}, {"own_choice.toml", 3}}) {
    TaskOptions options;
    options.shots = shots;
    try {
      LoadTaskData(own.Load(name), options);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      EXPECT_THAT(error.what(), HasSubstr("--shots"));
    }
    options.shots = shots - 1;
    EXPECT_EQ(LoadTaskData(own.Load(name), options).shots.size(), static_cast<size_t>(shots - 1));
  }
}

}  // namespace
}  // namespace fullband
