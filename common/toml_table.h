// Strict reading of TOML files: each key is asked for by name and type, and what nobody asked for is refused.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/error.h"

namespace fullband {

// One table of the file. Getters throw Error naming file, line and key.
class TomlTable {
 public:
  // `kind` is what errors call the file ("suite file"); `prefix` is the table's own name with a dot, or empty
  // for the whole file. The parsed table outlives this one.
  TomlTable(const toml::table& table, std::filesystem::path file, std::string kind, std::string prefix = "");

  bool Has(const std::string& key) const;
  std::string Text(const std::string& key);
  std::string Text(const std::string& key, const std::string& fallback);
  int64_t Integer(const std::string& key, int64_t least, int64_t most);
  // Whole numbers are numbers, too.
  double Number(const std::string& key);
  // One whole number, or an array of them.
  std::vector<int64_t> Integers(const std::string& key, int64_t least, int64_t most);
  bool IsText(const std::string& key) const;
  bool Boolean(const std::string& key, bool fallback);
  std::vector<std::string> Texts(const std::string& key);
  std::vector<std::string> Texts(const std::string& key, const std::vector<std::string>& fallback);
  std::vector<std::string> Keys() const;  // sorted
  // Keys that are known here, so that a misspelt one finds them, though no getter may ask for them.
  void MayHave(const std::vector<std::string>& keys) { asked_.insert(keys.begin(), keys.end()); }
  TomlTable Table(const std::string& key);
  std::optional<TomlTable> OptionalTable(const std::string& key);
  // An array of tables, [[key]]; none where the file has none.
  std::vector<TomlTable> Tables(const std::string& key);

  // Throws where the table has a key that no getter asked for, with near names among those that could be.
  void Finish() const;
  // "FILE, line 3, generate.gold", as errors name it; the table's own line where it has no such key.
  std::string Place(const std::string& key) const;
  // The error for a value that reads well and makes no sense.
  Error Wrong(const std::string& key, const std::string& why, const std::string& remedy = "") const;

 private:
  const toml::node& Required(const std::string& key);
  int64_t IntegerIn(const toml::node& node, const std::string& key, int64_t least, int64_t most) const;

  const toml::table& table_;
  std::filesystem::path file_;
  std::string kind_, prefix_;
  std::set<std::string> asked_;
};

// Throws Error naming file and line where the file cannot be read or is not TOML.
toml::table ParseTomlFile(const std::filesystem::path& file, const std::string& kind);

nlohmann::json TomlAsJson(const toml::node& node);

}  // namespace fullband
