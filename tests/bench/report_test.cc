// Figures as they are shown: keys, units, and the tables.
#include "bench/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/random_model.h"

namespace fullband {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

class BenchReportTest : public testing::Test {
 protected:
  BenchReportTest() {
    report_.machine.processor = "Made 9000";
    report_.machine.target = "AVX2";
    report_.machine.threads = 2;
    report_.machine.caches = {{1, "Data", 32 << 10}, {1, "Instruction", 32 << 10}, {3, "Unified", 8 << 20}};
    report_.machine.probe_bytes = 64 << 20;
    report_.machine.bounds = MachineBounds{
        .threads = 2, .read_bandwidth = 20e9, .triad_bandwidth = 15e9, .peaks = {{"AVX2", 1e11}}};
    report_.loading = {.first = 4, .seconds = {0.5, 0.25, 1}};
    const Figure figure{.seconds = {0.5, 0.25, 0.5}, .tokens = 100, .work = {.flops = 5e9, .bytes = 1e9}};
    report_.prefill.push_back({"standard", 100, 32, figure});
    report_.decode.push_back({"latent", 4, 64, figure});
    const Pairs pairs{.first = {1, 1, 2}, .second = {1.1, 1, 2}, .ratios = {1.1, 1, 1}};
    report_.decode_overhead.push_back({"latent", "standard", 4, 64, pairs});
    report_.prefill_overhead.push_back({"latent@2", "latent", 2, 100, 32, pairs});
    report_.shared_prefix.push_back({"standard", 32, 64, 59, pairs});
    report_.suites.push_back({.suite = "own",
                              .setting = "standard",
                              .items = 10,
                              .seconds = 4,
                              .prompt_tokens = 700,
                              .decoded_tokens = 100,
                              .rows = 500,
                              .saved_rows = 300,
                              .prefill_seconds = 3,
                              .decode_seconds = 1});
    report_.profiles.push_back(
        {"decode, batch 4, context 64", "latent", 8, {{"head", 0.75}, {"down", 0.25}}});
    report_.memory = {.resident = 5 << 20, .peak = 6 << 20, .weights = 1 << 20, .pages = 2 << 20};
    report_.left_out = {{"decode: batch 64", "too large"}};
    subject_.name = "some/model";
    subject_.model = model_.get();
  }
  std::shared_ptr<const Model> model_ = RandomModel(TinyLatentConfig());
  BenchReport report_;
  BenchSubject subject_;
  BenchPlan plan_{.settings = {Setting()},
                  .prompt_lengths = {100},
                  .chunks = {32},
                  .batches = {4},
                  .contexts = {64},
                  .left_out = {}};
};

TEST_F(BenchReportTest, JsonHasUnitsInItsNames) {
  const Json json = BenchJson(report_, plan_, subject_);
  EXPECT_EQ(json["fullband_bench"], 1);
  EXPECT_EQ(json["machine"]["threads"], 2);
  EXPECT_EQ(json["machine"]["caches"][2]["bytes"], 8 << 20);
  EXPECT_EQ(json["machine"]["probes"]["read_gbyte_per_second"], 20);
  EXPECT_EQ(json["machine"]["probes"]["multiply_add"][0]["gflop_per_second"], 100);
  EXPECT_EQ(json["model"]["width"], 24);
  EXPECT_EQ(json["model"]["parameters"], model_->parameter_count);
  EXPECT_EQ(json["model"]["random_feedback_seed"], nullptr);
  EXPECT_EQ(json["options"]["batches"], Json({4}));
  EXPECT_EQ(json["options"]["settings"], Json({"standard"}));
  EXPECT_EQ(json["loading"],
            Json({{"first_seconds", 4}, {"seconds", {0.5, 0.25, 1}}, {"median_seconds", 0.5}}));
  EXPECT_EQ(json["memory"]["peak_bytes"], 6 << 20);
  EXPECT_EQ(json["left_out"][0]["why"], "too large");
  EXPECT_EQ(json["stopped"], false);
}

TEST_F(BenchReportTest, JsonHasEveryRepeat) {
  const Json json = BenchJson(report_, plan_, subject_);
  for (const Json& figure : {json["prefill"][0], json["decode"][0]}) {
    EXPECT_EQ(figure["seconds"], Json({0.5, 0.25, 0.5}));
    EXPECT_EQ(figure["tokens_per_second"], Json({{"median", 200}, {"min", 200}, {"max", 400}}));
    EXPECT_EQ(figure["gflop_per_second"], 10);
    EXPECT_EQ(figure["gbyte_per_second"], 2);
    EXPECT_NEAR(figure["roofline_share"].get<double>(), 0.1, 1e-12);  // 100 GFLOP/s at 5 operations a byte
  }
  EXPECT_EQ(json["prefill"][0]["prompt_tokens"], 100);
  EXPECT_EQ(json["decode"][0]["context"], 64);
  EXPECT_EQ(json["decode_overhead"][0]["ratio"]["median"], 1);
  EXPECT_EQ(json["decode_overhead"][0]["ratio"]["high"], 1.1);
  EXPECT_EQ(json["decode_overhead"][0]["ratio"]["confidence"], 0.75);
  EXPECT_EQ(json["decode_overhead"][0]["seconds"]["over"], Json({1, 1, 2}));
  EXPECT_EQ(json["prefill_overhead"][0]["passes"], 2);
  EXPECT_EQ(json["shared_prefix"][0]["seconds"]["unshared"], Json({1.1, 1, 2}));
  EXPECT_EQ(json["suites"][0]["items_per_second"], 2.5);
  EXPECT_EQ(json["suites"][0]["tokens_per_second"], 200);
  EXPECT_EQ(json["suites"][0]["prefill_share"], 0.75);
  EXPECT_EQ(json["profiles"][0]["milliseconds"], 1000);
  EXPECT_EQ(json["profiles"][0]["parts"][1],
            Json({{"part", "down"}, {"milliseconds", 250}, {"share", 0.25}}));
}

TEST_F(BenchReportTest, TextHasTables) {
  const std::string text = BenchText(report_, subject_);
  EXPECT_THAT(text, HasSubstr("Made 9000, AVX2, 2 threads, L1 32 KiB, L3 8 MiB\n"));
  EXPECT_THAT(text, HasSubstr("read 20.0 GB/s, triad 15.0 GB/s"));
  EXPECT_THAT(
      text,
      HasSubstr("loading  0.500 s until the first step may run (0.250 to 1.000; the first time 4.000)"));
  EXPECT_THAT(text, HasSubstr("prefill   tokens  chunk  tokens/s  min  max  GFLOP/s  GB/s  roofline\n"
                              "standard     100     32       200  200  400     10.0   2.0      10 %\n"));
  EXPECT_THAT(text, HasSubstr("time of latent / standard"));
  EXPECT_THAT(text, HasSubstr("1.0000 to 1.1000"));
  EXPECT_THAT(text, HasSubstr("a step of decode, batch 4, context 64 (latent)"));
  EXPECT_THAT(text,
              testing::ContainsRegex("\nhead +750.000  75.0 %\ndown +250.000  25.0 %\nall +1000.000\n"));
  EXPECT_THAT(text, HasSubstr("left out: decode: batch 64: too large\n"));
  EXPECT_THAT(text, Not(HasSubstr("RANDOM")));
}

TEST_F(BenchReportTest, RandomFeedbackIsSaid) {
  subject_.random_feedback = 7;
  EXPECT_EQ(BenchJson(report_, plan_, subject_)["model"]["random_feedback_seed"], 7);
  EXPECT_THAT(BenchText(report_, subject_), HasSubstr("its latent feedback is RANDOM (seed 7)"));
}

}  // namespace
}  // namespace fullband
