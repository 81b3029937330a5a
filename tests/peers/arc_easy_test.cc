// arc_easy, five-shot, with SmolLM2: log-probabilities, acc and acc_norm against lm-evaluation-harness's
// (scripts/peers/lm_eval_scores.py). Needs the converted SmolLM2 and the data file.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/engine.h"
#include "evals/choose.h"
#include "tasks/task.h"
#include "tests/peers/peers.h"

namespace fullband {
namespace {

// The project's promise for a choice's summed log-probability (some tens of tokens in float32).
constexpr double kTolerance = 1e-3;

class ArcEasy : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(SmolLm2Folder() / "config.json")) GTEST_SKIP() << kNoSmolLm2;
    const auto data = SharedDatasets();
    if (!data) GTEST_SKIP() << "arc_easy's data file is not at hand";
    fixture_ = Fixture("lm_eval_arc_easy.json");
    TaskOptions options;
    options.shots = fixture_["shots"].get<int>();
    options.fewshot_seed = fixture_["fewshot_seed"].get<uint64_t>();
    options.data_folder = *data;
    options.limit = fixture_["items"].size();
    engine_ = std::make_unique<Engine>(SmolLm2Folder(), EngineOptions{});
    options.max_context = engine_->max_context();
    task_ = BuildTask(LoadSuite("arc_easy"), options, *engine_->tokenizer(), nullptr);
  }

  // The choices of every question, scored: as the store keeps them.
  std::vector<std::vector<ChoiceRecord>> Score() {
    std::vector<std::vector<ChoiceRecord>> scored;
    for (size_t q = 0; q < task_.questions.size(); ++q) {
      const Question& question = task_.questions[q];
      scored.emplace_back();
      for (size_t c = 0; c < question.choices.size(); ++c) {
        const Choice& choice = question.choices[c];
        ChoiceRecord record;
        record.tokens = static_cast<int>(choice.continuation.size());
        record.characters = choice.characters;
        record.bytes = choice.bytes;
        record.gold = static_cast<int>(c) == question.gold_choice;
        scored.back().push_back(record);
        engine_->Submit(ScoreRequest{q * 16 + c, choice.context, choice.continuation, Setting{}});
      }
    }
    while (auto answer = engine_->Next()) {
      double sum = 0;
      for (float logprob : answer->logprobs) sum += logprob;
      scored[answer->id / 16][answer->id % 16].logprob = sum;
    }
    return scored;
  }

  std::unique_ptr<Engine> engine_;
  nlohmann::json fixture_;
  Task task_;
};

TEST_F(ArcEasy, EqualsLmEvaluationHarness) {
  const auto& items = fixture_["items"];
  ASSERT_GE(items.size(), 100u);
  ASSERT_EQ(items.size(), task_.questions.size());
  const auto scored = Score();
  double worst = 0;
  int acc = 0, acc_norm = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    ASSERT_EQ(items[i]["item"], task_.questions[i].item);
    ASSERT_EQ(items[i]["logprobs"].size(), scored[i].size());
    for (size_t c = 0; c < scored[i].size(); ++c)
      worst = std::max(worst, std::abs(scored[i][c].logprob - items[i]["logprobs"][c].get<double>()));
    const bool right = JudgeChoices(scored[i], ChoiceNorm::kSum).outcome == Outcome::kCorrect;
    const bool right_norm = JudgeChoices(scored[i], ChoiceNorm::kCharacters).outcome == Outcome::kCorrect;
    EXPECT_EQ(right, items[i]["acc"] == 1.0) << "item " << task_.questions[i].item;
    EXPECT_EQ(right_norm, items[i]["acc_norm"] == 1.0) << "item " << task_.questions[i].item;
    acc += right;
    acc_norm += right_norm;
  }
  std::printf("largest difference of a log-probability %.2e; acc %d, acc_norm %d of %zu\n", worst, acc,
              acc_norm, items.size());
  EXPECT_LT(worst, kTolerance);
}

}  // namespace
}  // namespace fullband
