// The files of a report.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace fullband {

struct ReportFile {
  std::filesystem::path path;  // below the report's folder
  std::string content;
};

// Puts what `fill` writes into `path`, whole or not at all, making its folder where there is none. Throws
// Error naming the file, and whatever `fill` throws.
void WriteWhole(const std::filesystem::path& path, const std::function<void(std::ostream&)>& fill);

// Puts the files below `folder`, making folders where there are none; returns their paths. Each is written
// whole or not at all, and none takes an older one's place before all of them are written. Other files stay.
// Throws Error naming the file.
std::vector<std::filesystem::path> WriteFiles(const std::vector<ReportFile>& files,
                                              const std::filesystem::path& folder);

}  // namespace fullband
