// Where tests find the public data files, which are not part of the repository.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace fullband {

// $FULLBAND_SHARED/datasets, else shared/datasets in the nearest folder above this test's that has it (the
// one that holds the source folder); nothing where there is none, for the test to skip with a message.
inline std::optional<std::filesystem::path> SharedDatasets() {
  if (const char* variable = std::getenv("FULLBAND_SHARED")) {
    const std::filesystem::path datasets = std::filesystem::path(variable) / "datasets";
    if (std::filesystem::is_directory(datasets)) return datasets;
    return std::nullopt;
  }
  std::filesystem::path folder = FULLBAND_TEST_DATA;
  for (; folder.has_relative_path(); folder = folder.parent_path())
    if (std::filesystem::is_directory(folder / "shared" / "datasets")) return folder / "shared" / "datasets";
  return std::nullopt;
}

}  // namespace fullband
