// Every answer is the same, byte for byte, under all circumstances, two by two: batch, threads, prefix cache,
// chunk, order, choices alone or together, setting, instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <random>
#include <string>

#include "engine/compute/forwarding_backend.h"
#include "engine/engine.h"
#include "tests/decode/cover.h"
#include "tests/support/random_model.h"

namespace fullband {
namespace {

constexpr int kBatches[] = {0, 1, 7, 32};  // 0: auto
constexpr int kThreads[] = {1, 2};
enum Cache { kOn, kOff, kTiny };
constexpr int kChunks[] = {1, 16, 128, 512};
constexpr uint32_t kOrders[] = {0, 1, 2};  // 0: as they stand; else seeds of a shuffle
const char* const kSettings[] = {"standard",     "latent",     "latent@2",
                                 "latent@exact", "parallel@2", "latent@2:stale"};

struct Circumstances {
  int batch = 1;
  int threads = 1;
  Cache cache = kOff;
  int chunk = 512;
  uint32_t order = 0;
  bool together = false;  // else a choice is asked when the one before it is answered
  std::string setting;
  std::string target;
  std::string Name() const {
    constexpr const char* kCaches[] = {"on", "off", "tiny"};
    return "batch " + std::to_string(batch) + ", threads " + std::to_string(threads) + ", cache " +
           kCaches[cache] + ", chunk " + std::to_string(chunk) + ", order " + std::to_string(order) +
           (together ? ", together, " : ", alone, ") + setting + ", " + target;
  }
};

std::vector<size_t> FactorSizes() {
  return {std::size(kBatches),  std::size(kThreads), 3, std::size(kChunks), std::size(kOrders), 2,
          std::size(kSettings), CpuTargets().size()};
}

Circumstances FromRow(const CoverRow& row) {
  return {kBatches[row[0]], kThreads[row[1]], static_cast<Cache>(row[2]), kChunks[row[3]],
          kOrders[row[4]],  row[5] == 1,      kSettings[row[6]],          CpuTargets()[row[7]]};
}

// Flips the lowest bit of a log-probability where a step runs many sequences: what the test is there to see.
class LeakyBackend : public ForwardingBackend {
 public:
  LeakyBackend(std::unique_ptr<Backend> backend, size_t most)
      : ForwardingBackend(backend.get()), backend_(std::move(backend)), most_(most) {}
  void Run(const Step& step, StepResult* result) override {
    ForwardingBackend::Run(step, result);
    if (step.spans.size() <= most_ || result->queries.empty()) return;
    QueryResult& query = result->queries.front();
    float& value = query.target_logprobs.empty() ? query.sampled.logprob : query.target_logprobs.front();
    value = std::bit_cast<float>(std::bit_cast<uint32_t>(value) ^ 1u);
  }

 private:
  std::unique_ptr<Backend> backend_;
  size_t most_;
};

std::vector<int32_t> RandomTokens(size_t count, uint32_t seed, int vocab_size) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(random() % vocab_size));
  return tokens;
}

struct Requests {
  std::vector<GenerateRequest> generate;
  std::vector<ScoreRequest> score;
};

// Nine prompts after the same 70 tokens (two pages of 32 and some), two samples of each, some of them drawn;
// four items with four choices each: one token, several, with common beginnings.
Requests MakeRequests(const Setting& setting, int vocab_size) {
  Requests requests;
  const std::vector<int32_t> shots = RandomTokens(70, 7, vocab_size);
  const auto prompt = [&](int item) {
    std::vector<int32_t> tokens = shots;
    const auto own =
        RandomTokens(static_cast<size_t>(3 + item * 5), static_cast<uint32_t>(100 + item), vocab_size);
    tokens.insert(tokens.end(), own.begin(), own.end());
    return tokens;
  };
  uint64_t id = 0;
  for (int item = 0; item < 9 && setting.mode != Mode::kParallel; ++item)
    for (int sample = 0; sample < 2; ++sample) {
      GenerateRequest request;
      request.id = id++;
      request.prompt = prompt(item);
      request.setting = setting;
      request.sampling.temperature = item % 2;
      request.item_key = static_cast<uint64_t>(item);
      request.sample = sample;
      request.max_new_tokens = 3 + item % 4 * 6;
      requests.generate.push_back(request);
    }
  for (int item = 0; item < 4; ++item)
    for (int choice = 0; choice < 4; ++choice) {
      ScoreRequest request;
      request.id = id++;
      request.context = prompt(item + 3);
      request.continuation = {1, 2, 3};
      request.continuation.resize(static_cast<size_t>(choice));
      request.continuation.push_back(static_cast<int32_t>(10 + choice));
      request.setting = setting;
      requests.score.push_back(request);
    }
  return requests;
}

// An answer's bytes: everything but what depends on time and on what was saved.
std::string Bytes(const Answer& answer) {
  std::string bytes = answer.fault + '|' + answer.text;
  const auto add = [&](auto value) {
    const auto raw = std::bit_cast<std::array<char, sizeof(value)>>(value);
    bytes.append(raw.data(), raw.size());
  };
  for (const GeneratedToken& token : answer.tokens) {
    add(token.id), add(token.logprob), add(token.runner_up), add(token.runner_up_logprob);
  }
  for (float logprob : answer.logprobs) add(logprob);
  for (bool greedy : answer.greedy) add(greedy);
  add(answer.stop_reason), add(answer.min_state_rms), add(answer.max_state_rms);
  return bytes;
}

struct Outcome {
  std::map<uint64_t, std::string> answers;
  int64_t saved = 0;
};

void TakeAll(Engine* engine, Outcome* outcome) {
  while (const std::optional<Answer> answer = engine->Next()) {
    outcome->answers[answer->id] = Bytes(*answer);
    outcome->saved += answer->cost.saved_forwards;
  }
}

Outcome AskUnder(const std::shared_ptr<const Model>& model, const Circumstances& run,
                 size_t leaks_from = 1000) {
  auto backend = std::make_unique<LeakyBackend>(
      MakeCpuBackend(model, {.threads = run.threads, .target = run.target}), leaks_from);
  const int64_t page = backend->page_bytes() + backend->info().page_size * backend->state_bytes();
  EngineOptions options;
  options.batch = run.batch;
  options.chunk = run.chunk;
  options.prefix_cache = run.cache == kOn ? EngineOptions::kAuto : run.cache == kTiny ? 4 * page : 0;
  Engine engine(std::move(backend), nullptr, options);
  const Requests requests = MakeRequests(Setting::Parse(run.setting), model->config.vocab_size);
  std::vector<size_t> order(requests.generate.size() + requests.score.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (run.order > 0) std::shuffle(order.begin(), order.end(), std::mt19937(run.order));
  Outcome outcome;
  for (const size_t i : order) {
    const bool generates = i < requests.generate.size();
    if (generates) {
      engine.Submit(requests.generate[i]);
    } else {
      engine.Submit(requests.score[i - requests.generate.size()]);
    }
    if (!generates && !run.together) TakeAll(&engine, &outcome);
  }
  TakeAll(&engine, &outcome);
  return outcome;
}

// Each request by itself in the plainest way, which the others are compared with.
const Outcome& Expected(const std::shared_ptr<const Model>& model, const Circumstances& run) {
  static std::map<std::pair<std::string, std::string>, Outcome> outcomes;
  const auto [at, is_new] = outcomes.try_emplace({run.setting, run.target});
  if (is_new) {
    Circumstances plain;
    plain.setting = run.setting;
    plain.target = run.target;
    at->second = AskUnder(model, plain);
  }
  return at->second;
}

// The ids of the answers that differ from the plain ones.
std::vector<uint64_t> Different(const Outcome& outcome, const Outcome& expected) {
  std::vector<uint64_t> ids;
  for (const auto& [id, bytes] : expected.answers) {
    const auto at = outcome.answers.find(id);
    if (at == outcome.answers.end() || at->second != bytes) ids.push_back(id);
  }
  return ids;
}

std::shared_ptr<const Model> SmallModel() {
  static const auto model = RandomModel(TinyLatentConfig(), DType::kBF16);
  return model;
}

TEST(PairwiseCover, HasEveryPairAndLittleMore) {
  const std::vector<size_t> sizes = FactorSizes();
  std::vector<CoverRow> rows = PairwiseCover(sizes);
  EXPECT_EQ(MissingPairs(sizes, rows), 0u);
  EXPECT_EQ(rows, PairwiseCover(sizes));
  std::vector<size_t> sorted = sizes;
  std::sort(sorted.rbegin(), sorted.rend());
  EXPECT_LE(rows.size(), 2 * sorted[0] * sorted[1]);
  rows.pop_back();
  EXPECT_GT(MissingPairs(sizes, rows), 0u);
  EXPECT_EQ(MissingPairs({2, 2}, {{0, 0}, {1, 1}}), 2u);
}

TEST(SameBits, UnderEveryPairOfCircumstances) {
  for (const CoverRow& row : PairwiseCover(FactorSizes())) {
    const Circumstances run = FromRow(row);
    EXPECT_EQ(Different(AskUnder(SmallModel(), run), Expected(SmallModel(), run)), std::vector<uint64_t>{})
        << run.Name();
  }
}

// The comparison must be able to fail: on one bit of one number, in the batches alone that are large enough.
TEST(SameBits, OneBitThatDependsOnTheBatchIsSeen) {
  int seen = 0;
  for (const CoverRow& row : PairwiseCover(FactorSizes())) {
    const Circumstances run = FromRow(row);
    const auto ids = Different(AskUnder(SmallModel(), run, 6), Expected(SmallModel(), run));
    seen += !ids.empty();
    EXPECT_TRUE(run.batch != 1 || ids.empty()) << run.Name();
  }
  EXPECT_GT(seen, 5);
}

// The circumstances differ in what they are meant to differ in.
TEST(SameBits, TheCachesSaveAllSomeAndNothing) {
  Circumstances run;
  run.setting = "latent@2";
  run.target = CpuTargets().front();
  int64_t saved[3];
  for (const Cache cache : {kOn, kOff, kTiny}) {
    run.cache = cache;
    saved[cache] = AskUnder(SmallModel(), run).saved;
  }
  EXPECT_EQ(saved[kOff], 0);
  EXPECT_GT(saved[kTiny], 0);
  EXPECT_GT(saved[kOn], saved[kTiny]);
}

}  // namespace
}  // namespace fullband
