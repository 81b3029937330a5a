// A checkpoint's weights as read-only views into memory-mapped files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/checkpoint/config.h"

namespace fullband {

enum class DType { kF32, kF16, kBF16 };

const char* DTypeName(DType type);  // "float32", "float16", "bfloat16"
size_t DTypeSize(DType type);       // bytes

// A row-major matrix [rows, cols], or a vector as [rows, 1]. Empty (data == nullptr) where a model has no
// such tensor. The data are little-endian and need not be aligned to more than one element.
struct Tensor {
  const std::byte* data = nullptr;
  DType dtype = DType::kF32;
  int64_t rows = 0;
  int64_t cols = 0;
  explicit operator bool() const { return data != nullptr; }
  int64_t size() const { return rows * cols; }
};

// Matrices are [outputs, inputs], as Hugging Face stores nn.Linear.
struct LayerWeights {
  Tensor input_norm;  // [D]
  Tensor q, k, v;     // [H*K, D], [G*K, D], [G*K, D]
  Tensor q_bias, k_bias, v_bias;
  Tensor q_norm, k_norm;       // [K]
  Tensor o, o_bias;            // [D, H*K], [D]
  Tensor post_attention_norm;  // [D]
  Tensor gate, up, down;       // [F, D], [F, D], [D, F]
  Tensor gate_bias, up_bias, down_bias;
};

struct Weights {
  Tensor embedding;   // [V, D]
  Tensor final_norm;  // [D]
  Tensor head;        // [V, D]; the same view as `embedding` where the two are tied
  Tensor state_proj;  // W^U [D, D]
  Tensor token_gate;  // W^G [D, D], glu only
  std::vector<LayerWeights> layers;
};

struct Model {
  std::filesystem::path folder;
  ModelConfig config;
  Weights weights;
  int64_t parameter_count = 0;          // a tied head counts once
  std::shared_ptr<const void> mapping;  // keeps the files mapped
  // Takes a tensor's pages of the file out of the process's memory; they come back when they are touched.
  // Empty where there are no files.
  std::function<void(const Tensor&)> release;
};

// Maps and checks a checkpoint folder. Throws Error naming file and tensor for: files that are truncated or
// whose header is not valid JSON, overlapping, negative or out-of-range offsets, tensors that are missing, of
// the wrong shape, of an unknown dtype, or that hold NaN or Inf.
std::shared_ptr<const Model> LoadModel(const std::filesystem::path& folder);

// SHA-256 over the tensors' names, dtypes, shapes and bytes in name order: the identity of the weights,
// whatever the sharding or the metadata. Computed on demand, cached in CacheFolder() by path, size and
// modification time.
std::string WeightsSha256(const Model& model);

// float32 value of element i.
float ElementAsFloat(const Tensor& tensor, int64_t i);

}  // namespace fullband
