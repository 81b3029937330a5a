// Writes checkpoint folders for tests, whole ones and the parts that a test may then spoil.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/checkpoint/model.h"

namespace fullband {

void WriteText(const std::filesystem::path& path, const std::string& text);

// The config.json that reads back as `config`.
nlohmann::json ConfigJson(const ModelConfig& config);

// A .safetensors file in parts.
struct SafetensorsParts {
  nlohmann::json header = nlohmann::json::object();  // name -> {dtype, shape, data_offsets}
  std::string data;
};

void AddTensor(const std::string& name, const Tensor& tensor, const std::vector<int64_t>& shape,
               SafetensorsParts* parts);
// All tensors of a model, in name order.
SafetensorsParts AllTensors(const Model& model);
// The file's bytes. `padding` spaces follow the header, to shift the data's alignment.
std::string SafetensorsBytes(const std::string& header, const std::string& data, int padding = 0);

// config.json and the weights, in one file or in shards with an index.
void WriteCheckpoint(const Model& model, const std::filesystem::path& folder, int shards = 1);

}  // namespace fullband
