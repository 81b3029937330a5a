// What config.json says about a model, in one plain struct.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fullband {

// How the previous top-layer state is fused with the token's embedding (paper, equation 4).
enum class Fusion {
  kNone,      // an ordinary model
  kGlu,       // (W^U h) * sigmoid(W^G e)
  kAdditive,  // e + W^U h
};

enum class RopeType { kDefault, kLinear, kLlama3 };

struct RopeConfig {
  RopeType type = RopeType::kDefault;
  double theta = 10000.0;
  double factor = 1.0;             // linear, llama3
  double low_freq_factor = 1.0;    // llama3
  double high_freq_factor = 4.0;   // llama3
  int original_max_positions = 0;  // llama3
};

// Families differ in these switches only; every one of them is pre-norm, rotary (half-split), gated SiLU.
struct ModelConfig {
  std::string architecture;  // as in config.json, e.g. "LlamaForCausalLM"
  int hidden_size = 0;       // D
  int layers = 0;
  int heads = 0;     // H, query heads
  int kv_heads = 0;  // G, divides H
  int head_dim = 0;  // K, even
  int intermediate_size = 0;
  int vocab_size = 0;  // V
  int max_positions = 0;
  double rms_norm_eps = 0;
  RopeConfig rope;
  bool tied_embeddings = false;
  bool qkv_bias = false;
  bool output_bias = false;  // o_proj
  bool mlp_bias = false;
  bool qk_norm = false;  // RMSNorm over each head's K numbers, before the rotation (Qwen3)
  Fusion fusion = Fusion::kNone;
  // Tokens that end generation: generation_config.json's eos_token_id, else config.json's. May be empty.
  std::vector<int32_t> end_tokens;
};

// Reads config.json and generation_config.json of a checkpoint folder.
// Throws Error naming the file and the key: missing or ill-typed keys, unknown architectures, features that
// the engine does not have (sliding windows, other activations, other rope types, quantisation).
ModelConfig ReadModelConfig(const std::filesystem::path& folder);

// Throws Error where `folder` does not exist (suggesting folders beside it with near names) or has no
// config.json.
void CheckModelFolder(const std::filesystem::path& folder);

}  // namespace fullband
