// What is measured, and how its figures follow from the clock: on the toy backend, which notices every wrong
// page, slot and position, with a clock that the test moves.
#include "bench/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "bench/bench.h"
#include "bench/rates.h"
#include "tests/support/toy_backend.h"

namespace fullband {
namespace {

using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

// Every step takes a second and every row a tenth more.
class SlowBackend : public ToyBackend {
 public:
  using ToyBackend::ToyBackend;
  void Run(const Step& step, StepResult* result) override {
    ToyBackend::Run(step, result);
    steps.push_back(step);
    time += 1 + 0.1 * static_cast<double>(step.rows.size());
  }
  BenchClock clock() {
    return [this] { return time; };
  }
  double time = 100;
  std::vector<Step> steps;
};

ToyOptions ShortContext() {
  ToyOptions options;
  options.max_positions = 64;
  return options;
}

class MeasureTest : public testing::Test {
 protected:
  Setting latent_ = Setting::Parse("latent"), latent2_ = Setting::Parse("latent@2");
  SlowBackend backend_;
  StepWork work_{backend_};
  StepRunner runner_{&backend_, &work_, nullptr};
};

TEST_F(MeasureTest, PrefillIsCutIntoChunks) {
  const Figure figure = MeasurePrefill(&runner_, backend_.clock(), Setting(), 10, 4, 3);
  EXPECT_EQ(figure.tokens, 10);
  ASSERT_THAT(figure.seconds, SizeIs(3));  // the first of four warmed up
  for (double seconds : figure.seconds) EXPECT_NEAR(seconds, 3 + 1.0, 1e-9);
  ASSERT_THAT(backend_.steps, SizeIs(12));
  EXPECT_EQ(backend_.steps[0].rows.size(), 4u);
  EXPECT_EQ(backend_.steps[2].rows.size(), 2u);
  EXPECT_TRUE(backend_.steps[1].queries.empty());
  EXPECT_EQ(backend_.steps[2].queries.size(), 1u);
  // Work is that of one repeat: rows' own keys and values, and the pages that each of three steps sees.
  const double position = static_cast<double>(backend_.page_bytes()) / 4;
  EXPECT_DOUBLE_EQ(figure.work.bytes, (10 + 4 + 8 + 10) * position);
}

TEST_F(MeasureTest, TwoPassesTakeTwiceTheRows) {
  const Figure figure = MeasurePrefill(&runner_, backend_.clock(), latent2_, 8, 4, 1);
  EXPECT_NEAR(figure.seconds[0], 4 + 1.6, 1e-9);
  EXPECT_EQ(backend_.steps[1].rows[1].state, backend_.steps[0].rows[0].keep_state);
  EXPECT_NE(backend_.steps[1].rows[1].state, kNoSlot);
}

TEST_F(MeasureTest, DecodeStepsSeeTheContext) {
  DecodeBatch batch(&runner_, {.batch = 3, .context = 11, .shared = 0});
  backend_.steps.clear();
  const Figure figure = MeasureDecode(&runner_, backend_.clock(), &batch, Setting(), 2);
  EXPECT_EQ(figure.tokens, 3 * DecodeBatch::kSteps);
  ASSERT_THAT(figure.seconds, SizeIs(2));
  EXPECT_NEAR(figure.seconds[0], 4 * 1.3, 1e-9);
  ASSERT_THAT(backend_.steps, SizeIs(12));
  for (size_t i = 0; i < 12; ++i) {
    const Step& step = backend_.steps[i];
    ASSERT_THAT(step.spans, SizeIs(3));
    ASSERT_THAT(step.queries, SizeIs(3));
    for (const Span& span : step.spans) EXPECT_EQ(span.position, 7 + static_cast<int>(i % 4));
    EXPECT_EQ(step.rows[0].state, kNoSlot);
    // Sequences differ.
    EXPECT_NE(step.spans[0].pages, step.spans[1].pages);
  }
}

TEST_F(MeasureTest, LatentStepsReadTheStateBefore) {
  DecodeBatch batch(&runner_, {.batch = 2, .context = 9, .shared = 0});
  backend_.steps.clear();
  batch.Run(latent_);
  batch.Run(Setting::Parse("latent:stale"));
  ASSERT_THAT(backend_.steps, SizeIs(8));
  for (size_t i = 1; i < 4; ++i) {
    for (size_t row = 0; row < 2; ++row) {
      EXPECT_EQ(backend_.steps[i].rows[row].state, backend_.steps[i - 1].rows[row].keep_state);
      EXPECT_EQ(backend_.steps[i + 4].rows[row].older_state,
                i > 1 ? backend_.steps[i + 2].rows[row].keep_state : backend_.steps[4].rows[row].state);
    }
    EXPECT_NE(backend_.steps[i].rows[0].state, backend_.steps[i].rows[1].state);
  }
}

TEST_F(MeasureTest, SharedBeginningsAreTheSamePages) {
  DecodeBatch batch(&runner_, {.batch = 3, .context = 20, .shared = 10});
  EXPECT_EQ(DecodeBatch::Pages(runner_, {.batch = 3, .context = 20, .shared = 10}), 5 + 2 * 3);
  EXPECT_EQ(runner_.reserved_pages(), 11);
  backend_.steps.clear();
  batch.Run(Setting());
  const std::vector<Span>& spans = backend_.steps.back().spans;
  for (size_t page = 0; page < 5; ++page)
    EXPECT_EQ(spans[0].pages[page] == spans[1].pages[page], page < 2) << page;
}

TEST_F(MeasureTest, PagesAreGivenBack) {
  for (int i = 0; i < 3; ++i) {
    DecodeBatch batch(&runner_, {.batch = 3, .context = 20, .shared = 10});
    batch.Run(latent_);
    runner_.Prefill(latent2_, 8, 3);
  }
  EXPECT_EQ(runner_.places().pages.in_use(), 0);
  EXPECT_EQ(runner_.places().states.in_use(), 0);
}

TEST_F(MeasureTest, ShortContextsHaveFewerSteps) {
  DecodeBatch batch(&runner_, {.batch = 1, .context = 2, .shared = 0});
  EXPECT_EQ(batch.tokens(), 1);
  batch.Run(latent_);
  EXPECT_EQ(backend_.steps.back().spans[0].position, 1);
}

TEST(MeasurePairs, TakesTurns) {
  double time = 0;
  std::string order;
  const Pairs pairs = MeasurePairs([&] { return time; }, 4, 0.5,
                                   [&] {
                                     order += 'a';
                                     time += 2;
                                   },
                                   [&] {
                                     order += 'b';
                                     time += 6;
                                   });
  EXPECT_EQ(order, "ababbaabba");
  EXPECT_THAT(pairs.first, ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(pairs.second, ElementsAre(6, 6, 6, 6));
  EXPECT_THAT(pairs.ratios, Each(1.5));
}

TEST_F(MeasureTest, StopsBetweenSteps) {
  std::atomic<bool> stop = true;
  StepRunner runner(&backend_, &work_, &stop);
  EXPECT_THROW(runner.Prefill(Setting(), 4, 4), BenchStopped);
  EXPECT_TRUE(backend_.steps.empty());
}

TEST_F(MeasureTest, TokensAreTheVocabularysAndTheSameAlways) {
  runner_.Prefill(Setting(), 100, 100);
  const std::vector<Row> rows = backend_.steps[0].rows;
  std::set<int32_t> tokens;
  for (const Row& row : rows) tokens.insert(row.token);
  EXPECT_EQ(tokens.size(), 16u);
  EXPECT_EQ(*tokens.rbegin(), 15);
  runner_.Prefill(Setting(), 100, 100);
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(backend_.steps[1].rows[i].token, rows[i].token);
}

TEST(RatesOf, FollowFromTheMedian) {
  MachineFigures machine;
  machine.target = "B";
  machine.bounds = MachineBounds{.threads = 1, .read_bandwidth = 10, .peaks = {{"A", 9000}, {"B", 1000}}};
  const Figure figure{.seconds = {2, 1, 4}, .tokens = 8, .work = {.flops = 200, .bytes = 50}};
  const Rates rates = RatesOf(figure, machine);
  EXPECT_EQ(rates.tokens.median, 4);
  EXPECT_EQ(rates.tokens.least, 2);
  EXPECT_EQ(rates.tokens.most, 8);
  EXPECT_EQ(rates.flops, 100);
  EXPECT_EQ(rates.bytes, 25);
  // 200 operations on 50 bytes: 40 a second at 10 bytes a second.
  EXPECT_EQ(rates.roofline_share, 2.5);
  machine.bounds.reset();
  EXPECT_FALSE(RatesOf(figure, machine).roofline_share);
}

// ------------------------------------------------------------------------------------------------ the whole

TEST(MeasureSteps, MeasuresWhatThePlanSays) {
  SlowBackend backend(ShortContext());
  const StepWork work(backend);
  StepRunner runner(&backend, &work, nullptr);
  BenchRequest request;
  request.settings = {"standard", "latent", "latent@3"};
  request.prompt_lengths = {6, 12};
  request.chunks = {4, 8};
  request.batches = {1, 2};
  request.contexts = {8, 16};
  request.repeats = 2;
  BenchReport report;
  std::vector<std::string> said;
  MeasureSteps(&runner, MakeBenchPlan(request, backend.config()),
               {.now = backend.clock(), .say = [&](const std::string& what) { said.push_back(what); }},
               &report);
  EXPECT_THAT(report.prefill, SizeIs(3 * 3));  // 6 tokens in a chunk of 8 are 6 in one of 6
  EXPECT_THAT(report.decode, SizeIs(3 * 2 * 2));
  EXPECT_THAT(report.decode_overhead, SizeIs(2 * 2));  // latent@3 decodes as latent
  EXPECT_EQ(report.decode_overhead[0].setting, "latent");
  for (const DecodeOverhead& f : report.decode_overhead)
    EXPECT_THAT(f.pairs.ratios, Each(DoubleNear(1, 1e-9)));
  ASSERT_THAT(report.prefill_overhead, SizeIs(1));
  EXPECT_EQ(report.prefill_overhead[0].over, "latent");
  for (double ratio : report.prefill_overhead[0].pairs.ratios) EXPECT_NEAR(ratio, 1, 1e-9);
  ASSERT_THAT(report.shared_prefix, SizeIs(2));
  EXPECT_EQ(report.shared_prefix[0].context, 64);
  EXPECT_EQ(report.shared_prefix[0].shared, 59);
  EXPECT_TRUE(report.left_out.empty());
  EXPECT_FALSE(said.empty());
}

TEST(MeasureSteps, LeavesOutWhatMemoryDoesNotHold) {
  SlowBackend backend(ShortContext());
  const StepWork work(backend);
  StepRunner runner(&backend, &work, nullptr);
  BenchRequest request;
  request.settings = {"standard"};
  request.prompt_lengths = request.chunks = request.contexts = {8};
  request.batches = {1, 2, 3};
  BenchReport report;
  MeasureSteps(&runner, MakeBenchPlan(request, backend.config()),
               {.now = backend.clock(), .page_memory = 4 * backend.page_bytes()}, &report);
  EXPECT_THAT(report.decode, SizeIs(2));
  ASSERT_THAT(report.left_out, SizeIs(2));
  EXPECT_EQ(report.left_out[0].what, "decode: batch 3, context 8");
  EXPECT_TRUE(report.shared_prefix.empty());
}

}  // namespace
}  // namespace fullband
