#include "tests/decode/cover.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace fullband {
namespace {

using Value = std::pair<size_t, size_t>;  // factor, value

// The pairs that no row has yet, by their first and second value, the factors ascending.
class Open {
 public:
  explicit Open(const std::vector<size_t>& sizes) {
    for (size_t f = 0; f < sizes.size(); ++f)
      for (size_t g = f + 1; g < sizes.size(); ++g)
        for (size_t a = 0; a < sizes[f]; ++a)
          for (size_t b = 0; b < sizes[g]; ++b) pairs_[{{f, a}, {g, b}}] = true;
  }
  void Close(const CoverRow& row) {
    for (size_t f = 0; f < row.size(); ++f)
      for (size_t g = f + 1; g < row.size(); ++g) pairs_.erase({{f, row[f]}, {g, row[g]}});
  }
  bool Has(const Value& a, const Value& b) const { return pairs_.contains(std::minmax(a, b)); }
  std::pair<Value, Value> First() const { return pairs_.begin()->first; }
  size_t size() const { return pairs_.size(); }

 private:
  std::map<std::pair<Value, Value>, bool> pairs_;
};

// Of factor `f` the value that closes most pairs with those chosen; the earliest of equals from `from` on, so
// that values that close nothing take turns.
size_t BestValue(const Open& open, const std::vector<std::optional<size_t>>& chosen, size_t f, size_t size,
                 size_t from) {
  size_t best = from % size, most = 0;
  for (size_t i = 0; i < size; ++i) {
    const size_t value = (from + i) % size;
    size_t closed = 0;
    for (size_t g = 0; g < chosen.size(); ++g)
      closed += chosen[g].has_value() && open.Has({f, value}, {g, *chosen[g]});
    if (closed <= most) continue;
    most = closed;
    best = value;
  }
  return best;
}

}  // namespace

size_t MissingPairs(const std::vector<size_t>& sizes, const std::vector<CoverRow>& rows) {
  Open open(sizes);
  for (const CoverRow& row : rows) open.Close(row);
  return open.size();
}

std::vector<CoverRow> PairwiseCover(const std::vector<size_t>& sizes) {
  Open open(sizes);
  std::vector<CoverRow> rows;
  while (open.size() > 0) {
    const auto [a, b] = open.First();
    std::vector<std::optional<size_t>> chosen(sizes.size());
    chosen[a.first] = a.second;
    chosen[b.first] = b.second;
    for (size_t f = 0; f < sizes.size(); ++f)
      if (!chosen[f]) chosen[f] = BestValue(open, chosen, f, sizes[f], rows.size());
    CoverRow row;
    for (const std::optional<size_t>& value : chosen) row.push_back(*value);
    open.Close(row);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace fullband
