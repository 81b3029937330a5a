// The size of the batch against made-up machines.
#include "engine/decode/batch_size.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace fullband {
namespace {

// Seconds that a step of so many decode rows takes.
using Machine = std::function<double(int rows)>;

// Lets a batch grow on a machine for some steps, every fifth with a prompt of 40 rows, at 1 ms each; times
// scatter by `noise`. Returns how often the limit changed.
int RunSteps(const Machine& machine, double noise, int steps, int waiting, BatchSize* batch) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> scatter(1 - noise, 1 + noise);
  batch->Note(0, 128, 0.128, true);
  int changes = 0;
  for (int i = 0; i < steps; ++i) {
    const int before = batch->limit();
    const int rows = std::min(before, waiting), prompt = i % 5 == 0 ? 40 : 0;
    batch->Note(rows, prompt, (machine(rows) + prompt * 1e-3) * scatter(random), waiting > rows);
    changes += batch->limit() != before;
  }
  return changes;
}

TEST(BatchSize, GrowsWhileThatPays) {
  // Weights are read once a step, whatever its rows.
  const Machine machine = [](int rows) { return 20e-3 + rows * 0.5e-3; };
  BatchSize batch(0);
  EXPECT_EQ(batch.limit(), BatchSize::kFirst);
  EXPECT_EQ(RunSteps(machine, 0.01, 200, 10'000, &batch), 3);
  EXPECT_EQ(batch.limit(), BatchSize::kMost);
}

TEST(BatchSize, StaysWhereMoreDoesNotPay) {
  const Machine machine = [](int rows) { return rows * 1e-3; };
  BatchSize batch(0);
  // Tried once, gone back from, and again only much later.
  EXPECT_EQ(RunSteps(machine, 0.005, 300, 10'000, &batch), 2);
  EXPECT_EQ(batch.limit(), BatchSize::kFirst);
}

TEST(BatchSize, GoesBackFromWhatIsSlower) {
  const Machine machine = [](int rows) {
    return 20e-3 + rows * 0.5e-3 + (rows > 64 ? (rows - 64) * 3e-3 : 0);
  };
  BatchSize batch(0);
  RunSteps(machine, 0.01, 300, 10'000, &batch);
  EXPECT_EQ(batch.limit(), 64);
}

TEST(BatchSize, DoesNotGrowForSequencesThatAreNotThere) {
  BatchSize batch(0);
  RunSteps([](int rows) { return 20e-3 + rows * 0.5e-3; }, 0.01, 200, BatchSize::kFirst, &batch);
  EXPECT_EQ(batch.limit(), BatchSize::kFirst);
}

TEST(BatchSize, NoiseAloneMovesLittle) {
  const Machine machine = [](int rows) { return 20e-3 + rows * 0.5e-3; };
  BatchSize batch(0);
  EXPECT_LE(RunSteps(machine, 0.2, 400, 10'000, &batch), 9);
  EXPECT_GE(batch.limit(), 64);
}

TEST(BatchSize, ANumberIsANumber) {
  BatchSize batch(7);
  RunSteps([](int rows) { return 20e-3 + rows * 0.5e-3; }, 0.01, 200, 10'000, &batch);
  EXPECT_EQ(batch.limit(), 7);
}

}  // namespace
}  // namespace fullband
