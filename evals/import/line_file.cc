#include "evals/import/line_file.h"

#include <fmt/format.h>

#include <cmath>

#include "common/error.h"
#include "common/json_text.h"
#include "common/names.h"

namespace fullband {
namespace {

using nlohmann::json;

constexpr const char* kRemedy = "correct the line; each is one JSON object";

bool IsWhole(const json& value, int64_t least, int64_t most) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return false;
  const auto number = value.get<int64_t>();
  return number >= least && number <= most;
}

}  // namespace

LineFile::LineFile(const std::filesystem::path& path) : path_(path), file_(path, std::ios::binary) {
  if (!file_ || std::filesystem::is_directory(path)) throw Error(path.string(), "cannot be read");
}

bool LineFile::Next() {
  std::string text;
  if (!std::getline(file_, text)) {
    if (number_ == 0) throw Error(path_.string(), "holds no lines", kRemedy);
    return false;
  }
  ++number_;
  try {
    line_ = ParseJson(text);
  } catch (const JsonFault& fault) {
    Fail(fmt::format("is not JSON: {}", fault.what()));
  }
  if (!line_.is_object()) Fail("is not a JSON object");
  return true;
}

bool LineFile::Has(const std::string& field) const {
  const auto found = line_.find(field);
  return found != line_.end() && !found->is_null();
}

const json& LineFile::Field(const std::string& field) const {
  const auto found = line_.find(field);
  if (found == line_.end()) Fail(fmt::format("has no field \"{}\"", field));
  return *found;
}

const json& LineFile::List(const std::string& field) const {
  const json& list = Field(field);
  if (!list.is_array()) Fail(fmt::format("\"{}\" is of type {}, not a list", field, list.type_name()));
  return list;
}

std::string LineFile::Text(const std::string& field) const {
  const json& value = Field(field);
  if (!value.is_string()) Fail(fmt::format("\"{}\" is of type {}, not a string", field, value.type_name()));
  return value.get<std::string>();
}

std::string LineFile::Id(const std::string& field) const {
  const auto found = line_.find(field);
  if (found != line_.end() && found->is_number_integer()) return found->dump();
  return Text(field);
}

int64_t LineFile::Whole(const std::string& field, int64_t least, int64_t most) const {
  const json& value = Field(field);
  if (!IsWhole(value, least, most))
    Fail(fmt::format("\"{}\" is {}, not a whole number from {} to {}", field, value.dump(), least, most));
  return value.get<int64_t>();
}

double LineFile::Number(const std::string& field, double least) const {
  const json& value = Field(field);
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < least)
    Fail(fmt::format("\"{}\" is {}, not a number of {:g} or more", field, value.dump(), least));
  return value.get<double>();
}

std::vector<int64_t> LineFile::Wholes(const std::string& field, int64_t least, int64_t most) const {
  std::vector<int64_t> numbers;
  for (const json& value : List(field)) {
    if (!IsWhole(value, least, most))
      Fail(
          fmt::format("\"{}\" holds {}, not a whole number from {} to {}", field, value.dump(), least, most));
    numbers.push_back(value.get<int64_t>());
  }
  return numbers;
}

std::vector<double> LineFile::Numbers(const std::string& field) const {
  std::vector<double> numbers;
  for (const json& value : List(field)) {
    if (!value.is_number() || !std::isfinite(value.get<double>()))
      Fail(fmt::format("\"{}\" holds {}, not a number", field, value.dump()));
    numbers.push_back(value.get<double>());
  }
  return numbers;
}

std::vector<bool> LineFile::Flags(const std::string& field) const {
  std::vector<bool> flags;
  for (const json& value : List(field)) {
    if (!value.is_boolean()) Fail(fmt::format("\"{}\" holds {}, not true or false", field, value.dump()));
    flags.push_back(value.get<bool>());
  }
  return flags;
}

void LineFile::CheckFields(const std::set<std::string>& known) const {
  for (const auto& [key, value] : line_.items()) {
    if (!known.contains(key))
      Fail(fmt::format("has an unknown field \"{}\"", key), DidYouMean(key, {known.begin(), known.end()}));
  }
}

void LineFile::Fail(const std::string& why, const std::string& remedy) const {
  throw Error(fmt::format("{}, line {}", path_.string(), number_), why, remedy.empty() ? kRemedy : remedy);
}

}  // namespace fullband
