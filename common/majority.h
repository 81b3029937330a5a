// maj@k: how likely the answer that most of k samples of an item give is right.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace fullband {

// How the samples of an item voted.
struct Votes {
  int64_t right = 0;           // for the right answer
  std::vector<int64_t> wrong;  // for each wrong answer
  int64_t none = 0;            // samples without an answer: they can be chosen, and have no vote

  int64_t samples() const;
};

// Over all choices of k of the samples: the mean chance that the answer with the most votes is the right one,
// where answers with equally many are drawn from evenly. Where no chosen sample has a vote, there is no right
// answer. Exact for every k, without drawing choices. Nothing for k > samples. Throws std::invalid_argument
// for negative counts or k < 1.
std::optional<double> MajorityAtK(const Votes& votes, int64_t k);

}  // namespace fullband
