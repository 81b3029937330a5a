// The engine on the toy backend: every setting against the plain statement of the semantics, and the same
// answers however they are scheduled.
#include "engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "common/error.h"
#include "tests/decode/semantics.h"

namespace fullband {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string>& DecodeSettings() {
  static const auto* settings = new std::vector<std::string>{"standard",
                                                             "standard@2",
                                                             "standard@3",
                                                             "standard@exact",
                                                             "standard@2:stale",
                                                             "latent",
                                                             "latent@2",
                                                             "latent@3",
                                                             "latent@exact",
                                                             "latent:zero",
                                                             "latent:stale",
                                                             "latent:reversed",
                                                             "latent@2:stale",
                                                             "latent@3:stale",
                                                             "latent@3:reversed",
                                                             "latent@2:zero",
                                                             "latent@exact:stale",
                                                             "latent:constant_gate",
                                                             "latent@2:constant_gate",
                                                             "standard@exact:stale"};
  return *settings;
}

std::vector<std::string> ScoreSettings() {
  std::vector<std::string> settings = DecodeSettings();
  for (const char* name :
       {"parallel@2", "parallel@3", "parallel@3:stale", "parallel@2:reversed", "parallel@exact"})
    settings.push_back(name);
  return settings;
}

std::vector<int32_t> RandomTokens(int count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(random() % 16));
  return tokens;
}

struct Asked {
  std::vector<GenerateRequest> generate;
  std::vector<ScoreRequest> score;
};

// Prompts of many lengths (one position, around a page's 4, longer than a chunk) in every setting.
Asked Everything() {
  Asked asked;
  uint64_t id = 0;
  for (const std::string& name : DecodeSettings())
    for (int length : {1, 2, 3, 5, 8, 19}) {
      GenerateRequest request;
      request.id = id++;
      request.prompt = RandomTokens(length, static_cast<uint32_t>(length));
      request.setting = Setting::Parse(name);
      request.max_new_tokens = 1 + static_cast<int>(id % 9);
      asked.generate.push_back(request);
      // Beginnings of one stream, which a prefix cache shares.
      request.id = id++;
      request.prompt = RandomTokens(length + 3, 99);
      asked.generate.push_back(request);
    }
  for (const std::string& name : ScoreSettings())
    for (int length : {1, 2, 4, 13}) {
      ScoreRequest request;
      request.id = id++;
      request.context = RandomTokens(length, static_cast<uint32_t>(length));
      request.continuation = RandomTokens(1 + static_cast<int>(id % 7), static_cast<uint32_t>(id));
      request.setting = Setting::Parse(name);
      asked.score.push_back(request);
    }
  return asked;
}

std::map<uint64_t, Answer> AnswersOf(Engine* engine) {
  std::map<uint64_t, Answer> answers;
  while (std::optional<Answer> answer = engine->Next()) answers[answer->id] = *answer;
  EXPECT_EQ(engine->pending(), 0u);
  return answers;
}

std::map<uint64_t, Answer> AskAll(const Asked& asked, const ToyOptions& toy, const EngineOptions& options,
                                  uint32_t shuffle = 0) {
  Engine engine(std::make_unique<ToyBackend>(toy), nullptr, options);
  std::vector<size_t> order(asked.generate.size() + asked.score.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (shuffle > 0) std::shuffle(order.begin(), order.end(), std::mt19937(shuffle));
  for (size_t i : order) {
    if (i < asked.generate.size()) {
      engine.Submit(asked.generate[i]);
    } else {
      engine.Submit(asked.score[i - asked.generate.size()]);
    }
  }
  return AnswersOf(&engine);
}

// The first request whose answer is not the reference's, or "".
std::string FirstDifference(const Asked& asked, const std::map<uint64_t, Answer>& answers) {
  const ToySpecification toy;
  const Semantics<ToySpecification> semantics(toy);
  for (const GenerateRequest& request : asked.generate) {
    const Answer& answer = answers.at(request.id);
    std::vector<int32_t> tokens;
    for (const GeneratedToken& token : answer.tokens) tokens.push_back(token.id);
    const auto expected = semantics.Decode(request.prompt, tokens, request.setting.Name());
    bool same = answer.fault.empty() && static_cast<int>(tokens.size()) == request.max_new_tokens;
    for (size_t i = 0; same && i < tokens.size(); ++i) {
      const int32_t best = ToyModel::ArgMax(expected[i]);
      same = tokens[i] == best && answer.tokens[i].logprob == expected[i][static_cast<size_t>(best)];
    }
    if (!same) return "decode " + request.setting.Name() + " of " + std::to_string(request.prompt.size());
  }
  for (const ScoreRequest& request : asked.score) {
    const Answer& answer = answers.at(request.id);
    if (answer.logprobs != semantics.Score(request.context, request.continuation, request.setting.Name()))
      return "score " + request.setting.Name() + " of " + std::to_string(request.context.size());
  }
  return "";
}

TEST(EngineOnToy, EverySettingIsWhatTheSemanticsSay) {
  const Asked asked = Everything();
  EXPECT_EQ(FirstDifference(asked, AskAll(asked, {}, {})), "");
}

TEST(EngineOnToy, SchedulingChangesNothing) {
  const Asked asked = Everything();
  for (int batch : {1, 3, 16})
    for (int chunk : {1, 7, 64})
      for (int page_size : {1, 4, 16})
        for (bool prefix_cache : {false, true}) {
          EngineOptions options;
          options.batch = batch;
          options.chunk = chunk;
          options.prefix_cache = prefix_cache ? EngineOptions::kAuto : 0;
          ToyOptions toy;
          toy.page_size = page_size;
          const uint32_t shuffle = static_cast<uint32_t>(batch + chunk) % 4;  // 0: as they were asked
          EXPECT_EQ(FirstDifference(asked, AskAll(asked, toy, options, shuffle)), "")
              << "batch " << batch << " chunk " << chunk << " page " << page_size << " cache "
              << prefix_cache;
        }
}

// The checks above must be able to fail.
TEST(EngineOnToy, PlantedFaultsAreFound) {
  const Asked asked = Everything();
  const std::vector<std::pair<ToyFault, const char*>> faults = {
      {ToyFault::kIgnoreOlderState, ":stale"}, {ToyFault::kIgnoreControl, ":"},
      {ToyFault::kIgnoreFusion, "@"},          {ToyFault::kMixCopies, "decode"},
      {ToyFault::kForgetFirstPage, "decode"},  {ToyFault::kMixRows, "decode"}};
  for (const auto& [fault, where] : faults) {
    ToyOptions toy;
    toy.fault = fault;
    EXPECT_THAT(FirstDifference(asked, AskAll(asked, toy, {})), HasSubstr(where));
  }
}

}  // namespace
}  // namespace fullband
