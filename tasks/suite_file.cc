#include "tasks/suite_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "common/names.h"

namespace fullband {
namespace {

std::string TypeName(const toml::node& node) {
  std::ostringstream text;
  text << node.type();
  return text.str();
}

}  // namespace

SuiteTable::SuiteTable(const toml::table& table, std::filesystem::path file, std::string prefix)
    : table_(table), file_(std::move(file)), prefix_(std::move(prefix)) {}

bool SuiteTable::Has(const std::string& key) const { return table_.contains(key); }

Error SuiteTable::Wrong(const std::string& key, const std::string& why, const std::string& remedy) const {
  const toml::node* node = table_.get(key);
  const auto line = node ? node->source().begin.line : table_.source().begin.line;
  return Error(fmt::format("{}, line {}, {}{}", file_.string(), line, prefix_, key), why, remedy);
}

const toml::node& SuiteTable::Required(const std::string& key) {
  asked_.insert(key);
  const toml::node* node = table_.get(key);
  if (!node) throw Wrong(key, "is missing", "a suite file must state it");
  return *node;
}

std::string SuiteTable::Text(const std::string& key) {
  const toml::node& node = Required(key);
  if (!node.is_string()) throw Wrong(key, fmt::format("is of type {}, not a string", TypeName(node)));
  std::string text = **node.as_string();
  if (text.empty()) throw Wrong(key, "is empty");
  return text;
}

std::string SuiteTable::Text(const std::string& key, const std::string& fallback) {
  asked_.insert(key);
  return Has(key) ? Text(key) : fallback;
}

int64_t SuiteTable::Integer(const std::string& key, int64_t least, int64_t most) {
  const toml::node& node = Required(key);
  if (!node.is_integer()) throw Wrong(key, fmt::format("is of type {}, not a whole number", TypeName(node)));
  const int64_t value = **node.as_integer();
  if (value < least || value > most)
    throw Wrong(key, fmt::format("is {}", value), fmt::format("allowed: {} to {}", least, most));
  return value;
}

bool SuiteTable::Boolean(const std::string& key, bool fallback) {
  asked_.insert(key);
  if (!Has(key)) return fallback;
  const toml::node& node = Required(key);
  if (!node.is_boolean()) throw Wrong(key, fmt::format("is of type {}, not true or false", TypeName(node)));
  return **node.as_boolean();
}

std::vector<std::string> SuiteTable::Texts(const std::string& key) {
  const toml::node& node = Required(key);
  if (!node.is_array())
    throw Wrong(key, fmt::format("is of type {}, not an array of strings", TypeName(node)));
  std::vector<std::string> texts;
  for (const toml::node& element : *node.as_array()) {
    if (!element.is_string())
      throw Wrong(key, fmt::format("holds a value of type {}, not only strings", TypeName(element)));
    texts.push_back(**element.as_string());
    if (texts.back().empty()) throw Wrong(key, "holds an empty string");
  }
  return texts;
}

std::vector<std::string> SuiteTable::Texts(const std::string& key, const std::vector<std::string>& fallback) {
  asked_.insert(key);
  return Has(key) ? Texts(key) : fallback;
}

std::vector<std::string> SuiteTable::Keys() const {
  std::vector<std::string> keys;
  for (const auto& entry : table_) keys.emplace_back(entry.first.str());
  std::sort(keys.begin(), keys.end());
  return keys;
}

SuiteTable SuiteTable::Table(const std::string& key) {
  const toml::node& node = Required(key);
  if (!node.is_table()) throw Wrong(key, fmt::format("is of type {}, not a table", TypeName(node)));
  return SuiteTable(*node.as_table(), file_, prefix_ + key + ".");
}

std::optional<SuiteTable> SuiteTable::OptionalTable(const std::string& key) {
  asked_.insert(key);
  if (!Has(key)) return std::nullopt;
  return Table(key);
}

void SuiteTable::Finish() const {
  for (const auto& entry : table_) {
    const std::string key(entry.first.str());
    if (asked_.count(key)) continue;
    throw Wrong(key, "is not a key of a suite file", DidYouMean(key, {asked_.begin(), asked_.end()}));
  }
}

toml::table ParseTomlFile(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || !std::filesystem::is_regular_file(file))
    throw UsageError(file.string(), "is not a suite file that can be read", "give the path of a TOML file");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  try {
    return toml::parse(text, file.string());
  } catch (const toml::parse_error& error) {
    throw Error(fmt::format("{}, line {}", file.string(), error.source().begin.line),
                std::string(error.description()), "correct the TOML");
  }
}

nlohmann::json TomlAsJson(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& entry : *table) object[std::string(entry.first.str())] = TomlAsJson(entry.second);
    return object;
  }
  if (const auto* array = node.as_array()) {
    nlohmann::json list = nlohmann::json::array();
    for (const toml::node& element : *array) list.push_back(TomlAsJson(element));
    return list;
  }
  if (const auto* text = node.as_string()) return **text;
  if (const auto* integer = node.as_integer()) return **integer;
  if (const auto* number = node.as_floating_point()) return **number;
  if (const auto* boolean = node.as_boolean()) return **boolean;
  std::ostringstream date;
  date << node.type();
  return date.str();
}

}  // namespace fullband
