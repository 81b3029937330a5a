#include "reports/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "common/error.h"

namespace fullband {
namespace {

Error WriteError(const std::filesystem::path& path, const std::string& why) {
  return Error(path.string(), "cannot be written (" + why + ")", "choose another --out");
}

// A file that is not yet under its name; what was not kept is removed.
class Part {
 public:
  Part(const std::filesystem::path& path, const std::string& content)
      : path_(path), part_(path.parent_path() / fmt::format(".{}.{}", path.filename().string(), getpid())) {
    std::ofstream file(part_, std::ios::binary);
    file << content;
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

std::vector<std::filesystem::path> WriteFiles(const std::vector<ReportFile>& files,
                                              const std::filesystem::path& folder) {
  std::vector<Part> parts;
  for (const ReportFile& file : files) {
    const std::filesystem::path path = folder / file.path;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) throw WriteError(path.parent_path(), error.message());
    parts.emplace_back(path, file.content);
  }
  std::vector<std::filesystem::path> paths;
  for (Part& part : parts) {
    part.Keep();
    paths.push_back(part.path());
  }
  return paths;
}

}  // namespace fullband
