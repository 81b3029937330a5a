#include "tests/support/random_model.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "common/hash.h"

namespace fullband {
namespace {

// Rounds to nearest, ties to even.
uint16_t ToBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// The same, for values below 65504 in size; scaling makes subnormal halves come out right.
uint16_t ToF16(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const float size = std::abs(value);
  if (size < 0x1p-14f) return sign | static_cast<uint16_t>(std::nearbyint(size * 0x1p24f));
  const uint32_t bits = std::bit_cast<uint32_t>(size);
  const uint32_t rounded = bits + 0xfff + ((bits >> 13) & 1);
  return sign | static_cast<uint16_t>((rounded >> 13) - ((127 - 15) << 10));
}

class Builder {
 public:
  Builder(DType dtype, uint64_t seed) : dtype_(dtype), seed_(seed) {}

  // Normal numbers of the given mean and deviation.
  Tensor Draw(int64_t rows, int64_t cols, double deviation, double mean = 0) {
    const size_t width = dtype_ == DType::kF32 ? 4 : 2;
    auto bytes = std::make_shared<std::vector<std::byte>>(rows * cols * width);
    for (int64_t i = 0; i < rows * cols; ++i) {
      const float value = static_cast<float>(mean + deviation * Normal());
      const uint16_t half = dtype_ == DType::kF16 ? ToF16(value) : ToBf16(value);
      std::memcpy(bytes->data() + i * width, dtype_ == DType::kF32 ? static_cast<const void*>(&value) : &half,
                  width);
    }
    buffers_->push_back(bytes);
    parameters_ += rows * cols;
    return {bytes->data(), dtype_, rows, cols};
  }

  Tensor Matrix(int64_t rows, int64_t cols, double gain = 1) {
    return Draw(rows, cols, gain / std::sqrt(cols));
  }
  Tensor Norm(int64_t size) { return Draw(size, 1, 0.2, 1); }
  Tensor Bias(bool present, int64_t size) { return present ? Draw(size, 1, 0.2) : Tensor{}; }

  int64_t parameters() const { return parameters_; }
  std::shared_ptr<const void> buffers() const { return buffers_; }

 private:
  double Uniform() { return (Mix64(seed_ * 0x9e3779b97f4a7c15ULL + counter_++) >> 11) * 0x1p-53; }
  // Box and Muller's.
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
    return radius * std::cos(2 * std::numbers::pi * Uniform());
  }

  DType dtype_;
  uint64_t seed_;
  uint64_t counter_ = 0;
  int64_t parameters_ = 0;
  std::shared_ptr<std::vector<std::shared_ptr<std::vector<std::byte>>>> buffers_ =
      std::make_shared<std::vector<std::shared_ptr<std::vector<std::byte>>>>();
};

LayerWeights RandomLayer(const ModelConfig& config, Builder& build) {
  const int64_t d = config.hidden_size, f = config.intermediate_size;
  const int64_t queries = int64_t{config.heads} * config.head_dim,
                keys = int64_t{config.kv_heads} * config.head_dim;
  LayerWeights layer;
  layer.input_norm = build.Norm(d);
  // Queries that are larger than usual make attention pick positions instead of averaging over all.
  layer.q = build.Matrix(queries, d, 2);
  layer.k = build.Matrix(keys, d);
  layer.v = build.Matrix(keys, d);
  layer.q_bias = build.Bias(config.qkv_bias, queries);
  layer.k_bias = build.Bias(config.qkv_bias, keys);
  layer.v_bias = build.Bias(config.qkv_bias, keys);
  if (config.qk_norm) {
    layer.q_norm = build.Norm(config.head_dim);
    layer.k_norm = build.Norm(config.head_dim);
  }
  layer.o = build.Matrix(d, queries);
  layer.o_bias = build.Bias(config.output_bias, d);
  layer.post_attention_norm = build.Norm(d);
  layer.gate = build.Matrix(f, d);
  layer.up = build.Matrix(f, d);
  layer.down = build.Matrix(d, f);
  layer.gate_bias = build.Bias(config.mlp_bias, f);
  layer.up_bias = build.Bias(config.mlp_bias, f);
  layer.down_bias = build.Bias(config.mlp_bias, d);
  return layer;
}

}  // namespace

ModelConfig TinyConfig() {
  ModelConfig config;
  config.architecture = "LlamaForCausalLM";
  config.hidden_size = 24;
  config.layers = 2;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 6;
  config.intermediate_size = 40;
  config.vocab_size = 67;
  config.max_positions = 512;
  config.rms_norm_eps = 1e-5;
  return config;
}

ModelConfig TinyLatentConfig() {
  ModelConfig config = TinyConfig();
  config.architecture = "FullBandwidthLlamaForCausalLM";
  config.fusion = Fusion::kGlu;
  return config;
}

std::shared_ptr<const Model> RandomModel(const ModelConfig& config, DType dtype, uint64_t seed) {
  const int64_t d = config.hidden_size, v = config.vocab_size;
  Builder build(dtype, seed);
  auto model = std::make_shared<Model>();
  model->config = config;
  Weights& weights = model->weights;
  weights.embedding = build.Draw(v, d, 0.5);
  weights.final_norm = build.Norm(d);
  weights.head = config.tied_embeddings ? weights.embedding : build.Matrix(v, d, 2);
  if (config.fusion != Fusion::kNone) weights.state_proj = build.Matrix(d, d);
  if (config.fusion == Fusion::kGlu) weights.token_gate = build.Matrix(d, d, 2);
  for (int i = 0; i < config.layers; ++i) weights.layers.push_back(RandomLayer(config, build));
  model->parameter_count = build.parameters();
  model->mapping = build.buffers();
  return model;
}

}  // namespace fullband
