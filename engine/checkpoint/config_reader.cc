#include "engine/checkpoint/config_reader.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "engine/checkpoint/json_file.h"

namespace fullband {

using nlohmann::json;

const json* ConfigReader::Find(const char* key) const {
  const auto found = object_->find(key);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

Error ConfigReader::Fault(const std::string& key, const std::string& why, const std::string& remedy) const {
  return Error(where_ + ": " + Printable(key), why, remedy);
}

int64_t ConfigReader::Integer(const char* key, const json& value, int64_t low, int64_t high) const {
  if (!value.is_number_integer())
    throw Fault(key, fmt::format("is not an integer: {}", Printable(value.dump())));
  const bool too_large = value.is_number_unsigned() &&
                         value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const int64_t number = too_large ? std::numeric_limits<int64_t>::max() : value.get<int64_t>();
  if (number < low || number > high)
    throw Fault(key, fmt::format("is {}, outside {} to {}", value.dump(), low, high));
  return number;
}

int ConfigReader::Int(const char* key, int64_t low, int64_t high, std::optional<int> absent) const {
  const json* value = Find(key);
  if (value) return static_cast<int>(Integer(key, *value, low, high));
  if (!absent) throw Fault(key, "is missing");
  return *absent;
}

double ConfigReader::Number(const char* key, double low, double high, std::optional<double> absent) const {
  const json* value = Find(key);
  if (!value) {
    if (!absent) throw Fault(key, "is missing");
    return *absent;
  }
  if (!value->is_number()) throw Fault(key, fmt::format("is not a number: {}", Printable(value->dump())));
  const double number = value->get<double>();
  if (!(number >= low && number <= high))
    throw Fault(key, fmt::format("is {}, outside {} to {}", value->dump(), low, high));
  return number;
}

bool ConfigReader::Bool(const char* key, bool absent) const {
  const json* value = Find(key);
  if (!value) return absent;
  if (!value->is_boolean())
    throw Fault(key, fmt::format("is not true or false: {}", Printable(value->dump())));
  return value->get<bool>();
}

std::string ConfigReader::String(const char* key, std::optional<std::string> absent) const {
  const json* value = Find(key);
  if (!value) {
    if (!absent) throw Fault(key, "is missing");
    return *absent;
  }
  if (!value->is_string()) throw Fault(key, fmt::format("is not a string: {}", Printable(value->dump())));
  return value->get<std::string>();
}

std::vector<int32_t> ConfigReader::IntOrInts(const char* key, int64_t low, int64_t high) const {
  const json* value = Find(key);
  std::vector<int32_t> numbers;
  if (!value) return numbers;
  if (!value->is_array()) return {static_cast<int32_t>(Integer(key, *value, low, high))};
  for (const json& element : *value)
    numbers.push_back(static_cast<int32_t>(Integer(key, element, low, high)));
  return numbers;
}

std::optional<ConfigReader> ConfigReader::Object(const char* key) const {
  const json* value = Find(key);
  if (!value) return std::nullopt;
  if (!value->is_object()) throw Fault(key, fmt::format("is not an object: {}", Printable(value->dump())));
  return ConfigReader(*value, where_ + ": " + key);
}

std::vector<std::string> ConfigReader::Keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object_->items())
    if (!value.is_null()) keys.push_back(key);
  return keys;
}

}  // namespace fullband
