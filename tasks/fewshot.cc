#include "tasks/fewshot.h"

#include <algorithm>
#include <utility>

#include "common/hash.h"

namespace fullband {

std::string NormalisedQuestion(std::string_view question) {
  std::string normal;
  bool space = false;
  for (const char c : question) {
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      space = !normal.empty();
      continue;
    }
    if (space) normal += ' ';
    space = false;
    normal += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return normal;
}

std::vector<size_t> DrawShots(const std::vector<std::string>& questions,
                              const std::unordered_set<std::string>& excluded, uint64_t seed, size_t count) {
  std::vector<std::pair<uint64_t, size_t>> ranks;
  ranks.reserve(questions.size());
  const uint64_t stream = Mix64(seed);
  for (size_t row = 0; row < questions.size(); ++row) ranks.emplace_back(Mix64(stream ^ row), row);
  std::sort(ranks.begin(), ranks.end());
  std::vector<size_t> drawn;
  std::unordered_set<std::string> used = excluded;
  for (size_t i = 0; i < ranks.size() && drawn.size() < count; ++i) {
    const size_t row = ranks[i].second;
    if (used.insert(questions[row]).second) drawn.push_back(row);
  }
  return drawn;
}

std::vector<size_t> FirstShots(const std::vector<std::string>& questions,
                               const std::unordered_set<std::string>& excluded, size_t count) {
  std::vector<size_t> rows;
  for (size_t row = 0; row < questions.size() && rows.size() < count; ++row)
    if (!excluded.contains(questions[row])) rows.push_back(row);
  return rows;
}

}  // namespace fullband
