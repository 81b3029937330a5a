#include "common/toml_table.h"

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

TomlTable::TomlTable(const toml::table& table, std::filesystem::path file, std::string kind,
                     std::string prefix)
    : table_(table), file_(std::move(file)), kind_(std::move(kind)), prefix_(std::move(prefix)) {}

bool TomlTable::Has(const std::string& key) const { return table_.contains(key); }

std::string TomlTable::Place(const std::string& key) const {
  const toml::node* node = table_.get(key);
  const auto line = node ? node->source().begin.line : table_.source().begin.line;
  return fmt::format("{}, line {}, {}{}", file_.string(), line, prefix_, key);
}

Error TomlTable::Wrong(const std::string& key, const std::string& why, const std::string& remedy) const {
  return Error(Place(key), why, remedy);
}

const toml::node& TomlTable::Required(const std::string& key) {
  asked_.insert(key);
  const toml::node* node = table_.get(key);
  if (!node) throw Wrong(key, "is missing", fmt::format("a {} must state it", kind_));
  return *node;
}

std::string TomlTable::Text(const std::string& key) {
  const toml::node& node = Required(key);
  if (!node.is_string()) throw Wrong(key, fmt::format("is of type {}, not a string", TypeName(node)));
  std::string text = **node.as_string();
  if (text.empty()) throw Wrong(key, "is empty");
  return text;
}

std::string TomlTable::Text(const std::string& key, const std::string& fallback) {
  asked_.insert(key);
  return Has(key) ? Text(key) : fallback;
}

int64_t TomlTable::Integer(const std::string& key, int64_t least, int64_t most) {
  return IntegerIn(Required(key), key, least, most);
}

int64_t TomlTable::IntegerIn(const toml::node& node, const std::string& key, int64_t least,
                             int64_t most) const {
  if (!node.is_integer()) throw Wrong(key, fmt::format("is of type {}, not a whole number", TypeName(node)));
  const int64_t value = **node.as_integer();
  if (value < least || value > most)
    throw Wrong(key, fmt::format("is {}", value), fmt::format("allowed: {} to {}", least, most));
  return value;
}

std::vector<int64_t> TomlTable::Integers(const std::string& key, int64_t least, int64_t most) {
  const toml::node& node = Required(key);
  if (!node.is_array()) return {IntegerIn(node, key, least, most)};
  std::vector<int64_t> values;
  for (const toml::node& element : *node.as_array()) values.push_back(IntegerIn(element, key, least, most));
  return values;
}

double TomlTable::Number(const std::string& key) {
  const toml::node& node = Required(key);
  if (!node.is_number()) throw Wrong(key, fmt::format("is of type {}, not a number", TypeName(node)));
  return node.is_integer() ? static_cast<double>(**node.as_integer()) : **node.as_floating_point();
}

bool TomlTable::IsText(const std::string& key) const {
  const toml::node* node = table_.get(key);
  return node != nullptr && node->is_string();
}

bool TomlTable::Boolean(const std::string& key, bool fallback) {
  asked_.insert(key);
  if (!Has(key)) return fallback;
  const toml::node& node = Required(key);
  if (!node.is_boolean()) throw Wrong(key, fmt::format("is of type {}, not true or false", TypeName(node)));
  return **node.as_boolean();
}

std::vector<std::string> TomlTable::Texts(const std::string& key) {
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

std::vector<std::string> TomlTable::Texts(const std::string& key, const std::vector<std::string>& fallback) {
  asked_.insert(key);
  return Has(key) ? Texts(key) : fallback;
}

std::vector<std::string> TomlTable::Keys() const {
  std::vector<std::string> keys;
  for (const auto& entry : table_) keys.emplace_back(entry.first.str());
  std::sort(keys.begin(), keys.end());
  return keys;
}

TomlTable TomlTable::Table(const std::string& key) {
  const toml::node& node = Required(key);
  if (!node.is_table()) throw Wrong(key, fmt::format("is of type {}, not a table", TypeName(node)));
  return TomlTable(*node.as_table(), file_, kind_, prefix_ + key + ".");
}

std::optional<TomlTable> TomlTable::OptionalTable(const std::string& key) {
  asked_.insert(key);
  if (!Has(key)) return std::nullopt;
  return Table(key);
}

std::vector<TomlTable> TomlTable::Tables(const std::string& key) {
  asked_.insert(key);
  std::vector<TomlTable> tables;
  if (!Has(key)) return tables;
  const toml::node& node = Required(key);
  const auto wrong = [&] {
    return Wrong(key, fmt::format("is of type {}, not an array of tables", TypeName(node)),
                 fmt::format("write [[{}]] above each", key));
  };
  if (!node.is_array()) throw wrong();
  for (const toml::node& element : *node.as_array()) {
    if (!element.is_table()) throw wrong();
    tables.push_back(TomlTable(*element.as_table(), file_, kind_, prefix_ + key + "."));
  }
  return tables;
}

void TomlTable::Finish() const {
  for (const auto& entry : table_) {
    const std::string key(entry.first.str());
    if (asked_.count(key)) continue;
    throw Wrong(key, fmt::format("is not a key of a {}", kind_),
                DidYouMean(key, {asked_.begin(), asked_.end()}));
  }
}

toml::table ParseTomlFile(const std::filesystem::path& file, const std::string& kind) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || !std::filesystem::is_regular_file(file))
    throw UsageError(file.string(), fmt::format("is not a {} that can be read", kind),
                     "give the path of a TOML file");
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
