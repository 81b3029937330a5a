// In which order samples are asked: of no consequence for any result, only for how long the last ones run
// alone.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace fullband {

// One sample still to be had.
struct Wanted {
  size_t question = 0;
  int sample = 0;
};

// What is known of a question's traces beforehand.
struct ExpectedLength {
  std::optional<double> tokens;  // the mean of traces it has had elsewhere
  size_t prompt = 0;             // tokens of its prompt: a longer question tends to have a longer answer
};

// Puts the last `tail` of those wanted in order of expected length, the longest first, so that a batch ends
// together: what starts last is short. `expected` is by question. Without an earlier trace a question is
// taken for as long as the mean of those that have one; equals are ordered by prompt, the samples of one
// question stay together. The others stay as they are.
void LongestFirstAtTail(const std::vector<ExpectedLength>& expected, size_t tail,
                        std::vector<Wanted>* wanted);

}  // namespace fullband
