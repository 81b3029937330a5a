// One line of a JSONL file, with checked access to its fields; for readers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/suite.h"

namespace fullband {

// Byte of the first sequence that is not UTF-8 (Unicode 15, table 3-7), or nothing.
std::optional<size_t> FirstBadByte(std::string_view text);

// Getters throw Error naming file, line and field.
class DataLine {
 public:
  // Throws Error where the text is empty, not UTF-8 or not a JSON object.
  DataLine(std::string_view text, const std::filesystem::path& path, size_t number);

  [[noreturn]] void Fail(const std::string& field, const std::string& why) const;

  const nlohmann::json& Field(const std::string& field) const;
  std::string Text(const std::string& field) const;                // not blank
  std::string AnyText(const std::string& field) const;             // may be blank
  std::vector<std::string> Texts(const std::string& field) const;  // none of them blank
  int64_t Integer(const std::string& field) const;
  // What is right of `choices` of them, from 0 on.
  int64_t Gold(const std::string& field, size_t choices) const;
  // The line's own id where it has one, else its row.
  std::string Id(size_t row) const;

 private:
  std::string CheckText(const std::string& field, const nlohmann::json& value) const;

  std::string where_;
  nlohmann::json value_;
};

// One item a line, its fields as `read_fields` makes them, under the id of DataLine::Id.
std::vector<Item> ReadLines(std::string_view bytes, const std::filesystem::path& path,
                            const std::function<nlohmann::json(const DataLine&)>& read_fields);

}  // namespace fullband
