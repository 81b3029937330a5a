#include "reports/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/figures.h"

namespace fullband {

namespace {

constexpr char kAll[] = "all", kMean[] = "mean";

std::vector<std::string> FieldsOf(const ItemResult& item) {
  std::vector<std::string> fields;
  for (const GroupValue& group : item.groups) fields.push_back(group.field);
  return fields;
}

// One run's item.
struct Entry {
  size_t run = 0;
  const ItemResult* item = nullptr;
};

// Entries that go into one row, or into the rows of one value of the first field.
struct Part {
  std::string label;
  std::vector<Entry> entries;
};

// 1, 2, 5, 10, 20, ...: the first width in which `span` + 1 numbers fill no more than kMostNumberRows ranges.
uint64_t RangeWidth(uint64_t span) {
  for (uint64_t power = 1;; power *= 10) {
    for (const uint64_t digit : {1, 2, 5}) {
      if (span / kMostNumberRows < digit * power) return digit * power;
    }
  }
}

// By the numbers of field `place`, each for itself or in ranges from the lowest on; ranges without items are
// left out.
std::vector<Part> PartsByNumber(const std::vector<Entry>& entries, size_t place) {
  std::map<int64_t, std::vector<Entry>> by_value;
  for (const Entry& entry : entries) by_value[*entry.item->groups[place].number].push_back(entry);
  const int64_t least = by_value.begin()->first;
  // Unsigned, since the distance of two numbers need not fit a signed one.
  const auto distance = [least](int64_t value) {
    return static_cast<uint64_t>(value) - static_cast<uint64_t>(least);
  };
  const int64_t most = by_value.rbegin()->first;
  const uint64_t width = by_value.size() <= kMostNumberRows ? 1 : RangeWidth(distance(most));
  std::map<uint64_t, Part> parts;
  for (const auto& [value, of_value] : by_value) {
    const uint64_t index = distance(value) / width;
    Part& part = parts[index];
    if (part.label.empty()) {
      const int64_t first = value - static_cast<int64_t>(distance(value) % width);
      const int64_t last =
          distance(most) - distance(first) < width ? most : first + static_cast<int64_t>(width - 1);
      part.label = first == last ? fmt::format("{}", first) : fmt::format("{} – {}", first, last);
    }
    part.entries.insert(part.entries.end(), of_value.begin(), of_value.end());
  }
  std::vector<Part> out;
  for (auto& [index, part] : parts) out.push_back(std::move(part));
  return out;
}

// By the texts of field `place`, in order of appearance.
std::vector<Part> PartsByText(const std::vector<Entry>& entries, size_t place) {
  std::vector<Part> parts;
  std::map<std::string, size_t> places;
  for (const Entry& entry : entries) {
    const std::string& text = entry.item->groups[place].text;
    const auto [found, fresh] = places.emplace(text, parts.size());
    if (fresh) parts.push_back({text, {}});
    parts[found->second].entries.push_back(entry);
  }
  return parts;
}

bool ByNumber(const std::vector<Entry>& entries, size_t place) {
  return std::all_of(entries.begin(), entries.end(),
                     [place](const Entry& entry) { return entry.item->groups[place].number.has_value(); });
}

std::vector<Part> Parts(const std::vector<Entry>& entries, size_t place) {
  return ByNumber(entries, place) ? PartsByNumber(entries, place) : PartsByText(entries, place);
}

class Builder {
 public:
  explicit Builder(Breakdown* breakdown) : breakdown_(*breakdown) {}

  // The rows of `entries` from field `place` on, under the labels of the fields before it, then their sum.
  void Add(const std::vector<Entry>& entries, size_t place, const std::vector<std::string>& labels) {
    const size_t fields = breakdown_.fields.size(), first = breakdown_.rows.size();
    const std::vector<Part> parts = Parts(entries, place);
    for (const Part& part : parts) {
      std::vector<std::string> more = labels;
      more.push_back(part.label);
      if (place + 1 < fields)
        Add(part.entries, place + 1, more);
      else
        AddRow(part.entries, more);
    }
    if (parts.size() < 2) return;  // the sum would say the same again
    std::vector<std::string> sum = labels;
    sum.resize(fields, kAll);
    AddRow(entries, sum);
    breakdown_.rows.back().kind = BreakdownRow::Kind::kSum;
    if (!ByNumber(entries, fields - 1)) AddMean(first, sum);
  }

 private:
  void AddRow(const std::vector<Entry>& entries, const std::vector<std::string>& labels) {
    BreakdownRow& row = breakdown_.rows.emplace_back();
    row.labels = labels;
    row.cells.resize(breakdown_.runs.size());
    for (const Entry& entry : entries) {
      const std::optional<double> score = ItemScore(*entry.item, breakdown_.runs[entry.run]->run.headline);
      if (!score) continue;
      ++row.cells[entry.run].items;
      row.cells[entry.run].correct += *score;
    }
  }

  // Of the rows from `first` on that have values, each with the same weight; a run's rows without items are
  // none.
  void AddMean(size_t first, std::vector<std::string> labels) {
    labels.back() = kMean;
    BreakdownRow mean{labels, std::vector<BreakdownCell>(breakdown_.runs.size()), BreakdownRow::Kind::kMean};
    for (size_t i = first; i < breakdown_.rows.size(); ++i) {
      if (breakdown_.rows[i].kind != BreakdownRow::Kind::kValues) continue;
      for (size_t run = 0; run < mean.cells.size(); ++run) {
        const std::optional<double> share = breakdown_.rows[i].cells[run].Share();
        if (!share) continue;
        ++mean.cells[run].items;
        mean.cells[run].correct += *share;
      }
    }
    breakdown_.rows.push_back(std::move(mean));
  }

  Breakdown& breakdown_;
};

}  // namespace

std::optional<double> BreakdownCell::Share() const {
  if (items == 0) return std::nullopt;
  return correct / static_cast<double>(items);
}

std::vector<Breakdown> BreakDown(std::span<const RunResults> runs) {
  std::vector<Breakdown> breakdowns;
  std::vector<std::vector<Entry>> entries;  // of each
  for (const RunResults& results : runs) {
    for (const ItemResult& item : results.items) {
      const std::vector<std::string> fields = FieldsOf(item);
      if (fields.empty()) continue;
      auto found = std::find_if(breakdowns.begin(), breakdowns.end(),
                                [&](const Breakdown& breakdown) { return breakdown.fields == fields; });
      const auto index = static_cast<size_t>(found - breakdowns.begin());
      if (found == breakdowns.end()) {
        breakdowns.push_back({fields, {}, {}});
        entries.emplace_back();
      }
      std::vector<const RunResults*>& its_runs = breakdowns[index].runs;
      if (its_runs.empty() || its_runs.back() != &results) its_runs.push_back(&results);
      entries[index].push_back({its_runs.size() - 1, &item});
    }
  }
  for (size_t i = 0; i < breakdowns.size(); ++i) Builder(&breakdowns[i]).Add(entries[i], 0, {});
  return breakdowns;
}

}  // namespace fullband
