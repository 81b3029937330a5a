// A model's weights as the CPU's kernels want them.
#pragma once

#include <cstdint>
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

// Packs all weights on `threads` threads and, as it goes on, gives back the memory that the files' own order
// takes: afterwards of these only rows of the embedding are read. Throws Error where memory is not to be had.
CpuWeights PackWeights(const Model& model, int threads);

struct PackingBytes {
  int64_t stored = 0;  // in the files
  int64_t peak = 0;    // at most on the way, with the files' own that are still mapped
  // In the end:
  int64_t layers = 0, head = 0, state_proj = 0, token_gate = 0;
  int64_t packed() const { return layers + head + state_proj + token_gate; }
};

// What PackWeights takes, but for the few bytes of norms and strays. Reads some of the weights, since the
// form they are kept in depends on them (packed_matrix.h).
PackingBytes BytesOfPacking(const Weights& w, int threads);

}  // namespace fullband
