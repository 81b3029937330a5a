#include "common/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fullband {
namespace {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> NearNames(std::string_view name, const std::vector<std::string>& known) {
  const size_t limit = std::max<size_t>(2, name.size() / 3);
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& candidate : known) {
    const bool extends = !name.empty() && candidate.find(name) != std::string::npos;
    const size_t distance = extends ? 1 : EditDistance(name, candidate);
    if (distance <= limit) near.emplace_back(distance, candidate);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < near.size() && i < 3; ++i) names.push_back(near[i].second);
  return names;
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& known) {
  const std::vector<std::string> near = NearNames(name, known);
  if (!near.empty()) return fmt::format("did you mean {}?", fmt::join(near, ", "));
  return fmt::format("known: {}", fmt::join(known, ", "));
}

}  // namespace fullband
