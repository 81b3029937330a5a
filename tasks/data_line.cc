#include "tasks/data_line.h"

#include <fmt/format.h>

#include "common/error.h"
#include "common/json_text.h"

namespace fullband {

std::optional<size_t> FirstBadByte(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  for (size_t i = 0; i < text.size();) {
    const unsigned char lead = byte(i);
    size_t length = lead < 0x80   ? 1
                    : lead < 0xc2 ? 0
                    : lead < 0xe0 ? 2
                    : lead < 0xf0 ? 3
                    : lead < 0xf5 ? 4
                                  : 0;
    if (length == 0 || i + length > text.size()) return i;
    for (size_t k = 1; k < length; ++k)
      if ((byte(i + k) & 0xc0) != 0x80) return i;
    if (length > 2) {
      const unsigned char second = byte(i + 1);
      const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
      const bool surrogate = lead == 0xed && second > 0x9f;
      const bool too_large = lead == 0xf4 && second > 0x8f;
      if (overlong || surrogate || too_large) return i;
    }
    i += length;
  }
  return std::nullopt;
}

DataLine::DataLine(std::string_view text, const std::filesystem::path& path, size_t number)
    : where_(fmt::format("{}, line {}", path.string(), number)) {
  if (const auto bad = FirstBadByte(text))
    throw Error(where_, fmt::format("is not UTF-8: byte {} of the line", *bad + 1),
                "convert the file to UTF-8");
  if (text.find_first_not_of(" \t\r") == std::string_view::npos)
    throw Error(where_, "is empty", "each line of a JSONL file is one JSON object");
  try {
    value_ = ParseJson(text);
  } catch (const JsonFault& fault) {
    throw Error(where_, fmt::format("is not valid JSON: {}", fault.what()),
                "is the file complete? each line is one JSON object");
  }
  if (!value_.is_object()) throw Error(where_, "is not a JSON object", "each line is one {...}");
}

void DataLine::Fail(const std::string& field, const std::string& why) const {
  throw Error(where_ + ", " + field, why, "correct the line, or fetch the file again");
}

const nlohmann::json& DataLine::Field(const std::string& field) const {
  const auto found = value_.find(field);
  if (found == value_.end()) Fail(field, "is missing");
  return *found;
}

std::string DataLine::Text(const std::string& field) const {
  AnyText(field);
  return CheckText(field, Field(field));
}

std::string DataLine::AnyText(const std::string& field) const {
  const nlohmann::json& value = Field(field);
  if (!value.is_string()) Fail(field, fmt::format("is of type {}, not a string", value.type_name()));
  return value.get<std::string>();
}

std::vector<std::string> DataLine::Texts(const std::string& field) const {
  const nlohmann::json& value = Field(field);
  if (!value.is_array())
    Fail(field, fmt::format("is of type {}, not an array of strings", value.type_name()));
  std::vector<std::string> texts;
  for (const nlohmann::json& element : value) {
    const std::string name = fmt::format("{}[{}]", field, texts.size());
    if (!element.is_string()) Fail(name, fmt::format("is of type {}, not a string", element.type_name()));
    texts.push_back(CheckText(name, element));
  }
  return texts;
}

int64_t DataLine::Integer(const std::string& field) const {
  const nlohmann::json& value = Field(field);
  if (!value.is_number_integer()) Fail(field, fmt::format("is {}, not a whole number", value.dump()));
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) Fail(field, "is out of range");
  return value.get<int64_t>();
}

int64_t DataLine::Gold(const std::string& field, size_t choices) const {
  const int64_t gold = Integer(field);
  if (gold < 0 || gold >= static_cast<int64_t>(choices))
    Fail(field, fmt::format("is {}, but the choices are 0 to {}", gold, choices - 1));
  return gold;
}

std::string DataLine::Id(size_t row) const {
  const auto found = value_.find("id");
  if (found == value_.end()) return std::to_string(row);
  if (found->is_number_integer()) return found->dump();
  return Text("id");
}

std::string DataLine::CheckText(const std::string& field, const nlohmann::json& value) const {
  std::string text = value.get<std::string>();
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) Fail(field, "is empty");
  return text;
}

std::vector<Item> ReadLines(std::string_view bytes, const std::filesystem::path& path,
                            const std::function<nlohmann::json(const DataLine&)>& read_fields) {
  std::vector<Item> items;
  for (size_t begin = 0; begin < bytes.size();) {
    size_t end = bytes.find('\n', begin);
    if (end == std::string_view::npos) end = bytes.size();
    const DataLine line(bytes.substr(begin, end - begin), path, items.size() + 1);
    items.push_back({line.Id(items.size()), read_fields(line)});
    begin = end + 1;
  }
  return items;
}

}  // namespace fullband
