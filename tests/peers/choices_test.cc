// The suites that ask by choosing, five-shot, with SmolLM2: tokens, log-probabilities, acc, acc_norm and
// perplexity against lm-evaluation-harness's (scripts/peers/lm_eval_choices.py). Needs the converted SmolLM2
// and the data files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "common/hash.h"
#include "engine/engine.h"
#include "evals/choose.h"
#include "tasks/task.h"
#include "tests/peers/peers.h"

namespace fullband {
namespace {

// The project's promise for a choice's summed log-probability (some tens of tokens in float32).
constexpr double kTolerance = 1e-3;
constexpr uint64_t kMostChoices = 16;

const std::vector<std::string> kRecorded = {
    "arc_challenge", "arc_easy",    "boolq", "commonsense_qa_mosaic", "copa",     "hellaswag", "lambada",
    "mmlu",          "openbook_qa", "piqa",  "siqa_mosaic",           "winograd", "winogrande"};

std::string HashOfPairs(const std::vector<Choice>& choices) {
  std::string bytes;
  const auto add = [&bytes](uint32_t number) {
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift & 0xff);
  };
  for (const Choice& choice : choices) {
    for (const std::vector<int32_t>* ids : {&choice.context, &choice.continuation}) {
      add(static_cast<uint32_t>(ids->size()));
      for (const int32_t id : *ids) add(static_cast<uint32_t>(id));
    }
  }
  return Sha256Hex(bytes).substr(0, 16);
}

class PeerChoices : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    if (std::filesystem::exists(SmolLm2Folder() / "config.json"))
      engine_ = std::make_unique<Engine>(SmolLm2Folder(), EngineOptions{});
  }
  static void TearDownTestSuite() { engine_.reset(); }

  void SetUp() override {
    if (!engine_) GTEST_SKIP() << kNoSmolLm2;
    const auto data = SharedDatasets();
    if (!data) GTEST_SKIP() << "the public data files are not at hand";
    const nlohmann::json fixture = Fixture("lm_eval_choices.json");
    recorded_ = fixture["suites"].at(GetParam());
    TaskOptions options;
    options.shots = fixture["shots"].get<int>();
    options.fewshot_seed = fixture["fewshot_seed"].get<uint64_t>();
    options.data_folder = *data;
    options.limit = recorded_["items"].size();
    options.max_context = engine_->max_context();
    task_ = BuildTask(LoadSuite(GetParam()), options, *engine_->tokenizer(), nullptr);
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
        engine_->Submit(ScoreRequest{q * kMostChoices + c, choice.context, choice.continuation, Setting{}});
      }
    }
    while (auto answer = engine_->Next()) {
      ChoiceRecord& record = scored[answer->id / kMostChoices][answer->id % kMostChoices];
      for (const float logprob : answer->logprobs) record.logprob += logprob;
      record.greedy = std::all_of(answer->greedy.begin(), answer->greedy.end(), [](bool one) { return one; });
    }
    return scored;
  }

  Outcome Judge(const std::vector<ChoiceRecord>& choices) const {
    return (task_.suite.choices == Choices::kOne ? JudgeGreedy(choices)
                                                 : JudgeChoices(choices, ChoiceNorm::kSum))
        .outcome;
  }

  // The same verdict; another one only where the recorded numbers themselves show that the gold choice and
  // the best other one are nearer than either may be off. (One such tie is recorded, 2e-5 in mmlu.)
  void ExpectSameVerdict(size_t i, bool right, bool recorded, ChoiceNorm norm,
                         const std::vector<ChoiceRecord>& choices) const {
    if (right == recorded) return;
    const auto gold =
        std::find_if(choices.begin(), choices.end(), [](const ChoiceRecord& c) { return c.gold; });
    const auto length = [&](size_t c) {
      return norm == ChoiceNorm::kSum ? 1.0 : static_cast<double>(choices[c].characters);
    };
    const auto value = [&](size_t c) { return recorded_["items"][i][2][c].get<double>() / length(c); };
    const size_t of_gold = static_cast<size_t>(gold - choices.begin());
    std::optional<size_t> best;  // of the others
    for (size_t c = 0; c < choices.size(); ++c)
      if (c != of_gold && (!best || value(c) > value(*best))) best = c;
    const std::string& name = task_.questions[i].item;
    ASSERT_TRUE(best) << "item " << name << ": its one continuation is judged otherwise";
    const double apart = std::abs(value(*best) - value(of_gold)) / (1 / length(*best) + 1 / length(of_gold));
    EXPECT_LT(apart, kTolerance) << "item " << name;
    std::printf("item %s: %.1e apart, %s here, %s as recorded\n", name.c_str(), apart,
                right ? "right" : "wrong", recorded ? "right" : "wrong");
  }

  static std::unique_ptr<Engine> engine_;
  nlohmann::json recorded_;
  Task task_;
};

std::unique_ptr<Engine> PeerChoices::engine_;

TEST_P(PeerChoices, TokensEqualLmEvaluationHarness) {
  const auto& items = recorded_["items"];
  ASSERT_GE(items.size(), GetParam() == "copa" ? 95u : 100u);  // all that COPA has
  ASSERT_EQ(items.size(), task_.questions.size());
  EXPECT_EQ(task_.shot_ids, recorded_["shot_ids"].get<std::vector<std::string>>());
  for (size_t i = 0; i < items.size(); ++i) {
    ASSERT_EQ(items[i][0], task_.questions[i].item);
    ASSERT_EQ(items[i][1], HashOfPairs(task_.questions[i].choices)) << "item " << task_.questions[i].item;
  }
}

TEST_P(PeerChoices, ScoresEqualLmEvaluationHarness) {
  const auto& items = recorded_["items"];
  ASSERT_EQ(items.size(), task_.questions.size());
  const auto scored = Score();
  double worst = 0, sum = 0, recorded_sum = 0;
  int acc = 0, acc_norm = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    const nlohmann::json& logprobs = items[i][2];
    ASSERT_EQ(logprobs.size(), scored[i].size());
    for (size_t c = 0; c < scored[i].size(); ++c)
      worst = std::max(worst, std::abs(scored[i][c].logprob - logprobs[c].get<double>()));
    sum += scored[i][0].logprob;
    recorded_sum += logprobs[0].get<double>();
    const bool right = Judge(scored[i]) == Outcome::kCorrect;
    ExpectSameVerdict(i, right, items[i][3] == 1, ChoiceNorm::kSum, scored[i]);
    acc += right;
    if (items[i][4].is_null()) continue;  // the harness's task has no acc_norm
    const bool right_norm = JudgeChoices(scored[i], ChoiceNorm::kCharacters).outcome == Outcome::kCorrect;
    ExpectSameVerdict(i, right_norm, items[i][4] == 1, ChoiceNorm::kCharacters, scored[i]);
    acc_norm += right_norm;
  }
  std::printf("%s: largest difference of a log-probability %.2e; acc %d%s of %zu\n", GetParam().c_str(),
              worst, acc, items[0][4].is_null() ? "" : fmt::format(", acc_norm {}", acc_norm).c_str(),
              items.size());
  if (task_.suite.choices == Choices::kOne) {
    const double count = static_cast<double>(items.size());
    const double perplexity = std::exp(-sum / count), recorded = std::exp(-recorded_sum / count);
    std::printf("%s: perplexity %.4f, recorded %.4f\n", GetParam().c_str(), perplexity, recorded);
    EXPECT_NEAR(perplexity, recorded, 1e-4 * recorded);
  }
  EXPECT_LT(worst, kTolerance);
}

TEST(PeerChoicesFixture, HoldsTheSuitesThatAreCompared) {
  std::vector<std::string> names;
  const nlohmann::json fixture = Fixture("lm_eval_choices.json");
  for (const auto& [name, suite] : fixture["suites"].items()) names.push_back(name);
  EXPECT_EQ(names, kRecorded);
}

INSTANTIATE_TEST_SUITE_P(Suites, PeerChoices, testing::ValuesIn(kRecorded),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace fullband
