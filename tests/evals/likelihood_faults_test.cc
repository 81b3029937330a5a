// Faults that users of other harnesses reported: tests/data/faults/likelihood.jsonl, each with its source.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/compute/sampling.h"
#include "engine/engine.h"
#include "evals/choose.h"
#include "evals/sample.h"
#include "tasks/fewshot.h"
#include "tasks/pair.h"
#include "tasks/task.h"
#include "tests/support/toy_backend.h"
#include "tests/tasks/own_suite.h"
#include "tests/tasks/tiny_tokenizer.h"

namespace fullband {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

std::map<std::string, json> Faults() {
  std::map<std::string, json> faults;
  std::ifstream file(std::string(FULLBAND_TEST_DATA) + "/faults/likelihood.jsonl");
  for (std::string line; std::getline(file, line);) {
    json fault = json::parse(line);
    faults[fault.at("id")] = fault;
  }
  return faults;
}

class LikelihoodFaults : public ::testing::Test {
 protected:
  const json& Input(const std::string& id) {
    fault_ = Faults().at(id);
    return fault_["input"];
  }
  const json& expected() { return fault_["expected"]; }
  // Each token as text.
  std::vector<std::string> Texts(const std::vector<int32_t>& ids) const {
    std::vector<std::string> texts;
    for (const int32_t id : ids) texts.push_back(tokenizer_->Decode(std::vector<int32_t>{id}, false));
    return texts;
  }
  const Tokenizer& Make(const std::vector<std::pair<std::string, std::string>>& merges = {}) {
    tokenizer_ = TinyTokenizer(folder_.path(), merges);
    return *tokenizer_;
  }

  json fault_;
  OwnSuite own_;
  TempFolder folder_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

TEST(LikelihoodFaultFile, HoldsWhatIsTestedHere) {
  std::vector<std::string> ids;
  for (const auto& [id, fault] : Faults()) ids.push_back(id);
  EXPECT_THAT(
      ids, ElementsAre("F01", "F02", "F04", "F05", "L01", "L02", "L04", "L05", "L07", "L08", "L10", "Z07"));
}

TEST_F(LikelihoodFaults, ATokenAcrossTheJoinLeavesTheContinuation) {
  const json& input = Input("L01");
  const TokenPair pair = EncodePair(Make({{"a", "b"}}), input["context"].get<std::string>(),
                                    input["continuation"].get<std::string>(), {});
  EXPECT_EQ(Texts(pair.continuation), expected()["continuation_tokens"].get<std::vector<std::string>>());
  EXPECT_EQ(pair.boundary_merge, expected()["boundary_merge_flag"].get<bool>());
}

TEST_F(LikelihoodFaults, WhiteSpaceMovesToTheContinuation) {
  const json& input = Input("L02");
  const Tokenizer& tokenizer = Make();
  const TokenPair pair = EncodePair(tokenizer, input["context"].get<std::string>(),
                                    input["continuation"].get<std::string>(), {});
  EXPECT_THAT(expected()["scored_as"].get<std::vector<std::string>>(),
              ElementsAre(tokenizer.Decode(pair.context, false), tokenizer.Decode(pair.continuation, false)));
}

// The next token is the last one plus 1, modulo 10, with probability 0.91, and each other one with 0.01.
class CountingBackend : public ToyBackend {
 public:
  CountingBackend() : ToyBackend(Options()) {}
  void Run(const Step& step, StepResult* result) override {
    ToyBackend::Run(step, result);
    for (size_t i = 0; i < step.queries.size(); ++i) {
      std::vector<float> logits(10, std::log(0.01F));
      const Row& row = step.rows.at(static_cast<size_t>(step.queries[i].row));
      logits.at(static_cast<size_t>((row.token + 1) % 10)) = std::log(0.91F);
      result->queries[i] = AnswerQuery(step.queries[i], logits, ToyModel::LogSum(logits));
    }
  }

 private:
  static ToyOptions Options() {
    ToyOptions options;
    options.vocab_size = 10;
    options.fusion = Fusion::kNone;
    return options;
  }
};

TEST_F(LikelihoodFaults, LogitsAreThoseOfThePositionBefore) {
  const json& input = Input("L04");
  Engine engine(std::make_unique<CountingBackend>(), nullptr, {});
  engine.Submit(ScoreRequest{0, input["context"], input["continuation"], Setting{}});
  const auto answer = engine.Next();
  ASSERT_TRUE(answer);
  const std::vector<double> per_token = expected()["per_token"];
  ASSERT_EQ(answer->logprobs.size(), per_token.size());
  double sum = 0;
  for (size_t i = 0; i < per_token.size(); ++i) {
    EXPECT_NEAR(answer->logprobs[i], per_token[i], 1e-5);
    sum += answer->logprobs[i];
  }
  EXPECT_NEAR(sum, expected()["loglik"].get<double>(), 1e-5);
  EXPECT_EQ(answer->greedy, (std::vector<bool>{true, true, false}));
}

TEST_F(LikelihoodFaults, CharactersAndBytesAreTwoNorms) {
  const json& input = Input("L05");
  std::vector<ChoiceRecord> choices;
  for (size_t i = 0; i < input["choices"].size(); ++i) {
    ChoiceRecord& choice = choices.emplace_back();
    choice.text = input["choices"][i].get<std::string>();
    choice.logprob = input["loglik"][i].get<double>();
    choice.characters = static_cast<int>(CountCharacters(choice.text));
    choice.bytes = static_cast<int>(choice.text.size());
    EXPECT_EQ(choice.characters, expected()["lengths"]["char"][i].get<int>());
    EXPECT_EQ(choice.bytes, expected()["lengths"]["byte"][i].get<int>());
  }
  EXPECT_EQ(BestChoice(choices, ChoiceNorm::kSum), expected()["argmax_raw"].get<int>());
  EXPECT_EQ(BestChoice(choices, ChoiceNorm::kCharacters), expected()["argmax_char"].get<int>());
  EXPECT_EQ(BestChoice(choices, ChoiceNorm::kBytes), expected()["argmax_byte"].get<int>());
}

TEST_F(LikelihoodFaults, AChoiceThatBeginsAnotherIsScoredInFull) {
  const json& input = Input("L07");
  const Tokenizer& tokenizer = Make();
  for (const std::string choice : input["choices"])
    EXPECT_EQ(tokenizer.Decode(
                  EncodePair(tokenizer, input["context"].get<std::string>(), choice, {}).continuation, false),
              choice);
}

TEST_F(LikelihoodFaults, AScoreThatIsNoFiniteNumberIsAFault) {
  Question question;
  question.gold_choice = 0;
  question.choices.resize(2);
  std::vector<Answer> answers(2);
  for (Answer& answer : answers) answer.logprobs = {-1};
  EXPECT_EQ(ChosenSample(question, answers).fault, "");
  for (const float bad :
       {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    answers[1].logprobs = {bad};
    const SampleRecord sample = ChosenSample(question, answers);
    EXPECT_EQ(sample.fault, "choice 1: the log-probability is not a finite number");
    EXPECT_TRUE(sample.choices.empty());
  }
}

TEST_F(LikelihoodFaults, WhatChoicesBeginWithAlikeIsScoredToo) {
  const json& input = Input("L08");
  const Tokenizer& tokenizer = Make({{"t", "h"},
                                     {"th", "e"},
                                     {"c", "a"},
                                     {"ca", "t"},
                                     {"d", "o"},
                                     {"do", "g"},
                                     {"\u0120", "the"},
                                     {"\u0120", "cat"},
                                     {"\u0120", "dog"}});
  for (const std::string choice : input["choices"]) {
    const TokenPair pair = EncodePair(tokenizer, input["context"].get<std::string>(), choice, {});
    EXPECT_EQ(pair.continuation.size(), expected()["scored_tokens_per_choice"].get<size_t>());
    EXPECT_EQ(tokenizer.Decode(pair.continuation, false), choice);
  }
}

TEST_F(LikelihoodFaults, BosIsTheTokenizersBusiness) {
  const json& input = Input("L10");
  TinyTokenizer(folder_.path());
  json config = input["tokenizer_config"];
  config["bos_token"] = "<s>";  // the name it has here
  std::ofstream(folder_ / "tokenizer_config.json") << config.dump();
  const std::string text = input["text"];
  EXPECT_EQ(Tokenizer::Load(folder_.path())->Encode(text, {}).front(), kTinyBos);
  config["add_bos_token"] = false;
  std::ofstream(folder_ / "tokenizer_config.json") << config.dump();
  EXPECT_EQ(Tokenizer::Load(folder_.path())->Encode(text, {}).front(), 'h');
}

// `count` sums, the answers all the same.
std::string Sums(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i)
    lines += fmt::format("{{\"query\": \"Q{}\", \"choices\": [\"A{}\", \"B\"], \"gold\": 0}}\n", i, i);
  return lines;
}

TEST_F(LikelihoodFaults, AnItemIsNeverAmongItsShots) {
  const json& input = Input("F01");
  own_.Write("own_choice.jsonl", Sums(static_cast<int>(input["docs"].size())));
  TaskOptions options;
  options.shots = input["num_fewshot"].get<int>();
  int self_in_prompt = 0, prompts = 0;
  for (options.fewshot_seed = 0; options.fewshot_seed < 100; ++options.fewshot_seed) {
    const TaskData data = LoadTaskData(own_.Load("own_choice.toml"), options);
    for (const Item& item : data.items) {
      const std::string prompt = CompletionPrompt(data, item, 2);
      const std::string question = "Q: " + item.fields["query"].get<std::string>() + "\nA:";
      self_in_prompt += prompt.find(question) != prompt.rfind(question);
      ++prompts;
    }
  }
  EXPECT_EQ(prompts, 100);
  EXPECT_EQ(self_in_prompt, expected()["self_in_prompt"].get<int>());
}

TEST_F(LikelihoodFaults, TheSameQuestionUnderAnotherIdIsNoShot) {
  const json& input = Input("F02");
  std::vector<std::string> questions;
  for (const json& row : input["pool"]) questions.push_back(NormalisedQuestion(row["q"].get<std::string>()));
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto rows = DrawShots(questions, {NormalisedQuestion(input["eval"]["q"].get<std::string>())}, seed,
                                input["k"].get<size_t>());
    std::vector<std::string> chosen;
    for (const size_t row : rows) chosen.push_back(input["pool"][row]["id"]);
    EXPECT_EQ(chosen, expected()["chosen"].get<std::vector<std::string>>());
  }
}

TEST_F(LikelihoodFaults, TheSeedFeedsTheDrawOfTheDefaultNumberToo) {
  const json& input = Input("F04");
  own_.Write("own_choice.jsonl", Sums(50));
  own_.Write("own_choice.toml", Replaced(kOwnChoose, "default = 1",
                                         fmt::format("default = {}", input["task_default_k"].get<int>())));
  const auto prompt = [&](uint64_t seed) {
    TaskOptions options;
    options.fewshot_seed = seed;
    const TaskData data = LoadTaskData(own_.Load("own_choice.toml"), options);
    EXPECT_EQ(data.shots.size(), 5u);
    return CompletionPrompt(data, data.items.back(), 5);
  };
  EXPECT_NE(prompt(input["seeds"][0]), prompt(input["seeds"][1]));
  EXPECT_EQ(prompt(input["seeds"][0]), prompt(input["seeds"][0]));
}

TEST_F(LikelihoodFaults, ALimitLeavesThePoolAlone) {
  const json& input = Input("F05");
  own_.Write("own_choice.jsonl", Sums(input["docs"].get<int>()));
  TaskOptions options;
  options.shots = input["k"].get<int>();
  const Tokenizer& tokenizer = Make();
  const Task whole = BuildTask(own_.Load("own_choice.toml"), options, tokenizer, nullptr);
  options.limit = input["limit"].get<size_t>();
  const Task part = BuildTask(own_.Load("own_choice.toml"), options, tokenizer, nullptr);
  ASSERT_EQ(part.questions.size(), options.limit);
  for (size_t i = 0; i < part.questions.size(); ++i)
    EXPECT_EQ(part.questions[i].prompt_text, whole.questions[i].prompt_text);
}

TEST_F(LikelihoodFaults, LatentScoresAreNamedApart) {
  Input("Z07");
  std::vector<std::vector<float>> scores;
  const auto score = [](const char* setting, const std::vector<int32_t>& continuation) {
    Engine engine(std::make_unique<ToyBackend>(), nullptr, {});
    engine.Submit(ScoreRequest{0, {3, 1, 4, 1}, continuation, Setting::Parse(setting)});
    return engine.Next()->logprobs;
  };
  const std::vector<int32_t> three = {5, 9, 2};
  for (const char* setting : {"standard", "latent@2", "parallel@2", "parallel@3"}) {
    scores.push_back(score(setting, three));
    EXPECT_EQ(Setting::Parse(setting).Name(), setting);
    for (size_t i = 0; i + 1 < scores.size(); ++i) EXPECT_NE(scores[i], scores.back()) << setting;
  }
  EXPECT_EQ(score("parallel@1", three), scores[0]);
  EXPECT_EQ(Setting::Parse("parallel@1").Name(), "standard");
  EXPECT_EQ(score("latent@2", {5}), score("parallel@2", {5}));
}

}  // namespace
}  // namespace fullband
