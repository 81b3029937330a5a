#include "tasks/json_toml.h"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace fullband {
namespace {

using TomlValue = std::variant<toml::table, toml::array, std::string, bool, double, int64_t>;

TomlValue ValueAsToml(const nlohmann::json& value) {
  if (value.is_object()) return JsonAsToml(value);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_number_integer()) return value.get<int64_t>();
  toml::array array;
  for (const nlohmann::json& element : value)
    std::visit([&array](auto&& node) { array.push_back(std::move(node)); }, ValueAsToml(element));
  return array;
}

}  // namespace

toml::table JsonAsToml(const nlohmann::json& object) {
  toml::table table;
  for (const auto& [key, value] : object.items())
    std::visit([&, &name = key](auto&& node) { table.insert(name, std::move(node)); }, ValueAsToml(value));
  return table;
}

}  // namespace fullband
