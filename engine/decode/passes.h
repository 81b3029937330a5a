// The map that latent feedback iterates: all positions in parallel, each fused with the state that the pass
// before left at the position before it. Pass after pass over whole sequences, and the exact recurrence that
// the passes tend to: how far each pass moves the states, how far it is from the recurrence, what it
// predicts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/compute/backend.h"
#include "engine/decode/pool.h"

namespace fullband {

struct PassText {
  std::string name;             // for errors, e.g. "item 12"
  std::vector<int32_t> tokens;  // at least 2; the first is always plain
};

struct PassOptions {
  int passes = 2;                    // K; pass 1 is plain
  Control control = Control::kNone;  // spoils every fused position, also the recurrence's
  int batch = 16;                    // sequences in flight at most
  int chunk = 128;     // rows a step at most, except that the recurrence takes one of each sequence
  int64_t memory = 0;  // bytes of pages and states in flight, unless one sequence needs more
};

// One pass p over one sequence. The sums are of squares of h's coordinates, in double, by ascending position.
// Passes p-1 and p are the recurrence at positions below p-1 and p, whatever the map: what is left are the
// open positions.
struct PassSums {
  double moved = 0;             // |h(p) - h(p-1)|^2; pass 1: 0, as the next two
  double before = 0;            // |h(p-1)|^2
  double before_open = 0;       // the same over positions p-1 and later
  double apart = 0;             // |h(p) - h*|^2, h* being the recurrence's
  double exact = 0;             // |h*|^2
  double exact_open = 0;        // the same over positions p and later
  std::vector<float> logprobs;  // [tokens - 1] natural, of each token but the first
  std::vector<bool> greedy;     // whether that token was the arg max
};

struct SequencePasses {
  std::vector<PassSums> passes;
  PassSums recurrence;  // `exact`, log-probabilities and arg maxima
};

struct PassListener {
  std::function<void(size_t index, const SequencePasses& passes)> take;  // by ascending index
  std::function<void(int64_t rows)> advance;  // after every step: rows that it ran; may be empty
};

// Each sequence's figures are its own: they do not depend on batch, chunk, memory or threads, bit for bit. A
// pass goes on from the states of the one before it; nothing is run twice. Throws Error naming the text, the
// pass and the position where a state or a log-probability is not finite.
void RunPasses(Backend* backend, Places* places, std::span<const PassText> texts, const PassOptions& options,
               const PassListener& listener);

// Rows that this takes: passes and recurrence over all positions.
int64_t PassRows(std::span<const PassText> texts, int passes);

}  // namespace fullband
