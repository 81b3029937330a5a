#include "common/memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string_view>
#ifdef __GLIBC__
#include <fmt/format.h>
#include <malloc.h>
#endif

namespace fullband {

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

int64_t AvailableBytes() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  for (int64_t kilobytes = 0; file >> key >> kilobytes; std::getline(file, key))
    if (key == "MemAvailable:") return kilobytes * 1024;
  return 0;
}

std::optional<int64_t> ParseSize(const std::string& text) {
  constexpr std::string_view kUnits = "KMG";
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number > uint64_t{1} << 32) return std::nullopt;
  const size_t unit = at == end ? std::string_view::npos : kUnits.find(*at);
  if (at != end && (at + 1 != end || unit == std::string_view::npos)) return std::nullopt;
  return static_cast<int64_t>(at == end ? number : number << 10 * (unit + 1));
}

void ReleaseFreedMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

std::string SizeText(int64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  if (bytes < 10'000'000'000) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

}  // namespace fullband
