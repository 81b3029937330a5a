// A suite's cost, on the toy backend with a clock that steps move.
#include "bench/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/bench.h"
#include "common/error.h"
#include "tests/support/message_of.h"
#include "tests/support/toy_backend.h"

namespace fullband {
namespace {

class SlowBackend : public ToyBackend {
 public:
  using ToyBackend::ToyBackend;
  void Run(const Step& step, StepResult* result) override {
    ToyBackend::Run(step, result);
    time += static_cast<double>(step.rows.size());
  }
  BenchClock clock() {
    return [this] { return time; };
  }
  double time = 0;
};

Task Generate() {
  Task task;
  task.suite.name = "made";
  task.suite.ask = Ask::kGenerate;
  task.max_new_tokens = 3;
  for (int item = 0; item < 4; ++item) {
    Question question;
    question.prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9, item};
    task.questions.push_back(question);
  }
  return task;
}

TEST(MeasureSuite, CountsGeneration) {
  SlowBackend backend;
  Task task = Generate();
  task.questions.emplace_back().fault = "too long";
  EngineOptions options;
  options.batch = 4;
  const SuiteFigure f = MeasureSuite(&backend, nullptr, options, task, Setting(), backend.clock(), nullptr);
  EXPECT_EQ(f.suite, "made");
  EXPECT_EQ(f.setting, "standard");
  EXPECT_EQ(f.items, 4);
  EXPECT_EQ(f.not_asked, 1);
  EXPECT_EQ(f.prompt_tokens, 40);
  EXPECT_EQ(f.decoded_tokens, 12);
  // The others go on from the first one's prompt but for its last position; the last tokens are not run.
  EXPECT_EQ(f.saved_rows, 3 * 9);
  EXPECT_EQ(f.rows, 40 - f.saved_rows + 4 * 2);
  EXPECT_EQ(f.seconds, static_cast<double>(f.rows));
  EXPECT_EQ(f.decode_seconds, 12);
  EXPECT_EQ(f.prefill_seconds, f.seconds - 12);
}

TEST(MeasureSuite, StartsWithoutPrefixes) {
  SlowBackend backend;
  EngineOptions options;
  options.batch = 1;
  const auto measure = [&] {
    return MeasureSuite(&backend, nullptr, options, Generate(), Setting::Parse("latent@2"), backend.clock(),
                        nullptr);
  };
  const SuiteFigure first = measure(), second = measure();
  EXPECT_EQ(first.saved_rows, second.saved_rows);
  EXPECT_EQ(first.rows, second.rows);
  EXPECT_EQ(first.saved_rows, 2 * 3 * 9);
}

TEST(MeasureSuite, CountsChoices) {
  SlowBackend backend;
  Task task;
  task.suite.name = "made";
  task.suite.ask = Ask::kChoose;
  Question question;
  for (int choice = 0; choice < 2; ++choice) {
    question.choices.emplace_back().context = {1, 2, 3};
    question.choices.back().continuation = {4, choice};
  }
  task.questions.push_back(question);
  const SuiteFigure f = MeasureSuite(&backend, nullptr, {}, task, Setting(), backend.clock(), nullptr);
  EXPECT_EQ(f.items, 1);
  EXPECT_EQ(f.prompt_tokens, 6);
  EXPECT_EQ(f.decoded_tokens, 4);
}

TEST(MeasureSuite, StopsAndRefuses) {
  SlowBackend backend;
  std::atomic<bool> stop = true;
  EXPECT_THROW(MeasureSuite(&backend, nullptr, {}, Generate(), Setting(), backend.clock(), &stop),
               BenchStopped);
  Task task = Generate();
  for (Question& question : task.questions) question.fault = "too long";
  EXPECT_THAT(
      MessageOf([&] { MeasureSuite(&backend, nullptr, {}, task, Setting(), backend.clock(), nullptr); }),
      testing::HasSubstr("no item that can be asked"));
  ToyOptions options;
  options.poison = 5;
  SlowBackend poisoned(options);
  EXPECT_THAT(MessageOf([&] {
                MeasureSuite(&poisoned, nullptr, {}, Generate(), Setting(), poisoned.clock(), nullptr);
              }),
              testing::HasSubstr("not finite"));
}

}  // namespace
}  // namespace fullband
