#include "reports/charts/labels.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "reports/columns.h"
#include "reports/sections/suite_rows.h"

namespace fullband {
namespace {

constexpr size_t kNameLength = 40;
constexpr char kStandard[] = "standard";

// The characters of a text that is valid UTF-8.
std::vector<std::string_view> Characters(std::string_view text) {
  std::vector<std::string_view> characters;
  while (!text.empty()) {
    size_t size = 1;
    while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) ++size;
    characters.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return characters;
}

// What XML cannot hold, whatever its spelling.
bool IsNoncharacter(std::string_view character) {
  return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

// Without its middle, so that no more than `columns` are taken.
std::string Elided(const std::vector<std::string_view>& characters, int columns) {
  const int head = (columns - 1) * 3 / 5, tail = columns - 1 - head;
  std::string first, last;
  int used = 0;
  for (const std::string_view character : characters) {
    used += DisplayWidth(character);
    if (used > head) break;
    first += character;
  }
  used = 0;
  for (auto at = characters.rbegin(); at != characters.rend(); ++at) {
    used += DisplayWidth(*at);
    if (used > tail) break;
    last.insert(0, *at);
  }
  return first + "…" + last;
}

}  // namespace

std::string ChartText(std::string_view text, int columns) {
  std::string line = TerminalText(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::vector<std::string_view> characters = Characters(line);
  std::erase_if(characters, IsNoncharacter);
  std::string kept;
  for (const std::string_view character : characters) kept += character;
  if (kept.find_first_not_of(' ') == std::string::npos) return "–";
  return DisplayWidth(kept) <= columns ? kept : Elided(characters, columns);
}

std::string ChartName(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || upper;
    if (!kept && (name.empty() || name.back() == '_')) continue;
    name += upper ? static_cast<char>(c - 'A' + 'a') : kept ? c : '_';
    if (name.size() == kNameLength) break;
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name.empty() ? "chart" : name;
}

std::string TakeName(const std::string& name, std::set<std::string>* taken) {
  std::string tried = name;
  for (int number = 2; !taken->insert(tried).second; ++number) tried = fmt::format("{}_{}", name, number);
  return tried;
}

std::vector<std::string> Distinct(std::vector<std::string> texts) {
  std::set<std::string> taken;
  for (std::string& text : texts) {
    std::string tried = text;
    for (int number = 2; !taken.insert(tried).second; ++number) tried = fmt::format("{} ({})", text, number);
    text = tried;
  }
  return texts;
}

namespace {

std::vector<std::string> SettingsOf(std::span<const RunResults> runs) {
  std::vector<std::string> settings = {kStandard};
  for (const RunResults& results : runs) settings.push_back(results.run.setting);
  std::sort(settings.begin(), settings.end(), SettingBefore);
  settings.erase(std::unique(settings.begin(), settings.end()), settings.end());
  std::stable_partition(settings.begin(), settings.end(), [](const auto& name) { return name == kStandard; });
  return settings;
}

}  // namespace

ChartLooks::ChartLooks(std::span<const RunResults> runs) : ChartLooks(SettingsOf(runs)) {}

ChartLooks::ChartLooks(std::vector<std::string> names) : names_(std::move(names)) {
  for (const std::string& name : names_) shown_.push_back(ChartText(name));
  shown_ = Distinct(shown_);
}

ChartLooks ChartLooks::With(std::span<const std::string> names) const {
  std::vector<std::string> all = names_;
  for (const std::string& name : names) {
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  }
  return ChartLooks(all);
}

const std::string& ChartLooks::Shown(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) throw std::invalid_argument("a setting that no run of the report has");
  return shown_[static_cast<size_t>(found - names_.begin())];
}

std::vector<RunLabel> LabelRuns(std::span<const RunResults* const> runs, const ChartLooks& looks) {
  std::set<std::string> asked;
  for (const RunResults* results : runs) asked.insert(AskedAs(*results));
  // Models with one name and different weights are different groups.
  std::vector<std::string> names;
  std::map<int64_t, size_t> places;  // in `names`, by model
  for (const RunResults* results : runs) {
    if (places.emplace(results->model.id, names.size()).second)
      names.push_back(ChartText(results->model.name));
  }
  names = Distinct(names);
  std::vector<RunLabel> labels;
  std::map<std::pair<std::string, std::string>, int> times;
  for (const RunResults* results : runs) {
    std::string group = names[places[results->model.id]];
    if (asked.size() > 1) group += ", " + ChartText(AskedAs(*results));
    labels.push_back({group, looks.Shown(results->run.setting)});
    ++times[{group, labels.back().label}];
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    if (times[{labels[i].group, labels[i].label}] > 1)
      labels[i].label += fmt::format(" ({})", runs[i]->run.key.substr(0, 8));
  }
  return labels;
}

std::vector<std::string> GroupsOf(const std::vector<RunLabel>& labels) {
  std::vector<std::string> groups;
  for (const RunLabel& label : labels) {
    if (std::find(groups.begin(), groups.end(), label.group) == groups.end()) groups.push_back(label.group);
  }
  return groups;
}

}  // namespace fullband
