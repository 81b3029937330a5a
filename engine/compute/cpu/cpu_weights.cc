#include "engine/compute/cpu/cpu_weights.h"

#include <algorithm>
#include <array>
#include <span>

namespace fullband {
namespace {

// Matrices with the same input are packed as one.
std::array<LinearWeights, 3> AttentionInputs(const LayerWeights& w) {
  return {{{w.q, w.q_bias}, {w.k, w.k_bias}, {w.v, w.v_bias}}};
}
std::array<LinearWeights, 2> MlpInputs(const LayerWeights& w) {
  return {{{w.gate, w.gate_bias}, {w.up, w.up_bias}}};
}

std::array<Tensor, 7> MatricesOf(const LayerWeights& w) { return {w.q, w.k, w.v, w.o, w.gate, w.up, w.down}; }

// A tied head is the embedding.
std::array<Tensor, 4> MatricesBesideLayers(const Weights& w) {
  return {w.embedding, w.head.data == w.embedding.data ? Tensor() : w.head, w.state_proj, w.token_gate};
}

int64_t StoredBytes(std::span<const Tensor> tensors) {
  int64_t bytes = 0;
  for (const Tensor& tensor : tensors)
    if (tensor) bytes += tensor.size() * static_cast<int64_t>(DTypeSize(tensor.dtype));
  return bytes;
}

int64_t PackedLayerBytes(const LayerWeights& w) {
  return PackedBytes(AttentionInputs(w)) + PackedBytes(w.o, w.o_bias) + PackedBytes(MlpInputs(w)) +
         PackedBytes(w.down, w.down_bias);
}

CpuLayer PackLayer(const LayerWeights& w) {
  CpuLayer layer;
  layer.input_norm = PackVector(w.input_norm);
  layer.post_attention_norm = PackVector(w.post_attention_norm);
  layer.query_norm = PackVector(w.q_norm);
  layer.key_norm = PackVector(w.k_norm);
  const auto attention = AttentionInputs(w);
  layer.query_key_value = PackMatrix(attention);
  layer.output = PackMatrix(w.o, w.o_bias);
  const auto gate_up = MlpInputs(w);
  layer.gate_up = PackMatrix(gate_up);
  layer.down = PackMatrix(w.down, w.down_bias);
  return layer;
}

}  // namespace

CpuWeights PackWeights(const Model& model) {
  const Weights& w = model.weights;
  const auto release = [&](std::span<const Tensor> tensors) {
    if (!model.release) return;
    for (const Tensor& tensor : tensors) model.release(tensor);
  };
  CpuWeights packed;
  for (const LayerWeights& layer : w.layers) {
    packed.layers.push_back(PackLayer(layer));
    release(MatricesOf(layer));
  }
  packed.final_norm = PackVector(w.final_norm);
  packed.head = PackMatrix(w.head);
  if (w.state_proj) packed.state_proj = PackMatrix(w.state_proj);
  if (w.token_gate) packed.token_gate = PackMatrix(w.token_gate);
  release(MatricesBesideLayers(w));
  return packed;
}

PackingBytes BytesOfPacking(const Weights& w) {
  PackingBytes bytes;
  bytes.stored = StoredBytes(MatricesBesideLayers(w));
  for (const LayerWeights& layer : w.layers) bytes.stored += StoredBytes(MatricesOf(layer));
  int64_t mapped = bytes.stored;
  const auto pack = [&](int64_t& part, int64_t packed) {
    part += packed;
    bytes.peak = std::max(bytes.peak, mapped + bytes.packed());
  };
  for (const LayerWeights& layer : w.layers) {
    pack(bytes.layers, PackedLayerBytes(layer));
    mapped -= StoredBytes(MatricesOf(layer));
  }
  pack(bytes.head, PackedBytes(w.head));
  if (w.state_proj) pack(bytes.state_proj, PackedBytes(w.state_proj));
  if (w.token_gate) pack(bytes.token_gate, PackedBytes(w.token_gate));
  return bytes;
}

}  // namespace fullband
