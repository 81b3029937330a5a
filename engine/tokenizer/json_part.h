// A value inside a JSON file together with its place there, so that every complaint names the place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/error.h"

namespace fullband {

class JsonPart {
 public:
  // Borrows `value`. `path` is the place of the value in `file`, "" for the whole of it.
  JsonPart(const nlohmann::json& value, std::string file, std::string path)
      : value_(&value), file_(std::move(file)), path_(std::move(path)) {}

  // Reads a file. Throws Error where it cannot be read or is not JSON.
  static nlohmann::json ReadFile(const std::filesystem::path& file);

  const nlohmann::json& value() const { return *value_; }
  bool IsNull() const { return value_->is_null(); }

  // The member `key` of an object: required, or empty where it is absent or null.
  JsonPart At(std::string_view key) const;
  std::optional<JsonPart> Find(std::string_view key) const;
  // The elements of an array.
  size_t Size() const;
  JsonPart operator[](size_t index) const;

  const std::string& String() const;
  bool Bool() const;
  // A token id: 0 to kMaxId.
  int32_t TokenId() const;
  static bool IsTokenId(const nlohmann::json& value) {
    return value.is_number_unsigned() && value.get<uint64_t>() <= static_cast<uint64_t>(kMaxId);
  }
  // The member `key`, or `fallback` where it is absent or null.
  bool BoolOr(std::string_view key, bool fallback) const;
  std::string StringOr(std::string_view key, std::string_view fallback) const;

  // An Error about this part.
  Error Fault(const std::string& why, const std::string& remedy = "") const;
  // An Error saying that this part is of a kind that the tokenizer does not have.
  Error Unsupported(const std::string& kind, const std::string& known) const;

  // Far above any vocabulary; ids index arrays, so a stray one must not decide how much memory is taken.
  static constexpr int32_t kMaxId = (1 << 24) - 1;

 private:
  void RequireObject() const;

  const nlohmann::json* value_;
  std::string file_, path_;
};

}  // namespace fullband
