#include "reports/comparisons/identities.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

namespace fullband {
namespace {

using nlohmann::json;
using Leaves = std::map<std::string, std::string>;

// Leaves of a JSON value by their dotted names.
void Flatten(const json& value, const std::string& name, Leaves* leaves) {
  if (!value.is_object()) {
    (*leaves)[name] = value.dump(-1, ' ', false, json::error_handler_t::replace);
    return;
  }
  for (const auto& [key, inner] : value.items())
    Flatten(inner, name.empty() ? key : name + '.' + key, leaves);
}

std::string Short(const std::string& text) {
  constexpr size_t kMost = 40;
  if (text.size() <= kMost) return text;
  size_t end = kMost - 3;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // no half characters
  return text.substr(0, end) + "...";
}

bool Begins(const std::string& name, const std::string& part) {
  return name == part || (name.starts_with(part) && name[part.size()] == '.');
}

// What two models are told apart by, and what a checkpoint brings along.
bool OfTheModel(const std::string& name) {
  constexpr std::array kNames = {"weights",   "config",           "end_tokens",
                                 "tokenizer", "numerics.weights", "imported.model"};
  return std::any_of(kNames.begin(), kNames.end(), [&](const char* part) { return Begins(name, part); });
}

}  // namespace

const Leaves& Identities::Of(const RunResults& run) {
  const auto [place, is_new] = leaves_.try_emplace(&run);
  if (is_new) Flatten(json::parse(run.run.identity, nullptr, false), "", &place->second);
  return place->second;
}

std::string Identities::Leaf(const RunResults& run, const std::string& name) {
  const Leaves& leaves = Of(run);
  const auto found = leaves.find(name);
  return found == leaves.end() ? "" : found->second;
}

std::vector<std::string> Identities::Differences(const RunResults& a, const RunResults& b) {
  const Leaves &left = Of(a), &right = Of(b);
  const bool same_model = a.run.model_id == b.run.model_id;
  std::set<std::string> names;
  for (const Leaves* leaves : {&left, &right})
    for (const auto& [name, value] : *leaves) names.insert(name);
  std::vector<std::string> differences;
  for (const std::string& name : names) {
    // Two imported runs are two files, whatever was done.
    if (name == "setting" || name == "imported.file_sha256" || name == "imported.fields") continue;
    if (!same_model && OfTheModel(name)) continue;
    const auto value = [&](const Leaves& leaves) {
      const auto found = leaves.find(name);
      return found == leaves.end() ? std::string("none") : found->second;
    };
    const std::string x = value(left), y = value(right);
    if (x != y) differences.push_back(fmt::format("{} ({}, {})", name, Short(x), Short(y)));
  }
  return differences;
}

}  // namespace fullband
