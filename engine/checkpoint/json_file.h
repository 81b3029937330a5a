// JSON of a checkpoint folder, read strictly: one object, no key twice.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fullband {

// Parses `text` as one JSON object. Throws Error with subject `what` when it is not valid JSON, not an
// object, or states a key twice (the two could differ, and readers disagree on which one counts).
nlohmann::json ParseJsonObject(std::string_view text, const std::string& what);

// The same for a whole file. Throws Error when it cannot be read or is larger than `kMaxJsonFileBytes`.
inline constexpr size_t kMaxJsonFileBytes = size_t{1} << 28;
nlohmann::json ReadJsonFile(const std::filesystem::path& path);

// `text` fit for a one-line message: control characters are escaped, and all but the first 120 bytes left
// out.
std::string Printable(std::string_view text);

}  // namespace fullband
