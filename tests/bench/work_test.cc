// The arithmetic of steps, against numbers worked out by hand.
#include "bench/work.h"

#include <gtest/gtest.h>

#include "tests/support/random_model.h"

namespace fullband {
namespace {

// TinyLatentConfig: L = 2, D = 24, H = 4, G = 2, K = 6, F = 40, V = 67.
constexpr double kRow = 2 * 2 * (24 * (4 + 2 * 2) * 6 + 4 * 6 * 24 + 3 * 24 * 40);
constexpr double kSeen = 4 * 2 * 4 * 6;
// Outputs in whole panels of 32: of queries, keys and values; of attention; of gate and up (40 each); of
// down.
constexpr double kLayerNumbers = 2 * (24 * (32 + 32 + 32) + 24 * 32 + 24 * (64 + 64) + 40 * 32);
constexpr double kHeadNumbers = 24 * 96, kFeedbackNumbers = 24 * 32;

class StepWorkTest : public testing::Test {
 protected:
  std::shared_ptr<const Model> model_ = RandomModel(TinyLatentConfig());
  std::unique_ptr<Backend> backend_ = MakeCpuBackend(model_, {.threads = 1, .target = ""});
  StepWork work_{*model_, *backend_};
  double position_bytes_ = static_cast<double>(backend_->page_bytes()) / backend_->info().page_size;
};

TEST_F(StepWorkTest, CountsAPrompt) {
  Step step;
  step.rows.resize(3);
  step.spans = {{0, 3, 0, {0}}};
  const Work work = work_.Of(step);
  EXPECT_EQ(work.flops, 3 * kRow + (1 + 2 + 3) * kSeen);
  EXPECT_EQ(work.bytes, 4 * kLayerNumbers + (3 + 3) * position_bytes_);
}

TEST_F(StepWorkTest, CountsFusionAndQueries) {
  Step step;
  step.rows.resize(1);
  step.rows[0].state = 0;
  step.spans = {{0, 1, 4, {0}}};
  step.queries.resize(1);
  const Work work = work_.Of(step);
  EXPECT_EQ(work.flops, kRow + 5 * kSeen + 2 * 24 * 24 + 2 * 24 * 67);
  EXPECT_EQ(work.bytes, 4 * (kLayerNumbers + kFeedbackNumbers + kHeadNumbers) + (5 + 1) * position_bytes_);
}

TEST_F(StepWorkTest, CountsASharedPageOnce) {
  Step step;
  step.rows.resize(2);
  step.spans = {{0, 1, 40, {0, 1}}, {1, 1, 36, {0, 2}}};
  const Work work = work_.Of(step);
  EXPECT_EQ(work.flops, 2 * kRow + (41 + 37) * kSeen);
  EXPECT_EQ(work.bytes, 4 * kLayerNumbers + (32 + 9 + 5 + 2) * position_bytes_);
}

TEST_F(StepWorkTest, CountsBytesAsTheyAreKept) {
  const double numbers = kLayerNumbers + kHeadNumbers + 2 * kFeedbackNumbers;
  EXPECT_EQ(work_.weight_bytes(), 4 * numbers);
  const auto model = RandomModel(TinyLatentConfig(), DType::kBF16);
  const double kept = StepWork(*model, *backend_).weight_bytes();
  EXPECT_LE(kept, 2 * numbers);
  EXPECT_GE(kept, 1.5 * numbers);
}

TEST(RooflineFlops, IsTheLowerOfTheTwo) {
  EXPECT_EQ(RooflineFlops({.flops = 100, .bytes = 50}, 1000, 10), 20);      // held back by memory
  EXPECT_EQ(RooflineFlops({.flops = 10000, .bytes = 50}, 1000, 10), 1000);  // by arithmetic
  EXPECT_EQ(RooflineFlops({.flops = 1, .bytes = 0}, 1000, 10), 1000);
  EXPECT_EQ(RooflineFlops({}, 1000, 10), 0);
}

}  // namespace
}  // namespace fullband
