// What the engine refuses, counts, samples and survives; on the toy backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "common/error.h"
#include "engine/engine.h"
#include "tests/support/test_tokenizer.h"
#include "tests/support/toy_backend.h"

namespace fullband {
namespace {

using ::testing::HasSubstr;

// An engine whose backend stays in sight.
struct Bench {
  explicit Bench(const ToyOptions& toy = {}, const EngineOptions& options = {},
                 std::shared_ptr<const Tokenizer> tokenizer = nullptr) {
    auto made = std::make_unique<ToyBackend>(toy);
    backend = made.get();
    engine = std::make_unique<Engine>(std::move(made), std::move(tokenizer), options);
  }
  std::map<uint64_t, Answer> All() {
    std::map<uint64_t, Answer> answers;
    while (std::optional<Answer> answer = engine->Next()) answers[answer->id] = *answer;
    return answers;
  }
  ToyBackend* backend;
  std::unique_ptr<Engine> engine;
};

GenerateRequest Generate(uint64_t id, const std::string& setting, std::vector<int32_t> prompt, int max_new) {
  GenerateRequest request;
  request.id = id;
  request.setting = Setting::Parse(setting);
  request.prompt = std::move(prompt);
  request.max_new_tokens = max_new;
  return request;
}

ScoreRequest Score(uint64_t id, const std::string& setting, std::vector<int32_t> context,
                   std::vector<int32_t> continuation) {
  ScoreRequest request;
  request.id = id;
  request.setting = Setting::Parse(setting);
  request.context = std::move(context);
  request.continuation = std::move(continuation);
  return request;
}

std::vector<int32_t> Ids(const Answer& answer) {
  std::vector<int32_t> ids;
  for (const GeneratedToken& token : answer.tokens) ids.push_back(token.id);
  return ids;
}

std::string Refusal(Bench* bench, const std::function<void(GenerateRequest*)>& spoil) {
  GenerateRequest request = Generate(0, "standard", {1, 2}, 3);
  spoil(&request);
  try {
    bench->engine->Submit(request);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Requests, WhatCannotRunIsRefusedWithItsReason) {
  ToyOptions toy;
  toy.max_positions = 8;
  Bench bench(toy);
  const auto refusal = [&](const std::function<void(GenerateRequest*)>& spoil) {
    return Refusal(&bench, spoil);
  };
  EXPECT_EQ(refusal([](GenerateRequest*) {}), "accepted");
  EXPECT_THAT(refusal([](GenerateRequest* r) { r->prompt.clear(); }), HasSubstr("empty"));
  EXPECT_THAT(refusal([](GenerateRequest* r) { r->prompt = {1, 16}; }), HasSubstr("16"));
  EXPECT_THAT(refusal([](GenerateRequest* r) { r->prompt = {-1}; }), HasSubstr("-1"));
  EXPECT_THAT(refusal([](GenerateRequest* r) { r->prompt.assign(9, 1); }), HasSubstr("9 tokens"));
  EXPECT_THAT(refusal([](GenerateRequest* r) { r->setting = Setting::Parse("parallel@2"); }),
              HasSubstr("scoring only"));
  EXPECT_THAT(refusal([](GenerateRequest* r) { r->stop_strings = {"x"}; }), HasSubstr("tokenizer"));
  EXPECT_THAT(refusal([](GenerateRequest* r) { r->max_new_tokens = -1; }), HasSubstr("--max-new"));
  EXPECT_THAT(refusal([](GenerateRequest* r) { r->sampling.temperature = std::nan(""); }),
              HasSubstr("--temperature"));
  EXPECT_THAT(refusal([](GenerateRequest* r) { r->sampling.temperature = -1; }), HasSubstr("--temperature"));
  EXPECT_THAT(refusal([](GenerateRequest* r) { r->sampling.top_p = 0; }), HasSubstr("--top-p"));
  EXPECT_THAT(refusal([](GenerateRequest* r) { r->sampling.top_k = -2; }), HasSubstr("--top-k"));
  EXPECT_THROW(bench.engine->Submit(Score(1, "standard", {}, {1})), Error);
  EXPECT_THROW(bench.engine->Submit(Score(1, "standard", {1}, {})), Error);
  EXPECT_THROW(bench.engine->Submit(Score(1, "standard", {1, 2, 3, 4}, {1, 2, 3, 4, 5, 6})), Error);
  EXPECT_NO_THROW(bench.engine->Submit(Score(1, "standard", {1, 2, 3, 4}, {1, 2, 3, 4, 5})));
  EXPECT_EQ(bench.All().size(), 2u);

  Bench with_text({}, {}, MakeTestTokenizer({"a"}));
  EXPECT_THAT(Refusal(&with_text, [](GenerateRequest* r) { r->stop_strings = {""}; }), HasSubstr("empty"));
}

TEST(Requests, AnOrdinaryModelRefusesLatentSettings) {
  ToyOptions toy;
  toy.fusion = Fusion::kNone;
  Bench bench(toy);
  EXPECT_THROW(bench.engine->Submit(Generate(0, "latent", {1}, 1)), Error);
  EXPECT_THROW(bench.engine->Submit(Score(0, "parallel@2", {1}, {1})), Error);
  EXPECT_NO_THROW(bench.engine->Submit(Generate(0, "standard", {1}, 1)));
}

TEST(Faults, OneSequencesFaultIsItsOwn) {
  ToyOptions toy;
  toy.poison = 9;
  EngineOptions options;
  options.chunk = 3;
  Bench bench(toy, options);
  bench.engine->Submit(Generate(0, "latent@2", {1, 2, 3, 4, 9, 5}, 4));
  bench.engine->Submit(Score(1, "standard", {1, 2}, {3, 9, 4}));
  bench.engine->Submit(Score(2, "latent", {1, 2}, {3, 9, 4}));
  bench.engine->Submit(Score(3, "latent", {1, 2}, {3, 4, 9}));  // the last token is never run
  bench.engine->Submit(Generate(4, "standard", {1, 2, 3}, 1));
  std::map<uint64_t, Answer> answers = bench.All();
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_THAT(answers[0].fault, HasSubstr("position 4"));
  EXPECT_THAT(answers[0].fault, HasSubstr("pass 1"));
  for (uint64_t id : {1, 2}) {
    EXPECT_THAT(answers[id].fault, HasSubstr("position 3"));
    EXPECT_TRUE(answers[id].logprobs.empty());
  }
  EXPECT_EQ(answers[3].fault, "");
  EXPECT_EQ(answers[3].logprobs.size(), 3u);
  Bench alone;
  alone.engine->Submit(Generate(4, "standard", {1, 2, 3}, 1));
  EXPECT_EQ(Ids(answers[4]), Ids(alone.All()[4]));
}

// Answers to the same sampled requests, in different company.
std::map<uint64_t, std::vector<int32_t>> Sampled(int batch, int chunk, bool reversed) {
  EngineOptions options;
  options.batch = batch;
  options.chunk = chunk;
  Bench bench({}, options);
  for (int i = 0; i < 12; ++i) {
    const int n = reversed ? 11 - i : i;
    GenerateRequest request =
        Generate(static_cast<uint64_t>(n), n % 2 ? "latent@2" : "standard", {1, 2, 3}, 20);
    request.sampling = {.temperature = 1.5, .top_k = 12, .top_p = 0.95, .seed = 7};
    request.item_key = static_cast<uint64_t>(n / 4);
    request.sample = n % 4;
    bench.engine->Submit(request);
  }
  std::map<uint64_t, std::vector<int32_t>> ids;
  for (const auto& [id, answer] : bench.All()) ids[id] = Ids(answer);
  return ids;
}

TEST(Sampling, DependsOnSeedItemAndSampleOnly) {
  const auto expected = Sampled(16, 128, false);
  EXPECT_EQ(Sampled(1, 128, false), expected);
  EXPECT_EQ(Sampled(3, 2, true), expected);
  std::set<std::vector<int32_t>> different;
  for (const auto& [id, ids] : expected) different.insert(ids);
  EXPECT_EQ(different.size(), expected.size());
}

TEST(Answers, RunnerUpAndBestTokens) {
  Bench bench;
  GenerateRequest request = Generate(0, "latent", {1, 2, 3}, 30);
  request.top = 5;
  request.sampling.temperature = 3;
  bench.engine->Submit(request);
  bool sampled_other = false;
  const std::map<uint64_t, Answer> answers = bench.All();
  for (const GeneratedToken& token : answers.at(0).tokens) {
    ASSERT_EQ(token.top.size(), 5u);
    for (size_t i = 1; i < 5; ++i) EXPECT_GE(token.top[i - 1].logprob, token.top[i].logprob);
    const bool best = token.top[0].token == token.id;
    sampled_other |= !best;
    EXPECT_EQ(token.runner_up, token.top[best ? 1 : 0].token);
    EXPECT_EQ(token.runner_up_logprob, token.top[best ? 1 : 0].logprob);
  }
  EXPECT_TRUE(sampled_other);
}

TEST(Answers, CostIsWhatWasRun) {
  const std::vector<int32_t> prompt = {1, 2, 3, 4, 5, 6, 7};
  const struct {
    const char* setting;
    int prefill, decode;
  } cases[] = {{"standard", 7, 4}, {"latent", 7, 4}, {"latent@3", 21, 4}, {"latent@exact", 7, 4}};
  for (const auto& c : cases) {
    Bench bench;
    bench.engine->Submit(Generate(0, c.setting, prompt, 5));
    const Cost cost = bench.All()[0].cost;
    EXPECT_EQ(cost.prompt_tokens, 7);
    EXPECT_EQ(cost.prefill_forwards, c.prefill) << c.setting;
    EXPECT_EQ(cost.decode_forwards, c.decode) << c.setting;
    EXPECT_EQ(bench.backend->rows_run(), c.prefill + c.decode);
    EXPECT_GE(cost.queue_seconds, 0);
    EXPECT_GT(cost.prefill_seconds, 0);
    EXPECT_GT(cost.decode_seconds, 0);
  }
  Bench bench;
  bench.engine->Submit(Score(0, "standard", prompt, {1, 2, 3}));
  bench.engine->Submit(Score(1, "parallel@2", prompt, {1, 2, 3}));
  const std::map<uint64_t, Answer> answers = bench.All();
  EXPECT_EQ(answers.at(0).cost.prefill_forwards, 7);
  EXPECT_EQ(answers.at(0).cost.decode_forwards, 2);
  EXPECT_EQ(answers.at(1).cost.prefill_forwards, 18);
  EXPECT_EQ(answers.at(1).cost.decode_forwards, 0);
}

TEST(Scheduling, StepsStayWithinBatchAndChunk) {
  EngineOptions options;
  options.batch = 3;
  options.chunk = 5;
  Bench bench({}, options);
  for (uint64_t id = 0; id < 10; ++id)
    bench.engine->Submit(Generate(id, id % 2 ? "latent@2" : "standard", std::vector<int32_t>(11, 1), 6));
  EXPECT_EQ(bench.All().size(), 10u);
  EXPECT_LE(bench.backend->largest_step(), 3 + 5);
}

TEST(Scheduling, MemoryIsBoundedAndChangesNothing) {
  std::map<uint64_t, std::vector<int32_t>> roomy, tight;
  int pages = 0;
  for (int64_t limit : {0, 12}) {
    EngineOptions options;
    options.kv_memory = limit * ToyBackend().page_bytes();
    Bench bench({}, options);
    for (uint64_t id = 0; id < 12; ++id)
      bench.engine->Submit(
          Generate(id, "latent@2", std::vector<int32_t>(1 + id, static_cast<int32_t>(id)), 9));
    // More than the limit by itself: it runs alone.
    bench.engine->Submit(Generate(12, "standard", std::vector<int32_t>(70, 3), 2));
    auto& ids = limit == 0 ? roomy : tight;
    for (const auto& [id, answer] : bench.All()) ids[id] = Ids(answer);
    pages = bench.backend->page_count();
  }
  EXPECT_EQ(roomy.size(), 13u);
  EXPECT_EQ(roomy, tight);
  EXPECT_LE(pages, 18);
}

TEST(Scheduling, ACallerCanStopBetweenSteps) {
  Bench bench;
  bench.engine->Submit(Generate(0, "standard", {1, 2}, 5));
  std::atomic<bool> stop = true;
  EXPECT_FALSE(bench.engine->Next(&stop).has_value());
  EXPECT_EQ(bench.engine->pending(), 1u);
  stop = false;
  EXPECT_TRUE(bench.engine->Next(&stop).has_value());
  EXPECT_EQ(bench.engine->pending(), 0u);
}

TEST(Scheduling, OptionsAreChecked) {
  EngineOptions options;
  options.batch = -1;
  EXPECT_THROW(Bench({}, options), Error);
  options = {};
  options.chunk = 0;
  EXPECT_THROW(Bench({}, options), Error);
  options = {};
  options.prefix_cache = -2;
  EXPECT_THROW(Bench({}, options), Error);
  options = {};
  options.device = "tpu";
  EXPECT_THROW(Bench({}, options), Error);
}

}  // namespace
}  // namespace fullband
