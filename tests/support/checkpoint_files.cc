#include "tests/support/checkpoint_files.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>

#include "engine/checkpoint/layout.h"

namespace fullband {
namespace {

using nlohmann::json;

const char* StoredName(DType dtype) {
  return dtype == DType::kF32 ? "F32" : dtype == DType::kF16 ? "F16" : "BF16";
}

json RopeJson(const RopeConfig& rope) {
  json out = {{"rope_type", rope.type == RopeType::kLinear ? "linear" : "llama3"}, {"factor", rope.factor}};
  if (rope.type == RopeType::kLlama3) {
    out["low_freq_factor"] = rope.low_freq_factor;
    out["high_freq_factor"] = rope.high_freq_factor;
    out["original_max_position_embeddings"] = rope.original_max_positions;
  }
  return out;
}

}  // namespace

void WriteText(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

json ConfigJson(const ModelConfig& c) {
  json out = {{"architectures", {c.architecture}},
              {"hidden_size", c.hidden_size},
              {"num_hidden_layers", c.layers},
              {"num_attention_heads", c.heads},
              {"num_key_value_heads", c.kv_heads},
              {"head_dim", c.head_dim},
              {"intermediate_size", c.intermediate_size},
              {"vocab_size", c.vocab_size},
              {"max_position_embeddings", c.max_positions},
              {"rms_norm_eps", c.rms_norm_eps},
              {"rope_theta", c.rope.theta},
              {"hidden_act", "silu"},
              {"tie_word_embeddings", c.tied_embeddings},
              {"attention_bias", c.output_bias},
              {"mlp_bias", c.mlp_bias},
              {"sliding_window", nullptr}};
  if (c.rope.type != RopeType::kDefault) out["rope_scaling"] = RopeJson(c.rope);
  if (c.fusion != Fusion::kNone)
    out["latent_feedback"] = {{"fusion", c.fusion == Fusion::kGlu ? "glu" : "additive"}};
  if (!c.end_tokens.empty()) out["eos_token_id"] = c.end_tokens;
  return out;
}

void AddTensor(const std::string& name, const Tensor& tensor, const std::vector<int64_t>& shape,
               SafetensorsParts* parts) {
  const size_t bytes = static_cast<size_t>(tensor.size()) * DTypeSize(tensor.dtype);
  const size_t begin = parts->data.size();
  parts->data.append(reinterpret_cast<const char*>(tensor.data), bytes);
  parts->header[name] = {
      {"dtype", StoredName(tensor.dtype)}, {"shape", shape}, {"data_offsets", {begin, begin + bytes}}};
}

SafetensorsParts AllTensors(const Model& model) {
  SafetensorsParts parts;
  Weights places = model.weights;
  for (const TensorSlot& slot : TensorSlots(model.config, &places))
    AddTensor(slot.name, *slot.tensor, slot.shape, &parts);
  return parts;
}

std::string SafetensorsBytes(const std::string& header, const std::string& data, int padding) {
  const uint64_t length = header.size() + static_cast<size_t>(padding);
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + std::string(static_cast<size_t>(padding), ' ') + data;
}

void WriteCheckpoint(const Model& model, const std::filesystem::path& folder, int shards) {
  std::filesystem::create_directories(folder);
  WriteText(folder / "config.json", ConfigJson(model.config).dump(1));
  if (shards == 1) {
    const SafetensorsParts parts = AllTensors(model);
    WriteText(folder / "model.safetensors", SafetensorsBytes(parts.header.dump(), parts.data));
    return;
  }
  std::vector<SafetensorsParts> parts(static_cast<size_t>(shards));
  json index = {{"metadata", {{"total_size", 0}}}, {"weight_map", json::object()}};
  Weights places = model.weights;
  size_t next = 0;
  for (const TensorSlot& slot : TensorSlots(model.config, &places)) {
    const size_t shard = next++ % parts.size();
    AddTensor(slot.name, *slot.tensor, slot.shape, &parts[shard]);
    index["weight_map"][slot.name] = fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, shards);
  }
  for (size_t i = 0; i < parts.size(); ++i)
    WriteText(folder / fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards),
              SafetensorsBytes(parts[i].header.dump(), parts[i].data));
  WriteText(folder / "model.safetensors.index.json", index.dump(1));
}

}  // namespace fullband
