// Which tensors a model of a given config has: the one table that loading, hashing and writing share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/checkpoint/model.h"

namespace fullband {

struct TensorSlot {
  std::string name;            // as in a checkpoint, e.g. "model.layers.0.self_attn.q_proj.weight"
  std::vector<int64_t> shape;  // [outputs, inputs] or [size]
  Tensor* tensor;              // its place in the Weights
};

// One slot for every tensor that a checkpoint of this config must hold, sorted by name. A tied head has none.
// Sizes weights->layers to config.layers; the slots point into *weights.
std::vector<TensorSlot> TensorSlots(const ModelConfig& config, Weights* weights);

}  // namespace fullband
