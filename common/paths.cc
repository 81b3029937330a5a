#include "common/paths.h"

#include <cstdlib>

namespace fullband {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::string Version() { return FULLBAND_VERSION_TEXT; }

std::filesystem::path HomeFolder() {
  const std::string home = Environment("FULLBAND_HOME");
  return home.empty() ? std::filesystem::path(FULLBAND_SOURCE_FOLDER) : std::filesystem::path(home);
}

std::filesystem::path CacheFolder() {
  if (const std::string own = Environment("FULLBAND_CACHE"); !own.empty()) return own;
  if (const std::string xdg = Environment("XDG_CACHE_HOME"); !xdg.empty())
    return std::filesystem::path(xdg) / "fullband";
  const std::string home = Environment("HOME");
  return std::filesystem::path(home.empty() ? "/tmp" : home) / ".cache" / "fullband";
}

std::vector<std::filesystem::path> DataFolders(const std::filesystem::path& given) {
  std::vector<std::filesystem::path> folders;
  if (!given.empty()) folders.push_back(given);
  if (const std::string data = Environment("FULLBAND_DATA"); !data.empty()) folders.emplace_back(data);
  folders.push_back(CacheFolder() / "data");
  return folders;
}

std::filesystem::path PythonInterpreter() {
  if (const std::string python = Environment("FULLBAND_PYTHON"); !python.empty()) return python;
  return HomeFolder() / ".venv" / "bin" / "python3";
}

}  // namespace fullband
