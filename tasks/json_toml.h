// From JSON to TOML: the reverse of TomlAsJson (common/toml_table.h), for tables without dates.
#pragma once

#include <toml++/toml.h>

#include <nlohmann/json.hpp>

namespace fullband {

// `object` holds no null, which TOML does not have.
toml::table JsonAsToml(const nlohmann::json& object);

}  // namespace fullband
