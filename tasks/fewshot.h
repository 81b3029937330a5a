// The draw of few-shot examples: once a run, by seed, equal on every platform.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace fullband {

// A question as it is compared with others: letters A-Z in lower case, white space collapsed and trimmed. So
// the same question under another id or spacing is recognised.
std::string NormalisedQuestion(std::string_view question);

// Rows of `questions` (normalised) to use as shots, in prompt order. Rows are ranked by a seeded hash of
// their number; those whose question is in `excluded`, or stands at a better rank too, are passed over. So
// the draw of n shots begins the draw of n + 1. Fewer than `count` where there are no more.
std::vector<size_t> DrawShots(const std::vector<std::string>& questions,
                              const std::unordered_set<std::string>& excluded, uint64_t seed, size_t count);

// Instead of a draw: the first rows whose question is not in `excluded`, at most `count`.
std::vector<size_t> FirstShots(const std::vector<std::string>& questions,
                               const std::unordered_set<std::string>& excluded, size_t count);

}  // namespace fullband
