#include "engine/tokenizer/json_part.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "common/json_text.h"

namespace fullband {

nlohmann::json JsonPart::ReadFile(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || !std::filesystem::is_regular_file(file))
    throw Error(file.string(), "cannot be read", "check that the file exists and is readable");
  std::ostringstream text;
  text << in.rdbuf();
  try {
    return ParseJson(text.view());
  } catch (const JsonFault& fault) {
    throw Error(file.string(), fmt::format("is not JSON: {}", fault.what()),
                "fetch or convert the file again");
  }
}

JsonPart JsonPart::At(std::string_view key) const {
  if (std::optional<JsonPart> found = Find(key)) return *found;
  throw Fault(fmt::format("has no \"{}\"", key));
}

std::optional<JsonPart> JsonPart::Find(std::string_view key) const {
  RequireObject();
  const auto found = value_->find(key);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return JsonPart(*found, file_, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key));
}

void JsonPart::RequireObject() const {
  if (!value_->is_object()) throw Fault(fmt::format("is {}, not an object", value_->type_name()));
}

size_t JsonPart::Size() const {
  if (!value_->is_array()) throw Fault(fmt::format("is {}, not an array", value_->type_name()));
  return value_->size();
}

JsonPart JsonPart::operator[](size_t index) const {
  return JsonPart((*value_)[index], file_, fmt::format("{}[{}]", path_, index));
}

const std::string& JsonPart::String() const {
  if (!value_->is_string()) throw Fault(fmt::format("is {}, not a string", value_->type_name()));
  return value_->get_ref<const std::string&>();
}

bool JsonPart::Bool() const {
  if (!value_->is_boolean()) throw Fault(fmt::format("is {}, not true or false", value_->type_name()));
  return value_->get<bool>();
}

int32_t JsonPart::TokenId() const {
  if (!IsTokenId(*value_))
    throw Fault(fmt::format("is {}, not a token id (0 to {})", value_->dump().substr(0, 40), kMaxId));
  return value_->get<int32_t>();
}

bool JsonPart::BoolOr(std::string_view key, bool fallback) const {
  const std::optional<JsonPart> part = Find(key);
  return part ? part->Bool() : fallback;
}

std::string JsonPart::StringOr(std::string_view key, std::string_view fallback) const {
  const std::optional<JsonPart> part = Find(key);
  return part ? part->String() : std::string(fallback);
}

Error JsonPart::Fault(const std::string& why, const std::string& remedy) const {
  return Error(path_.empty() ? file_ : fmt::format("{}: {}", file_, path_), why, remedy);
}

Error JsonPart::Unsupported(const std::string& kind, const std::string& known) const {
  return Fault(fmt::format("is of the kind \"{}\", which this tokenizer does not have", kind),
               "supported: " + known);
}

}  // namespace fullband
