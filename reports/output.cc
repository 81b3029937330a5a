#include "reports/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <system_error>

#include "common/error.h"

namespace fullband {
namespace {

Error WriteError(const std::filesystem::path& path, const std::string& why) {
  return Error(path.string(), "cannot be written (" + why + ")", "choose another --out");
}

void MakeFolder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw WriteError(folder, error.message());
}

// A file that is not yet under its name; what was not kept is removed.
class Part {
 public:
  Part(const std::filesystem::path& path, const std::function<void(std::ostream&)>& fill)
      : path_(path), part_(path.parent_path() / fmt::format(".{}.{}", path.filename().string(), getpid())) {
    MakeFolder(path.parent_path());
    std::ofstream file(part_, std::ios::binary);
    try {
      if (file) fill(file);
    } catch (...) {
      Remove();
      throw;
    }
    file.close();
    if (!file) {
      const std::string why = std::error_code(errno, std::generic_category()).message();
      Remove();
      throw WriteError(path_, why);
    }
  }
  Part(Part&& other) noexcept : path_(std::move(other.path_)), part_(std::move(other.part_)) {
    other.part_.clear();
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  Part& operator=(Part&&) = delete;
  ~Part() { Remove(); }

  const std::filesystem::path& path() const { return path_; }

  void Keep() {
    std::error_code error;
    std::filesystem::rename(part_, path_, error);
    if (error) throw WriteError(path_, error.message());
    part_.clear();
  }

 private:
  void Remove() {
    std::error_code ignored;
    if (!part_.empty()) std::filesystem::remove(part_, ignored);
  }

  std::filesystem::path path_, part_;
};

}  // namespace

void WriteWhole(const std::filesystem::path& path, const std::function<void(std::ostream&)>& fill) {
  Part(path, fill).Keep();
}

std::vector<std::filesystem::path> WriteFiles(const std::vector<ReportFile>& files,
                                              const std::filesystem::path& folder) {
  std::vector<Part> parts;
  for (const ReportFile& file : files) {
    parts.emplace_back(folder / file.path, [&](std::ostream& out) { out << file.content; });
  }
  std::vector<std::filesystem::path> paths;
  for (Part& part : parts) {
    part.Keep();
    paths.push_back(part.path());
  }
  return paths;
}

}  // namespace fullband
