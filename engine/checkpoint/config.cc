#include "engine/checkpoint/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "common/error.h"
#include "common/names.h"
#include "engine/checkpoint/config_reader.h"
#include "engine/checkpoint/json_file.h"

namespace fullband {
namespace {

namespace fs = std::filesystem;

// Numbers beyond these bounds are faults of the file, not large models.
constexpr int64_t kMaxWidth = 1 << 20;
constexpr int64_t kMaxLayers = 10'000;
constexpr int64_t kMaxHeads = 1 << 14;
constexpr int64_t kMaxHeadDim = 1 << 13;
constexpr int64_t kMaxVocab = 1 << 26;
constexpr int64_t kMaxPositions = 1 << 28;
constexpr double kMaxRopeTheta = 1e15;
constexpr double kMaxRopeFactor = 1e6;

// What Hugging Face's config class of the family takes where a key is absent, and what the family has.
struct Family {
  std::string architecture;
  std::optional<int> kv_heads;  // none: as many as query heads
  std::optional<int> head_dim;  // none: hidden_size / heads
  int max_positions;
  enum class Window { kNone, kMistral, kQwen } window;
  bool has_attention_bias_key;  // q, k, v and o bias by `attention_bias`
  bool has_mlp_bias_key;
  bool always_qkv_bias;
  bool qk_norm;
  bool must_have_latent_feedback;
};

const std::vector<Family>& Families() {
  using W = Family::Window;
  static const std::vector<Family> kFamilies = {
      //                                  kv heads      head dim      positions window       a.bias m.bias qkv
      //                                  norm   latent
      {"LlamaForCausalLM", std::nullopt, std::nullopt, 2048, W::kNone, true, true, false, false, false},
      {"FullBandwidthLlamaForCausalLM", std::nullopt, std::nullopt, 2048, W::kNone, true, true, false, false,
       true},
      {"MistralForCausalLM", 8, std::nullopt, 131072, W::kMistral, false, false, false, false, false},
      {"Qwen2ForCausalLM", 32, std::nullopt, 32768, W::kQwen, false, false, true, false, false},
      {"Qwen3ForCausalLM", 32, 128, 32768, W::kQwen, true, false, false, true, false},
  };
  return kFamilies;
}

const Family& FamilyOf(const ConfigReader& config) {
  const nlohmann::json* list = config.Find("architectures");
  if (!list) throw config.Fault("architectures", "is missing");
  if (!list->is_array() || list->size() != 1 || !list->front().is_string())
    throw config.Fault("architectures", "is not a list of one name");
  const std::string name = list->front().get<std::string>();
  std::vector<std::string> known;
  for (const Family& family : Families()) {
    if (family.architecture == name) return family;
    known.push_back(family.architecture);
  }
  throw config.Fault("architectures", fmt::format("{} is not a known architecture", Printable(name)),
                     DidYouMean(name, known));
}

// Keys of related families that change the computation. Leaving one unread would give wrong numbers.
void RefuseForeignFeatures(const ConfigReader& config) {
  static constexpr std::array kForeign = {
      "quantization_config",
      "attn_logit_softcapping",
      "final_logit_softcapping",
      "embedding_multiplier",
      "residual_multiplier",
      "attention_multiplier",
      "logits_scaling",
      "logit_scale",
      "clip_qkv",
      "num_experts",
      "num_local_experts",
      "no_rope_layers",
      "attention_chunk_size",
      "use_qk_norm",
      "query_pre_attn_scalar",
      "scale_emb",
      "scale_depth",
      "dim_model_base",
      "kv_lora_rank",
      "parallel_attn",
  };
  // false, and a multiplier of 1, mean that the feature is not used.
  for (const char* key : kForeign) {
    const nlohmann::json* value = config.Find(key);
    if (value && *value != nlohmann::json(false) && *value != nlohmann::json(1))
      throw config.Fault(key, "is a feature that the engine does not have", "");
  }
  const std::string activation = config.String("hidden_act", "silu");
  if (activation != "silu")
    throw config.Fault(
        "hidden_act", fmt::format("{} is an activation that the engine does not have", Printable(activation)),
        "only silu is supported");
  if (config.Number("partial_rotary_factor", 0, 1, 1.0) != 1.0)
    throw config.Fault("partial_rotary_factor", "partial rotation is a feature that the engine does not have",
                       "");
}

// A sliding window is accepted only where it cannot take effect.
void RefuseSlidingWindow(const ConfigReader& config, const Family& family, const ModelConfig& model) {
  constexpr int kDefaultWindow = 4096;  // of both families, where the key is absent (null means none)
  if (family.window == Family::Window::kNone) return;
  if (const nlohmann::json* types = config.Find("layer_types")) {
    if (!types->is_array() || std::any_of(types->begin(), types->end(), [](const nlohmann::json& type) {
          return type != nlohmann::json("full_attention");
        }))
      throw config.Fault("layer_types", "names other kinds of attention than full_attention", "");
  }
  bool in_use = true;
  if (family.window == Family::Window::kQwen)
    in_use = config.Bool("use_sliding_window", false) && !config.Has("layer_types") &&
             config.Int("max_window_layers", 0, kMaxPositions, 28) < model.layers;
  if (!in_use || config.IsNull("sliding_window")) return;
  const int window = config.Int("sliding_window", 1, kMaxPositions, kDefaultWindow);
  if (window < model.max_positions)
    throw config.Fault("sliding_window",
                       fmt::format("{}{} positions of {}: the engine has no sliding windows", window,
                                   config.Has("sliding_window") ? "" : " (the default)", model.max_positions),
                       "set it to null if the model was trained with full attention");
}

// The values of one rope object ("rope_parameters", or "rope_scaling" in older files), theta apart.
RopeConfig ReadRopeObject(const ConfigReader& rope, int max_positions) {
  static const std::map<std::string, RopeType> kTypes = {
      {"default", RopeType::kDefault}, {"linear", RopeType::kLinear}, {"llama3", RopeType::kLlama3}};
  const bool both = rope.Has("rope_type") && rope.Has("type");
  const std::string type = rope.String("rope_type", rope.String("type", "default"));
  if (both && rope.String("type") != type)
    throw rope.Fault("type", "differs from rope_type", "keep one of the two");
  const auto known = kTypes.find(type);
  if (known == kTypes.end())
    throw rope.Fault("rope_type",
                     fmt::format("{} is a rotary embedding that the engine does not have", Printable(type)),
                     "default, linear and llama3 are supported");
  std::set<std::string> allowed = {"rope_theta", "rope_type", "type", "partial_rotary_factor"};
  RopeConfig out;
  out.type = known->second;
  if (rope.Number("partial_rotary_factor", 0, 1, 1.0) != 1.0)
    throw rope.Fault("partial_rotary_factor", "partial rotation is a feature that the engine does not have",
                     "");
  if (out.type != RopeType::kDefault) {
    out.factor = rope.Number("factor", 1, kMaxRopeFactor);
    allowed.insert("factor");
  }
  if (out.type == RopeType::kLlama3) {
    out.low_freq_factor = rope.Number("low_freq_factor", 1e-6, kMaxRopeFactor);
    out.high_freq_factor = rope.Number("high_freq_factor", 1e-6, kMaxRopeFactor);
    out.original_max_positions =
        rope.Int("original_max_position_embeddings", 1, kMaxPositions, max_positions);
    if (out.high_freq_factor <= out.low_freq_factor)
      throw rope.Fault("high_freq_factor", "is not larger than low_freq_factor");
    allowed.insert({"low_freq_factor", "high_freq_factor"});
  }
  // Files state the original length for every type; only llama3 uses it.
  allowed.insert("original_max_position_embeddings");
  for (const std::string& key : rope.Keys())
    if (!allowed.contains(key))
      throw rope.Fault(key, fmt::format("has no meaning for the rope type {}", type));
  return out;
}

bool SameScaling(const RopeConfig& a, const RopeConfig& b) {
  return a.type == b.type && a.factor == b.factor && a.low_freq_factor == b.low_freq_factor &&
         a.high_freq_factor == b.high_freq_factor && a.original_max_positions == b.original_max_positions;
}

RopeConfig ReadRope(const ConfigReader& config, int max_positions) {
  constexpr double kSmallestTheta = 1.0;  // below it the frequencies would grow with the coordinate
  std::optional<RopeConfig> scaling;
  std::optional<double> theta;
  const auto add_theta = [&](const ConfigReader& source) {
    if (!source.Has("rope_theta")) return;
    const double stated = source.Number("rope_theta", kSmallestTheta, kMaxRopeTheta);
    if (theta && *theta != stated)
      throw source.Fault("rope_theta", fmt::format("is stated twice, differently: {} and {}", *theta, stated),
                         "keep one of the two");
    theta = stated;
  };
  add_theta(config);
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    const std::optional<ConfigReader> object = config.Object(key);
    if (!object || object->Keys().empty()) continue;
    add_theta(*object);
    const RopeConfig stated = ReadRopeObject(*object, max_positions);
    if (scaling && !SameScaling(*scaling, stated))
      throw config.Fault(key, "differs from rope_parameters", "keep one of the two");
    scaling = stated;
  }
  RopeConfig rope = scaling.value_or(RopeConfig{});
  rope.theta = theta.value_or(RopeConfig{}.theta);
  return rope;
}

Fusion ReadFusion(const ConfigReader& config, const Family& family) {
  const std::optional<ConfigReader> latent = config.Object("latent_feedback");
  if (!latent) {
    if (family.must_have_latent_feedback)
      throw config.Fault("latent_feedback", fmt::format("is missing, but {} has it", family.architecture),
                         "add {\"fusion\": \"glu\"}, or name LlamaForCausalLM for an ordinary model");
    return Fusion::kNone;
  }
  for (const std::string& key : latent->Keys())
    if (key != "fusion") throw latent->Fault(key, "is not a known key", "only fusion is");
  const std::string fusion = latent->String("fusion");
  if (fusion == "glu") return Fusion::kGlu;
  if (fusion == "additive") return Fusion::kAdditive;
  throw latent->Fault("fusion", fmt::format("{} is not a known fusion", Printable(fusion)),
                      DidYouMean(fusion, {"glu", "additive"}));
}

void ReadSizes(const ConfigReader& config, const Family& family, ModelConfig* model) {
  model->hidden_size = config.Int("hidden_size", 1, kMaxWidth);
  model->layers = config.Int("num_hidden_layers", 1, kMaxLayers);
  model->heads = config.Int("num_attention_heads", 1, kMaxHeads);
  const bool kv_null = config.IsNull("num_key_value_heads");
  model->kv_heads = config.Int("num_key_value_heads", 1, kMaxHeads,
                               kv_null ? model->heads : family.kv_heads.value_or(model->heads));
  if (model->heads % model->kv_heads != 0)
    throw config.Fault("num_key_value_heads", fmt::format("{} does not divide num_attention_heads {}",
                                                          model->kv_heads, model->heads));
  if (!config.Has("head_dim") && !family.head_dim && model->hidden_size % model->heads != 0)
    throw config.Fault("num_attention_heads",
                       fmt::format("{} does not divide hidden_size {}, and head_dim is missing", model->heads,
                                   model->hidden_size));
  model->head_dim =
      config.Int("head_dim", 2, kMaxHeadDim, family.head_dim.value_or(model->hidden_size / model->heads));
  if (model->head_dim < 2 || model->head_dim % 2 != 0)
    throw config.Fault("head_dim",
                       fmt::format("{} is not an even number: heads are rotated in halves", model->head_dim));
  model->intermediate_size = config.Int("intermediate_size", 1, kMaxWidth);
  model->vocab_size = config.Int("vocab_size", 1, kMaxVocab);
  model->max_positions = config.Int("max_position_embeddings", 1, kMaxPositions, family.max_positions);
  model->rms_norm_eps = config.Number("rms_norm_eps", 1e-30, 1, 1e-6);
}

std::vector<int32_t> ReadEndTokens(const ConfigReader& config, const fs::path& folder, int vocab_size) {
  std::vector<int32_t> tokens;
  const fs::path generation = folder / "generation_config.json";
  if (fs::exists(generation)) {
    const nlohmann::json content = ReadJsonFile(generation);
    tokens = ConfigReader(content, generation.string()).IntOrInts("eos_token_id", 0, vocab_size - 1);
  }
  if (tokens.empty()) tokens = config.IntOrInts("eos_token_id", 0, vocab_size - 1);
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

}  // namespace

ModelConfig ReadModelConfig(const fs::path& folder) {
  CheckModelFolder(folder);
  const fs::path path = folder / "config.json";
  const nlohmann::json content = ReadJsonFile(path);
  const ConfigReader config(content, path.string());
  const Family& family = FamilyOf(config);
  RefuseForeignFeatures(config);
  ModelConfig model;
  model.architecture = family.architecture;
  ReadSizes(config, family, &model);
  RefuseSlidingWindow(config, family, model);
  model.rope = ReadRope(config, model.max_positions);
  model.tied_embeddings = config.Bool("tie_word_embeddings", false);
  const bool attention_bias = family.has_attention_bias_key && config.Bool("attention_bias", false);
  model.qkv_bias = family.always_qkv_bias || attention_bias;
  model.output_bias = attention_bias;
  model.mlp_bias = family.has_mlp_bias_key && config.Bool("mlp_bias", false);
  model.qk_norm = family.qk_norm;
  model.fusion = ReadFusion(config, family);
  model.end_tokens = ReadEndTokens(config, folder, model.vocab_size);
  return model;
}

void CheckModelFolder(const fs::path& folder) {
  std::error_code failed;
  if (fs::is_directory(folder, failed)) {
    if (!fs::exists(folder / "config.json", failed))
      throw Error((folder / "config.json").string(), "is missing",
                  "--model takes a Hugging Face checkpoint folder");
    return;
  }
  if (fs::exists(folder, failed))
    throw UsageError(folder.string(), "is not a folder", "--model takes a Hugging Face checkpoint folder");
  fs::path named = folder.lexically_normal();
  if (!named.has_filename()) named = named.parent_path();  // "models/x/"
  const fs::path parent = named.has_parent_path() ? named.parent_path() : fs::path(".");
  std::vector<std::string> siblings;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, failed))
    if (fs::exists(entry.path() / "config.json", failed))
      siblings.push_back(entry.path().filename().string());
  const std::vector<std::string> near = NearNames(named.filename().string(), siblings);
  throw UsageError(folder.string(), "there is no such model folder",
                   near.empty() ? "--model takes a Hugging Face checkpoint folder"
                                : DidYouMean(named.filename().string(), siblings));
}

}  // namespace fullband
