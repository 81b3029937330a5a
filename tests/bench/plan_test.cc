#include "bench/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/message_of.h"
#include "tests/support/random_model.h"

namespace fullband {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ModelConfig Config(int context, Fusion fusion = Fusion::kNone) {
  ModelConfig config = TinyConfig();
  config.max_positions = context;
  config.fusion = fusion;
  return config;
}

TEST(MakeBenchPlan, HasDefaults) {
  const BenchPlan plan = MakeBenchPlan({}, Config(8192));
  ASSERT_EQ(plan.settings.size(), 1u);
  EXPECT_EQ(plan.settings[0].Name(), "standard");
  EXPECT_THAT(plan.prompt_lengths, ElementsAre(128, 512, 2048));
  EXPECT_THAT(plan.batches, ElementsAre(1, 2, 4, 8, 16, 32, 64));
  EXPECT_THAT(plan.contexts, ElementsAre(128, 1024, 2048));
  EXPECT_EQ(plan.repeats, 5);
  EXPECT_TRUE(plan.left_out.empty());
  const BenchPlan latent = MakeBenchPlan({}, Config(8192, Fusion::kGlu));
  ASSERT_EQ(latent.settings.size(), 3u);
  EXPECT_EQ(latent.settings[2].Name(), "latent@2");
}

TEST(MakeBenchPlan, LeavesOutDefaultsBeyondTheContext) {
  const BenchPlan plan = MakeBenchPlan({}, Config(1000));
  EXPECT_THAT(plan.prompt_lengths, ElementsAre(128, 512));
  EXPECT_THAT(plan.contexts, ElementsAre(128));
  ASSERT_EQ(plan.left_out.size(), 3u);
  EXPECT_EQ(plan.left_out[0].what, "--prompt-lengths 2048");
  EXPECT_THAT(MakeBenchPlan({}, Config(64)).contexts, ElementsAre(64));
}

TEST(MakeBenchPlan, SortsWhatIsGiven) {
  BenchRequest request;
  request.batches = {8, 1};
  request.quick = true;
  const BenchPlan plan = MakeBenchPlan(request, Config(8192));
  EXPECT_THAT(plan.batches, ElementsAre(1, 8));
  EXPECT_THAT(plan.contexts, ElementsAre(128));
  EXPECT_EQ(plan.repeats, 3);
}

TEST(MakeBenchPlan, RefusesWhatCannotBe) {
  const auto refusal = [](BenchRequest request) {
    return MessageOf([&] { MakeBenchPlan(request, Config(1000)); });
  };
  BenchRequest request;
  request.contexts = {128, 1001};
  EXPECT_THAT(refusal(request), HasSubstr("--contexts: 1001 is beyond the model's context of 1000"));
  request = {};
  request.contexts = {1};
  EXPECT_THAT(refusal(request), HasSubstr("--contexts: 1 is too small (from 2 on)"));
  request = {};
  request.prompt_lengths = {0};
  EXPECT_THAT(refusal(request), HasSubstr("--prompt-lengths: 0 is too small"));
  request = {};
  request.batches = {4, 4};
  EXPECT_THAT(refusal(request), HasSubstr("--batches: names 4 twice"));
  request = {};
  request.settings = {"latent"};
  EXPECT_THAT(refusal(request), HasSubstr("latent_feedback"));
  request.settings = {"standard", "standard@1"};
  EXPECT_THAT(refusal(request), HasSubstr("names standard twice"));
  request.settings = {"parallel@2"};
  EXPECT_THAT(refusal(request), HasSubstr("is for scoring only"));
  request = {};
  request.repeats = 0;
  EXPECT_THAT(refusal(request), HasSubstr("--repeats"));
}

}  // namespace
}  // namespace fullband
