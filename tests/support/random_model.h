// Seeded random models without files, small enough for tests.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/checkpoint/model.h"

namespace fullband {

// A small model of the Llama kind with every switch at its plainest: 2 layers, D = 24, 4 query heads on 2
// key/value heads of width 6, F = 40, V = 67, untied, no biases, no feedback. Sizes are deliberately no
// multiples of a vector's width. Change fields to get the other kinds.
ModelConfig TinyConfig();

// The same with glu feedback.
ModelConfig TinyLatentConfig();

// A model with all the tensors that `config` asks for, in `dtype` (vectors too), drawn from `seed`: equal
// arguments give equal bytes on every platform. Matrices are scaled so that activations stay near 1 and
// logits differ by a few units; norm weights scatter around 1, biases around 0. The folder is empty: there
// are no files.
std::shared_ptr<const Model> RandomModel(const ModelConfig& config, DType dtype = DType::kF32,
                                         uint64_t seed = 1);

}  // namespace fullband
