// Unusable configs: each row changes one thing of a good config.json and is refused by file and key.
#include <gtest/gtest.h>

#include <functional>

#include "tests/checkpoint/expect_error.h"
#include "tests/support/checkpoint_files.h"
#include "tests/support/random_model.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using nlohmann::json;

struct Case {
  const char* name;
  std::function<void(json&)> spoil;
  std::vector<std::string> expected;  // of the message, beside "config.json"
};

std::function<void(json&)> Set(const char* key, json value) {
  return [=](json& config) { config[key] = value; };
}

std::function<void(json&)> Erase(const char* key) {
  return [=](json& config) { config.erase(key); };
}

std::function<void(json&)> SetAll(json values) {
  return [=](json& config) { config.update(values); };
}

json Llama3(const char* left_out = "") {
  json rope = {{"rope_type", "llama3"},
               {"factor", 8.0},
               {"low_freq_factor", 1.0},
               {"high_freq_factor", 4.0},
               {"original_max_position_embeddings", 64}};
  rope.erase(left_out);
  return rope;
}

const std::vector<Case>& Cases() {
  static const std::vector<Case> kCases = {
      {"no_architecture", Erase("architectures"), {"architectures", "missing"}},
      {"architecture_word", Set("architectures", "LlamaForCausalLM"), {"architectures"}},
      {"two_architectures",
       Set("architectures", {"LlamaForCausalLM", "Qwen2ForCausalLM"}),
       {"architectures"}},
      {"unknown_architecture",
       Set("architectures", {"LamaForCausalLM"}),
       {"architectures", "LamaForCausalLM", "did you mean", "LlamaForCausalLM"}},
      {"no_hidden_size", Erase("hidden_size"), {"hidden_size", "missing"}},
      {"hidden_size_word", Set("hidden_size", "24"), {"hidden_size"}},
      {"hidden_size_fraction", Set("hidden_size", 24.5), {"hidden_size"}},
      {"hidden_size_zero", Set("hidden_size", 0), {"hidden_size"}},
      {"hidden_size_huge", Set("hidden_size", 18446744073709551615ull), {"hidden_size"}},
      {"negative_layers", Set("num_hidden_layers", -2), {"num_hidden_layers", "-2"}},
      {"huge_layers", Set("num_hidden_layers", 1'000'000'000), {"num_hidden_layers"}},
      {"no_heads", Erase("num_attention_heads"), {"num_attention_heads"}},
      {"kv_heads_not_dividing", Set("num_key_value_heads", 3), {"num_key_value_heads", "3"}},
      {"heads_not_dividing",
       SetAll({{"head_dim", nullptr}, {"num_attention_heads", 5}, {"num_key_value_heads", 5}}),
       {"num_attention_heads", "hidden_size"}},
      {"odd_head_dim", Set("head_dim", 5), {"head_dim", "even"}},
      {"vocab_zero", Set("vocab_size", 0), {"vocab_size"}},
      {"eps_negative", Set("rms_norm_eps", -1e-5), {"rms_norm_eps"}},
      {"eps_word", Set("rms_norm_eps", "1e-5"), {"rms_norm_eps"}},
      {"tie_number", Set("tie_word_embeddings", 1), {"tie_word_embeddings"}},
      {"gelu", Set("hidden_act", "gelu"), {"hidden_act", "gelu"}},
      {"quantized", Set("quantization_config", {{"bits", 4}}), {"quantization_config"}},
      {"softcap", Set("final_logit_softcapping", 30.0), {"final_logit_softcapping"}},
      {"experts", Set("num_local_experts", 8), {"num_local_experts"}},
      {"partial_rotation", Set("partial_rotary_factor", 0.5), {"partial_rotary_factor"}},
      {"theta_zero", Set("rope_theta", 0), {"rope_theta"}},
      {"theta_word", Set("rope_theta", "1e4"), {"rope_theta"}},
      {"two_thetas",
       Set("rope_parameters", {{"rope_type", "default"}, {"rope_theta", 5e5}}),
       {"rope_parameters", "rope_theta", "twice"}},
      {"rope_list", Set("rope_scaling", {1, 2}), {"rope_scaling"}},
      {"yarn",
       Set("rope_scaling", {{"rope_type", "yarn"}, {"factor", 4.0}}),
       {"rope_scaling", "rope_type", "yarn"}},
      {"dynamic", Set("rope_scaling", {{"type", "dynamic"}, {"factor", 4.0}}), {"rope_scaling", "dynamic"}},
      {"two_types",
       Set("rope_scaling", {{"type", "linear"}, {"rope_type", "llama3"}, {"factor", 4.0}}),
       {"rope_scaling", "type", "differs"}},
      {"linear_without_factor",
       Set("rope_scaling", {{"type", "linear"}}),
       {"rope_scaling", "factor", "missing"}},
      {"linear_factor_zero",
       Set("rope_scaling", {{"type", "linear"}, {"factor", 0}}),
       {"rope_scaling", "factor"}},
      {"factor_without_type", Set("rope_scaling", {{"factor", 2.0}}), {"rope_scaling", "factor"}},
      {"llama3_without_low",
       Set("rope_scaling", Llama3("low_freq_factor")),
       {"rope_scaling", "low_freq_factor"}},
      {"llama3_without_factor", Set("rope_parameters", Llama3("factor")), {"rope_parameters", "factor"}},
      {"llama3_crossed",
       [](json& config) {
         config["rope_scaling"] = Llama3();
         config["rope_scaling"]["high_freq_factor"] = 0.5;
       },
       {"rope_scaling", "high_freq_factor"}},
      {"two_scalings",
       SetAll({{"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}}, {"rope_parameters", Llama3()}}),
       {"rope_scaling", "differs"}},
      {"unknown_rope_key",
       Set("rope_scaling", {{"type", "linear"}, {"factor", 2.0}, {"beta_fast", 32}}),
       {"rope_scaling", "beta_fast"}},
      {"no_latent_feedback", Erase("latent_feedback"), {"latent_feedback", "missing"}},
      {"latent_word", Set("latent_feedback", "glu"), {"latent_feedback"}},
      {"no_fusion", Set("latent_feedback", json::object()), {"latent_feedback", "fusion"}},
      {"unknown_fusion",
       Set("latent_feedback", {{"fusion", "gluu"}}),
       {"fusion", "gluu", "did you mean glu"}},
      {"unknown_latent_key",
       Set("latent_feedback", {{"fusion", "glu"}, {"layer", 3}}),
       {"latent_feedback", "layer"}},
      {"end_token_word", Set("eos_token_id", "</s>"), {"eos_token_id"}},
      {"end_token_negative", Set("eos_token_id", {1, -1}), {"eos_token_id", "-1"}},
      {"end_token_beyond_vocabulary", Set("eos_token_id", 67), {"eos_token_id", "67"}},
      {"mistral_window",
       SetAll({{"architectures", {"MistralForCausalLM"}}, {"sliding_window", 128}}),
       {"sliding_window", "128"}},
      {"mistral_window_default",
       [](json& config) {
         config.update({{"architectures", {"MistralForCausalLM"}}, {"max_position_embeddings", 32768}});
         config.erase("sliding_window");
       },
       {"sliding_window", "4096"}},
      {"qwen_window",
       SetAll({{"architectures", {"Qwen2ForCausalLM"}},
               {"use_sliding_window", true},
               {"sliding_window", 128},
               {"max_window_layers", 1}}),
       {"sliding_window", "128"}},
      {"qwen_layer_types",
       SetAll({{"architectures", {"Qwen3ForCausalLM"}},
               {"layer_types", {"full_attention", "sliding_attention"}}}),
       {"layer_types"}},
  };
  return kCases;
}

class BrokenConfig : public testing::TestWithParam<Case> {};

TEST_P(BrokenConfig, IsRefusedByName) {
  TempFolder folder;
  const auto model = RandomModel(TinyLatentConfig());
  WriteCheckpoint(*model, folder.path());
  ASSERT_NO_THROW(LoadModel(folder.path()));
  json config = ConfigJson(model->config);
  GetParam().spoil(config);
  WriteText(folder.path() / "config.json", config.dump());
  std::vector<std::string> expected = GetParam().expected;
  expected.push_back("config.json");
  ExpectRefused(folder.path(), expected);
}

INSTANTIATE_TEST_SUITE_P(Table, BrokenConfig, testing::ValuesIn(Cases()),
                         [](const auto& info) { return std::string(info.param.name); });

struct TextCase {
  const char* name;
  const char* file;
  std::string text;
  std::vector<std::string> expected;
};

class BrokenJson : public testing::TestWithParam<TextCase> {};

TEST_P(BrokenJson, IsRefusedByName) {
  TempFolder folder;
  WriteCheckpoint(*RandomModel(TinyLatentConfig()), folder.path());
  WriteText(folder.path() / GetParam().file, GetParam().text);
  std::vector<std::string> expected = GetParam().expected;
  expected.push_back(GetParam().file);
  ExpectRefused(folder.path(), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BrokenJson,
    testing::Values(
        TextCase{"config_empty", "config.json", "", {"not valid JSON"}},
        TextCase{"config_cut", "config.json", "{\"architectures\": [", {"not valid JSON"}},
        TextCase{"config_list", "config.json", "[]", {"object"}},
        TextCase{"config_binary", "config.json", std::string("\0\1\2", 3), {"not valid JSON"}},
        TextCase{
            "config_key_twice", "config.json", R"({"vocab_size": 67, "vocab_size": 68})", {"vocab_size"}},
        TextCase{"control_in_key", "config.json", R"({"a\nb": 1, "a\nb": 1})", {"twice"}},
        TextCase{"generation_cut", "generation_config.json", "{", {"not valid JSON"}},
        TextCase{
            "generation_end", "generation_config.json", R"({"eos_token_id": [1, "2"]})", {"eos_token_id"}}),
    [](const auto& info) { return std::string(info.param.name); });

// Weights and config disagree on latent feedback: either may be the part at fault, so both are named.
TEST(LatentDisagreement, IsRefusedByTensor) {
  TempFolder folder;
  const auto ordinary = RandomModel(TinyConfig());
  WriteCheckpoint(*ordinary, folder.path());
  json config = ConfigJson(ordinary->config);
  config["latent_feedback"] = {{"fusion", "glu"}};
  WriteText(folder.path() / "config.json", config.dump());
  ExpectRefused(folder.path(),
                {"latent_feedback.state_proj.weight", "latent_feedback.token_gate.weight", "missing"});

  const auto latent = RandomModel(TinyLatentConfig());
  WriteCheckpoint(*latent, folder.path());
  config = ConfigJson(latent->config);
  config["latent_feedback"] = {{"fusion", "additive"}};
  WriteText(folder.path() / "config.json", config.dump());
  ExpectRefused(folder.path(), {"latent_feedback.token_gate.weight", "fusion"});
  config.update({{"latent_feedback", nullptr}, {"architectures", {"LlamaForCausalLM"}}});
  WriteText(folder.path() / "config.json", config.dump());
  ExpectRefused(folder.path(), {"latent_feedback.state_proj.weight", "latent_feedback"});
}

TEST(ModelFolder, UnknownOnesAreRefusedWithNearNames) {
  TempFolder folder;
  WriteCheckpoint(*RandomModel(TinyConfig()), folder.path() / "smollm2");
  std::filesystem::create_directory(folder.path() / "smollm");  // no checkpoint: not worth suggesting
  for (const char* name : {"smolm2", "smolm2/"}) {
    try {
      LoadModel(folder.path() / name);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      EXPECT_THAT(error.what(), testing::HasSubstr("did you mean smollm2?"));
    }
  }
  ExpectRefused(folder.path() / "smollm", {"config.json", "missing"});
  WriteText(folder.path() / "file", "");
  ExpectRefused(folder.path() / "file", {"not a folder"});
}

}  // namespace
}  // namespace fullband
