// Random weights in memory, to time shapes that no checkpoint has. What such a model says means nothing, and
// it has no folder and no hash, so that no run can be made of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/checkpoint/model.h"

namespace fullband {

// "width=512,layers=8,…": width (a multiple of 64) is needed; layers 8, heads width / 64, kv_heads heads,
// inner 8/3 width, vocabulary 32000, context 2048, dtype float32 (or bfloat16) where they are not given.
struct RandomShape {
  ModelConfig config;
  DType dtype = DType::kF32;
  // Throws a usage Error that names the part.
  static RandomShape Parse(const std::string& text);
};

// A Llama of that shape. Equal arguments give equal bytes.
std::shared_ptr<const Model> DrawModel(const RandomShape& shape, uint64_t seed);

// The same model with W^U and W^G (glu) drawn in the dtype of its embedding. Throws a usage Error where it
// has feedback of its own.
std::shared_ptr<const Model> WithRandomFeedback(std::shared_ptr<const Model> model, uint64_t seed);

}  // namespace fullband
