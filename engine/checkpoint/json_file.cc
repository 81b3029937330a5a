#include "engine/checkpoint/json_file.h"

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <vector>

#include "common/error.h"
#include "common/json_text.h"

namespace fullband {
namespace {

using nlohmann::json;

// Collects the keys of every object that is open, to see one that comes twice.
class DuplicateKeys {
 public:
  bool operator()(int /*depth*/, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) {
      open_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      open_.pop_back();
    } else if (event == json::parse_event_t::key) {
      const std::string& key = parsed.get_ref<const std::string&>();
      if (!open_.back().insert(key).second && duplicate_.empty()) duplicate_ = Printable(key);
    }
    return true;
  }
  const std::string& duplicate() const { return duplicate_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string duplicate_;
};

}  // namespace

std::string Printable(std::string_view text) {
  constexpr size_t kMaxBytes = 120;
  std::string out;
  for (const char c : text.substr(0, kMaxBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return text.size() > kMaxBytes ? out + "..." : out;
}

json ParseJsonObject(std::string_view text, const std::string& what) {
  DuplicateKeys keys;
  json value;
  try {
    value = ParseJson(text, std::ref(keys));
  } catch (const JsonFault& fault) {
    throw Error(what, fmt::format("is not valid JSON: {}", fault.what()), "write or fetch the file again");
  }
  if (!value.is_object())
    throw Error(what, fmt::format("is {} where a JSON object is expected", value.type_name()),
                "write or fetch the file again");
  if (!keys.duplicate().empty())
    throw Error(what + ": " + keys.duplicate(), "the key is stated twice", "keep one of the two");
  return value;
}

json ReadJsonFile(const std::filesystem::path& path) {
  std::error_code failed;
  const bool regular = std::filesystem::is_regular_file(path, failed);
  std::ifstream file(path, std::ios::binary);
  if (!regular || !file)
    throw Error(path.string(), "cannot be read", "check that the file exists and is readable");
  const uintmax_t size = std::filesystem::file_size(path, failed);
  if (failed || size > kMaxJsonFileBytes)
    throw Error(path.string(), "is too large for a JSON file of a checkpoint", "check what the file is");
  std::string text(size, '\0');
  file.read(text.data(), static_cast<std::streamsize>(size));
  if (static_cast<uintmax_t>(file.gcount()) != size)
    throw Error(path.string(), "reading failed part-way", "check the disk");
  return ParseJsonObject(text, path.string());
}

}  // namespace fullband
