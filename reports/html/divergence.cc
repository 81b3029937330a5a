#include "reports/html/divergence.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace fullband {

SharedBeginnings ShareBeginnings(const std::vector<std::span<const int32_t>>& traces) {
  SharedBeginnings beginnings;
  beginnings.order.resize(traces.size());
  std::iota(beginnings.order.begin(), beginnings.order.end(), size_t{0});
  std::stable_sort(beginnings.order.begin(), beginnings.order.end(), [&](size_t a, size_t b) {
    return std::lexicographical_compare(traces[a].begin(), traces[a].end(), traces[b].begin(),
                                        traces[b].end());
  });
  for (size_t i = 0; i + 1 < traces.size(); ++i) {
    const auto& a = traces[beginnings.order[i]];
    const auto& b = traces[beginnings.order[i + 1]];
    const auto parted = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
    beginnings.shared.push_back(static_cast<size_t>(parted - a.begin()));
  }
  return beginnings;
}

std::vector<size_t> Partings(const SharedBeginnings& beginnings, size_t place,
                             const std::vector<std::span<const int32_t>>& traces) {
  std::set<size_t> found;
  const auto size_at = [&](size_t i) { return traces[beginnings.order[i]].size(); };
  const size_t own = size_at(place);
  const auto add = [&](size_t other, size_t least) {
    if (least < own || least < size_at(other)) found.insert(least);  // else they are the same
  };
  size_t least = own;
  for (size_t other = place + 1; other < beginnings.order.size(); ++other) {
    least = std::min(least, beginnings.shared[other - 1]);
    add(other, least);
  }
  least = own;
  for (size_t other = place; other-- > 0;) {
    least = std::min(least, beginnings.shared[other]);
    add(other, least);
  }
  return {found.begin(), found.end()};
}

}  // namespace fullband
