// What good configs read as, family by family.
#include "engine/checkpoint/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/checkpoint_files.h"
#include "tests/support/random_model.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

ModelConfig Read(const json& config, const std::string& generation = "") {
  TempFolder folder;
  WriteText(folder.path() / "config.json", config.dump());
  if (!generation.empty()) WriteText(folder.path() / "generation_config.json", generation);
  return ReadModelConfig(folder.path());
}

// Only what no family has a default for.
json Bare(const char* architecture) {
  return {{"architectures", {architecture}}, {"hidden_size", 128},       {"num_hidden_layers", 2},
          {"num_attention_heads", 32},       {"intermediate_size", 256}, {"vocab_size", 100}};
}

TEST(Config, LlamaDefaults) {
  const ModelConfig config = Read(Bare("LlamaForCausalLM"));
  EXPECT_EQ(config.kv_heads, 32);
  EXPECT_EQ(config.head_dim, 4);
  EXPECT_EQ(config.max_positions, 2048);
  EXPECT_EQ(config.rms_norm_eps, 1e-6);
  EXPECT_EQ(config.rope.theta, 10000.0);
  EXPECT_EQ(config.rope.type, RopeType::kDefault);
  EXPECT_FALSE(config.tied_embeddings || config.qkv_bias || config.output_bias || config.mlp_bias ||
               config.qk_norm);
  EXPECT_EQ(config.fusion, Fusion::kNone);
  EXPECT_THAT(config.end_tokens, IsEmpty());
}

TEST(Config, LlamaBiases) {
  json raw = Bare("LlamaForCausalLM");
  raw.update({{"attention_bias", true}, {"mlp_bias", true}, {"tie_word_embeddings", true}});
  const ModelConfig config = Read(raw);
  EXPECT_TRUE(config.qkv_bias && config.output_bias && config.mlp_bias && config.tied_embeddings);
}

TEST(Config, Mistral) {
  json raw = Bare("MistralForCausalLM");
  raw["sliding_window"] = nullptr;
  const ModelConfig config = Read(raw);
  EXPECT_EQ(config.kv_heads, 8);
  EXPECT_EQ(config.max_positions, 131072);
  EXPECT_FALSE(config.qkv_bias || config.output_bias);
  // A window that no position reaches past has no effect.
  raw.update({{"sliding_window", 4096}, {"max_position_embeddings", 4096}});
  EXPECT_EQ(Read(raw).max_positions, 4096);
}

TEST(Config, Qwen2) {
  json raw = Bare("Qwen2ForCausalLM");
  raw.update({{"use_sliding_window", false}, {"sliding_window", 128}, {"attention_bias", false}});
  const ModelConfig config = Read(raw);
  EXPECT_TRUE(config.qkv_bias);
  EXPECT_FALSE(config.output_bias || config.qk_norm);
  EXPECT_EQ(config.kv_heads, 32);
}

TEST(Config, Qwen3) {
  const ModelConfig config = Read(Bare("Qwen3ForCausalLM"));
  EXPECT_TRUE(config.qk_norm);
  EXPECT_FALSE(config.qkv_bias || config.output_bias);
  EXPECT_EQ(config.head_dim, 128);
  json raw = Bare("Qwen3ForCausalLM");
  raw.update(
      {{"attention_bias", true}, {"head_dim", 16}, {"layer_types", {"full_attention", "full_attention"}}});
  const ModelConfig biased = Read(raw);
  EXPECT_TRUE(biased.qkv_bias && biased.output_bias);
  EXPECT_EQ(biased.head_dim, 16);
}

TEST(Config, NullKeyValueHeadsMeanAsManyAsQueryHeads) {
  for (const char* family :
       {"LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM"}) {
    json raw = Bare(family);
    raw.update({{"num_attention_heads", 16}, {"num_key_value_heads", nullptr}, {"sliding_window", nullptr}});
    EXPECT_EQ(Read(raw).kv_heads, 16) << family;
  }
}

TEST(Config, AnyFamilyMayCarryLatentFeedback) {
  for (const char* family :
       {"LlamaForCausalLM", "FullBandwidthLlamaForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM"}) {
    json raw = Bare(family);
    raw["latent_feedback"] = {{"fusion", "additive"}};
    EXPECT_EQ(Read(raw).fusion, Fusion::kAdditive) << family;
    raw["latent_feedback"] = {{"fusion", "glu"}};
    EXPECT_EQ(Read(raw).fusion, Fusion::kGlu) << family;
  }
}

TEST(Config, RopeThetaFromEitherPlace) {
  json raw = Bare("LlamaForCausalLM");
  raw["rope_theta"] = 500000;
  EXPECT_EQ(Read(raw).rope.theta, 500000.0);
  raw["rope_parameters"] = {{"rope_theta", 500000.0}, {"rope_type", "default"}};
  EXPECT_EQ(Read(raw).rope.theta, 500000.0);
  raw.erase("rope_theta");
  EXPECT_EQ(Read(raw).rope.theta, 500000.0);
  raw["rope_parameters"] = json::object();
  EXPECT_EQ(Read(raw).rope.theta, 10000.0);
}

TEST(Config, RopeScalings) {
  json raw = Bare("LlamaForCausalLM");
  raw["rope_scaling"] = {{"type", "linear"}, {"factor", 4}};
  EXPECT_EQ(Read(raw).rope.type, RopeType::kLinear);
  EXPECT_EQ(Read(raw).rope.factor, 4.0);
  raw["rope_scaling"] = {
      {"rope_type", "llama3"}, {"factor", 8.0}, {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0}};
  EXPECT_EQ(Read(raw).rope.original_max_positions, 2048);  // where absent: max_position_embeddings
  raw["rope_scaling"]["original_max_position_embeddings"] = 64;
  const RopeConfig rope = Read(raw).rope;
  EXPECT_EQ(rope.type, RopeType::kLlama3);
  EXPECT_EQ(rope.factor, 8.0);
  EXPECT_EQ(rope.low_freq_factor, 1.0);
  EXPECT_EQ(rope.high_freq_factor, 4.0);
  EXPECT_EQ(rope.original_max_positions, 64);
  EXPECT_EQ(rope.theta, 10000.0);
}

TEST(Config, EndTokens) {
  json raw = Bare("LlamaForCausalLM");
  raw["eos_token_id"] = 2;
  EXPECT_THAT(Read(raw).end_tokens, ElementsAre(2));
  EXPECT_THAT(Read(raw, R"({"eos_token_id": [7, 5, 7]})").end_tokens, ElementsAre(5, 7));
  EXPECT_THAT(Read(raw, R"({"eos_token_id": 9})").end_tokens, ElementsAre(9));
  // A generation config that states none leaves the word to config.json.
  EXPECT_THAT(Read(raw, R"({"eos_token_id": null})").end_tokens, ElementsAre(2));
  EXPECT_THAT(Read(raw, R"({"temperature": 0.6})").end_tokens, ElementsAre(2));
}

TEST(Config, NeutralForeignKeysAreNoFeature) {
  json raw = Bare("LlamaForCausalLM");
  raw.update({{"use_qk_norm", false},
              {"residual_multiplier", 1.0},
              {"quantization_config", nullptr},
              {"torch_dtype", "x"}});
  EXPECT_NO_THROW(Read(raw));
}

}  // namespace
}  // namespace fullband
