// Typed access to the keys of a JSON object; every fault names the file and the key.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"

namespace fullband {

// A null value counts as absent throughout: Hugging Face writes it for "not set".
class ConfigReader {
 public:
  // `where` starts error subjects, e.g. "folder/config.json"; `object` must outlive the reader.
  ConfigReader(const nlohmann::json& object, std::string where)
      : object_(&object), where_(std::move(where)) {}

  bool Has(const char* key) const { return Find(key) != nullptr; }
  // Stated, as null: some families tell that from an absent key.
  bool IsNull(const char* key) const { return object_->contains(key) && !Has(key); }
  // Null where absent.
  const nlohmann::json* Find(const char* key) const;

  // Without a default the key must be there.
  int Int(const char* key, int64_t low, int64_t high, std::optional<int> absent = std::nullopt) const;
  double Number(const char* key, double low, double high, std::optional<double> absent = std::nullopt) const;
  bool Bool(const char* key, bool absent) const;
  std::string String(const char* key, std::optional<std::string> absent = std::nullopt) const;
  // A number or a list of numbers in low .. high; empty where absent.
  std::vector<int32_t> IntOrInts(const char* key, int64_t low, int64_t high) const;
  // The nested object under `key`; nothing where absent.
  std::optional<ConfigReader> Object(const char* key) const;
  // The keys that are set.
  std::vector<std::string> Keys() const;

  Error Fault(const std::string& key, const std::string& why,
              const std::string& remedy = "correct the file") const;

 private:
  int64_t Integer(const char* key, const nlohmann::json& value, int64_t low, int64_t high) const;

  const nlohmann::json* object_;
  std::string where_;
};

}  // namespace fullband
