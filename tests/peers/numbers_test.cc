// The engine's numbers against what Hugging Face transformers and llama.cpp computed with the same weights
// (recorded by scripts/record_peers). Needs the converted SmolLM2 and the GSM8K questions.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/hash.h"
#include "engine/engine.h"
#include "tests/peers/peers.h"

namespace fullband {
namespace {

using nlohmann::json;

// Two float32 implementations that sum in different orders: the bound that the project promises.
constexpr double kTolerance = 2e-4;
// llama.cpp approximates exp and sums in blocks: five times what transformers is held to.
constexpr double kLlamaCppTolerance = 1e-3;
// Two best logits closer than this may change places between implementations.
constexpr double kTie = 1e-3;

std::vector<std::string> Questions(const std::filesystem::path& path) {
  std::vector<std::string> questions;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) questions.push_back(json::parse(line)["question"]);
  return questions;
}

std::string HashIds(const std::vector<int32_t>& ids) {
  return Sha256Hex({reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(int32_t)}).substr(0, 16);
}

class PeerNumbers : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path data = SharedDatasets().value_or("") / "gsm8k/test.jsonl";
    if (!std::filesystem::exists(SmolLm2Folder() / "config.json")) GTEST_SKIP() << kNoSmolLm2;
    if (!std::filesystem::exists(data)) GTEST_SKIP() << "GSM8K is not at hand";
    engine_ = std::make_unique<Engine>(SmolLm2Folder(), EngineOptions{});
    questions_ = Questions(data);
  }

  std::vector<int32_t> Prompt(size_t row) const {
    // As gsm8k_prompt in scripts/peers/common.py.
    return engine_->tokenizer()->Encode("<|im_start|>user\n" + questions_.at(row) +
                                        "<|im_end|>\n<|im_start|>assistant\n");
  }

  // Log-probabilities of each recorded continuation, by row.
  std::map<uint64_t, std::vector<float>> Score(const json& scores) {
    for (size_t row = 0; row < scores.size(); ++row)
      engine_->Submit(ScoreRequest{row, Prompt(row), scores[row]["continuation"], Setting{}});
    std::map<uint64_t, std::vector<float>> answers;
    while (auto answer = engine_->Next()) answers[answer->id] = answer->logprobs;
    return answers;
  }

  std::unique_ptr<Engine> engine_;
  std::vector<std::string> questions_;
};

// Largest absolute difference, over the entries that the peer recorded.
double LargestDifference(const std::vector<float>& ours, const json& theirs) {
  double largest = ours.size() == theirs.size() ? 0 : INFINITY;
  for (size_t i = 0; i < ours.size() && i < theirs.size(); ++i)
    if (!theirs[i].is_null()) largest = std::max(largest, std::abs(ours[i] - theirs[i].get<double>()));
  return largest;
}

TEST_F(PeerNumbers, LogProbabilitiesEqualTransformers) {
  const json scores = Fixture("transformers_smollm2.json")["scores"];
  ASSERT_GE(scores.size(), 20u);
  auto ours = Score(scores);
  double worst = 0, worst_gguf = 0;
  for (size_t row = 0; row < scores.size(); ++row) {
    ASSERT_EQ(ours[row].size(), 64u);
    worst = std::max(worst, LargestDifference(ours[row], scores[row]["converted"]));
    worst_gguf = std::max(worst_gguf, LargestDifference(ours[row], scores[row]["gguf"]));
  }
  std::printf("largest difference: converted %.2e, transformers' own GGUF loading %.2e\n", worst, worst_gguf);
  EXPECT_LT(worst, kTolerance);
  EXPECT_LT(worst_gguf, kTolerance);

  // The comparison can fail: one log-probability off by twice the tolerance is seen.
  ours[0][7] += 2 * kTolerance;
  EXPECT_GT(LargestDifference(ours[0], scores[0]["converted"]), kTolerance);
}

TEST_F(PeerNumbers, LogProbabilitiesEqualLlamaCpp) {
  const json scores = Fixture("transformers_smollm2.json")["scores"];
  const json theirs = Fixture("llama_cpp_smollm2.json")["scores"];
  auto ours = Score(scores);
  double worst = 0;
  for (size_t row = 0; row < theirs.size(); ++row) {
    EXPECT_EQ(theirs[row]["item"], scores[row]["item"]);
    worst = std::max(worst, LargestDifference(ours[row], theirs[row]["logprobs"]));
  }
  std::printf("largest difference: llama.cpp %.2e\n", worst);
  EXPECT_LT(worst, kLlamaCppTolerance);
}

TEST_F(PeerNumbers, GreedyTracesEqualTransformers) {
  const json traces = Fixture("transformers_smollm2.json")["traces"];
  ASSERT_GE(traces.size(), 50u);
  for (size_t row = 0; row < traces.size(); ++row) {
    GenerateRequest request;
    request.id = row;
    request.prompt = Prompt(row);
    request.max_new_tokens = 128;
    ASSERT_EQ(HashIds(request.prompt), traces[row]["prompt_hash"]) << "item " << row;
    engine_->Submit(request);
  }
  int identical = 0;
  while (auto answer = engine_->Next()) {
    const json& trace = traces[answer->id];
    const std::vector<int32_t> theirs = trace["tokens"];
    size_t same = 0;
    while (same < theirs.size() && same < answer->tokens.size() && answer->tokens[same].id == theirs[same])
      ++same;
    if (same == theirs.size() && same == answer->tokens.size()) {
      ++identical;
      continue;
    }
    double gap = INFINITY;
    for (const json& tie : trace["near_ties"])
      if (tie[0].get<size_t>() == same) gap = tie[1];
    std::printf("item %llu leaves the recorded trace at token %zu, gap of the two best logits %.2e\n",
                static_cast<unsigned long long>(answer->id), same, gap);
    EXPECT_LT(gap, kTie) << "item " << answer->id << " differs at token " << same;
  }
  std::printf("%d of %zu traces identical\n", identical, traces.size());
}

}  // namespace
}  // namespace fullband
