// The engine on the CPU backend with random weights: the semantics' properties, and the numbers against
// double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "engine/engine.h"
#include "tests/decode/semantics.h"
#include "tests/support/random_model.h"
#include "tests/support/reference_model.h"

namespace fullband {
namespace {

// Log-probabilities from float32 activations over two small layers; logits differ by a few units.
constexpr float kTolerance = 2e-4f;
constexpr int kNew = 6;

struct Kind {
  const char* name;
  ModelConfig config;
  DType dtype;
};

std::vector<Kind> Kinds() {
  ModelConfig glu = TinyLatentConfig(), additive = TinyLatentConfig();
  additive.fusion = Fusion::kAdditive;
  additive.tied_embeddings = true;
  additive.qkv_bias = true;
  additive.qk_norm = true;
  return {{"glu float32", glu, DType::kF32}, {"additive bfloat16", additive, DType::kBF16}};
}

std::vector<std::string> Settings(const Kind& kind) {
  std::vector<std::string> names = {"standard",     "latent",     "latent@2",        "latent@3:stale",
                                    "latent@exact", "standard@2", "latent:reversed", "standard@exact:stale",
                                    "latent@2:zero"};
  if (kind.config.fusion == Fusion::kGlu) names.push_back("latent@2:constant_gate");
  return names;
}

std::vector<int32_t> Prompt(int length) {
  std::vector<int32_t> tokens;
  for (int i = 0; i < length; ++i) tokens.push_back((i * 29 + length) % 67);
  return tokens;
}

// One thread unless said otherwise: on a busy machine two of them wait for each other most of the time.
struct Circumstances {
  Circumstances() { options.threads = 1; }
  EngineOptions options;
  bool reversed = false;
};

// Generates in every setting from several prompts, and scores under some; by id.
std::map<uint64_t, Answer> AskAll(const Kind& kind, const std::shared_ptr<const Model>& model,
                                  const Circumstances& run) {
  Engine engine(MakeCpuBackend(model, {.threads = run.options.threads, .target = ""}), nullptr, run.options);
  std::vector<GenerateRequest> requests;
  for (const std::string& name : Settings(kind))
    for (int length : {1, 2, 21}) {
      GenerateRequest request;
      request.id = requests.size();
      request.prompt = Prompt(length);
      request.setting = Setting::Parse(name);
      request.max_new_tokens = kNew;
      requests.push_back(request);
    }
  if (run.reversed) std::reverse(requests.begin(), requests.end());
  for (const GenerateRequest& request : requests) engine.Submit(request);
  for (const char* name : {"parallel@2", "parallel@3:stale"}) {
    ScoreRequest request;
    request.id = 1000 + static_cast<uint64_t>(name[9]);
    request.context = Prompt(5);
    request.continuation = Prompt(18);
    request.setting = Setting::Parse(name);
    engine.Submit(request);
  }
  std::map<uint64_t, Answer> answers;
  while (std::optional<Answer> answer = engine.Next()) answers[answer->id] = *answer;
  return answers;
}

std::vector<std::pair<int32_t, float>> Chosen(const Answer& answer) {
  std::vector<std::pair<int32_t, float>> chosen;
  for (const GeneratedToken& token : answer.tokens) chosen.emplace_back(token.id, token.logprob);
  return chosen;
}

std::vector<int32_t> Ids(const Answer& answer) {
  std::vector<int32_t> ids;
  for (const GeneratedToken& token : answer.tokens) ids.push_back(token.id);
  return ids;
}

TEST(EngineOnCpu, DecodesAsTheSemanticsSay) {
  for (const Kind& kind : Kinds()) {
    const auto model = RandomModel(kind.config, kind.dtype);
    const ReferenceModel reference(*model);
    const Semantics<ReferenceModel> semantics(reference);
    const std::map<uint64_t, Answer> answers = AskAll(kind, model, {});
    uint64_t id = 0;
    for (const std::string& name : Settings(kind))
      for (int length : {1, 2, 21}) {
        const Answer& answer = answers.at(id++);
        ASSERT_EQ(answer.tokens.size(), static_cast<size_t>(kNew));
        const auto expected = semantics.Decode(Prompt(length), Ids(answer), name);
        for (int i = 0; i < kNew; ++i) {
          const GeneratedToken& token = answer.tokens[static_cast<size_t>(i)];
          const std::vector<float>& row = expected[static_cast<size_t>(i)];
          EXPECT_NEAR(token.logprob, row[static_cast<size_t>(token.id)], kTolerance)
              << kind.name << " " << name << " " << length << " step " << i;
          EXPECT_LE(*std::max_element(row.begin(), row.end()), token.logprob + 2 * kTolerance);
        }
      }
    for (const char* name : {"parallel@2", "parallel@3:stale"}) {
      const auto expected = semantics.Score(Prompt(5), Prompt(18), name);
      const Answer& answer = answers.at(1000 + static_cast<uint64_t>(name[9]));
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(answer.logprobs.at(i), expected[i], kTolerance) << name;
    }
  }
}

// Property 3, bit for bit.
TEST(EngineOnCpu, DecodingIsScoredAsItWasDecoded) {
  for (const Kind& kind : Kinds()) {
    const auto model = RandomModel(kind.config, kind.dtype);
    const std::map<uint64_t, Answer> answers = AskAll(kind, model, {});
    Engine engine(MakeCpuBackend(model, {.threads = 1, .target = ""}), nullptr, {});
    uint64_t id = 0;
    for (const std::string& name : Settings(kind))
      for (int length : {1, 2, 21}) {
        ScoreRequest request;
        request.id = id;
        request.context = Prompt(length);
        request.continuation = Ids(answers.at(id++));
        request.setting = Setting::Parse(name);
        engine.Submit(request);
      }
    while (std::optional<Answer> answer = engine.Next()) {
      const Answer& decoded = answers.at(answer->id);
      ASSERT_EQ(answer->logprobs.size(), decoded.tokens.size());
      for (size_t i = 0; i < decoded.tokens.size(); ++i) {
        EXPECT_EQ(answer->logprobs[i], decoded.tokens[i].logprob) << kind.name << " request " << answer->id;
        EXPECT_TRUE(answer->greedy[i]);
      }
    }
  }
}

// Properties 2 and 7: one-pass prompts give one first token, whatever the mode and the control.
TEST(EngineOnCpu, TheFirstTokenIsSharedAndLaterOnesAreNot) {
  for (const Kind& kind : Kinds()) {
    const std::map<uint64_t, Answer> answers = AskAll(kind, RandomModel(kind.config, kind.dtype), {});
    const std::vector<std::string> names = Settings(kind);
    const auto of = [&](const char* name, uint64_t prompt) {
      const auto at = std::find(names.begin(), names.end(), name) - names.begin();
      return Chosen(answers.at(static_cast<uint64_t>(at) * 3 + prompt));
    };
    for (uint64_t prompt : {0, 1, 2}) {
      EXPECT_EQ(of("standard", prompt)[0], of("latent", prompt)[0]);
      EXPECT_EQ(of("latent:reversed", prompt)[0], of("latent", prompt)[0]);
      EXPECT_NE(of("standard", prompt)[1], of("latent", prompt)[1]);
      EXPECT_NE(of("latent:reversed", prompt)[1], of("latent", prompt)[1]);
    }
  }
}

// Property 6.
TEST(EngineOnCpu, SchedulingChangesNotOneBit) {
  for (const Kind& kind : Kinds()) {
    const auto model = RandomModel(kind.config, kind.dtype);
    const std::map<uint64_t, Answer> expected = AskAll(kind, model, {});
    std::vector<Circumstances> runs;
    for (int batch : {1, 3, 16})
      for (int chunk : {1, 7, 64})
        for (bool prefix_cache : {false, true}) {
          Circumstances run;
          run.options.threads = 1 + chunk % 2;
          run.options.batch = batch;
          run.options.chunk = chunk;
          run.options.prefix_cache = prefix_cache ? EngineOptions::kAuto : 0;
          run.reversed = batch == 3;
          runs.push_back(run);
        }

    for (const Circumstances& run : runs) {
      const std::map<uint64_t, Answer> answers = AskAll(kind, model, run);
      ASSERT_EQ(answers.size(), expected.size());
      for (const auto& [id, answer] : answers) {
        EXPECT_EQ(Chosen(answer), Chosen(expected.at(id)));
        EXPECT_EQ(answer.logprobs, expected.at(id).logprobs);
        EXPECT_EQ(answer.min_state_rms, expected.at(id).min_state_rms);
        EXPECT_EQ(answer.max_state_rms, expected.at(id).max_state_rms);
      }
    }
  }
}

}  // namespace
}  // namespace fullband
