#include "bench/machine.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace fullband {
namespace {

std::string FirstLine(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// "32K", "1024K", "32M"
int64_t ParseSize(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return 0;
  const char unit = end < text.data() + text.size() ? *end : ' ';
  return unit == 'K' ? number << 10 : unit == 'M' ? number << 20 : unit == 'G' ? number << 30 : number;
}

}  // namespace

std::vector<CacheSize> ReadCaches(const std::filesystem::path& folder) {
  std::vector<CacheSize> caches;
  for (int i = 0;; ++i) {
    const std::filesystem::path own = folder / ("index" + std::to_string(i));
    if (!std::filesystem::exists(own / "size")) break;
    caches.push_back({static_cast<int>(ParseSize(FirstLine(own / "level"))), FirstLine(own / "type"),
                      ParseSize(FirstLine(own / "size"))});
  }
  return caches;
}

int64_t ProbeBytes(const std::vector<CacheSize>& caches) {
  int64_t last = 0;
  for (const CacheSize& cache : caches) last = std::max(last, cache.bytes);
  return std::clamp<int64_t>(4 * last, int64_t{64} << 20, int64_t{512} << 20);
}

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

}  // namespace fullband
