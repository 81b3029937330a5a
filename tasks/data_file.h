// Where a suite's data files are, and their bytes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tasks/suite.h"

namespace fullband {

struct DataBytes {
  std::filesystem::path path;
  std::string bytes;   // decompressed, where the file is gzip's
  std::string sha256;  // of the file as it is
};

// The folders a suite's data are looked for in, in order: the one its TOML file is in, then
// DataFolders(data_folder). Throws a usage Error where `data_folder` is given and is not a folder.
std::vector<std::filesystem::path> SuiteFolders(const Suite& suite, const std::filesystem::path& data_folder);

// The first of those that has the file, or nothing.
std::optional<std::filesystem::path> FindData(const Suite& suite, const DataFile& file,
                                              const std::filesystem::path& data_folder);

// Throws Error where the file is missing (saying where it comes from and where it was looked for), cannot be
// read, is not the one whose SHA-256 the suite states, or is gzip's and not whole.
DataBytes ReadData(const Suite& suite, const DataFile& file, const std::filesystem::path& data_folder);

}  // namespace fullband
