// A model's weights as the CPU's kernels want them.
#pragma once

#include <initializer_list>
#include <vector>

#include "engine/checkpoint/model.h"
#include "engine/compute/cpu/packed_matrix.h"

namespace fullband {

struct CpuLayer {
  AlignedBuffer<float> input_norm, post_attention_norm;
  AlignedBuffer<float> query_norm, key_norm;  // empty without q/k norms
  PackedMatrix query_key_value, output, gate_up, down;
};

struct CpuWeights {
  std::vector<CpuLayer> layers;
  AlignedBuffer<float> final_norm;
  PackedMatrix head;
  PackedMatrix state_proj, token_gate;  // without panels where the model has no such matrix
};

inline CpuLayer PackLayer(const LayerWeights& w) {
  CpuLayer layer;
  layer.input_norm = PackVector(w.input_norm);
  layer.post_attention_norm = PackVector(w.post_attention_norm);
  layer.query_norm = PackVector(w.q_norm);
  layer.key_norm = PackVector(w.k_norm);
  const LinearWeights attention[] = {{w.q, w.q_bias}, {w.k, w.k_bias}, {w.v, w.v_bias}};
  layer.query_key_value = PackMatrix(attention);
  layer.output = PackMatrix(w.o, w.o_bias);
  const LinearWeights gate_up[] = {{w.gate, w.gate_bias}, {w.up, w.up_bias}};
  layer.gate_up = PackMatrix(gate_up);
  layer.down = PackMatrix(w.down, w.down_bias);
  return layer;
}

// Packs all weights and, as it goes on, gives back the memory that the files' own order takes: afterwards of
// these only rows of the embedding are read.
inline CpuWeights PackWeights(const Model& model) {
  const Weights& w = model.weights;
  const auto release = [&](std::initializer_list<Tensor> tensors) {
    if (!model.release) return;
    for (const Tensor& tensor : tensors) model.release(tensor);
  };
  CpuWeights packed;
  for (const LayerWeights& layer : w.layers) {
    packed.layers.push_back(PackLayer(layer));
    release({layer.q, layer.k, layer.v, layer.o, layer.gate, layer.up, layer.down});
  }
  packed.final_norm = PackVector(w.final_norm);
  packed.head = PackMatrix(w.head);
  if (w.state_proj) packed.state_proj = PackMatrix(w.state_proj);
  if (w.token_gate) packed.token_gate = PackMatrix(w.token_gate);
  release({w.head, w.embedding, w.state_proj, w.token_gate});
  return packed;
}

// Bytes that PackWeights takes, but for the norms' few.
inline int64_t PackedBytes(const Weights& w) {
  int64_t bytes = PackedBytes(w.head);
  if (w.state_proj) bytes += PackedBytes(w.state_proj);
  if (w.token_gate) bytes += PackedBytes(w.token_gate);
  for (const LayerWeights& layer : w.layers) {
    const LinearWeights attention[] = {
        {layer.q, layer.q_bias}, {layer.k, layer.k_bias}, {layer.v, layer.v_bias}};
    const LinearWeights gate_up[] = {{layer.gate, layer.gate_bias}, {layer.up, layer.up_bias}};
    bytes += PackedBytes(attention) + PackedBytes(layer.o, layer.o_bias) + PackedBytes(gate_up) +
             PackedBytes(layer.down, layer.down_bias);
  }
  return bytes;
}

}  // namespace fullband
