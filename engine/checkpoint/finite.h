// Looks for NaN and infinities in weights.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/checkpoint/model.h"

namespace fullband {

// Index of the first of `tensors` that holds a NaN or an infinity. Uses all processors: it reads every byte
// once.
std::optional<size_t> FirstNonFinite(const std::vector<Tensor>& tensors);

}  // namespace fullband
