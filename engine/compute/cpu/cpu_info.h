// What the CPU backend says of itself, without a model: results are identified by it.
#pragma once

#include "engine/compute/backend.h"

namespace fullband {

// Throws Error where `options.target` does not exist here.
BackendInfo CpuInfo(const CpuOptions& options);

}  // namespace fullband
