// Where tests find the public data files, which are not part of the repository.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace fullband {

// $FULLBAND_SHARED/datasets, else ../shared/datasets beside the source folder; nothing where that is not
// there, for the test to skip with a message.
inline std::optional<std::filesystem::path> SharedDatasets() {
  const char* variable = std::getenv("FULLBAND_SHARED");
  const std::filesystem::path shared =
      variable != nullptr
          ? std::filesystem::path(variable)
          : std::filesystem::path(FULLBAND_TEST_DATA).parent_path().parent_path().parent_path() / "shared";
  if (!std::filesystem::is_directory(shared / "datasets")) return std::nullopt;
  return shared / "datasets";
}

}  // namespace fullband
