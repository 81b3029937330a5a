#include "bench/machine.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "common/memory.h"

namespace fullband {
namespace {

std::string FirstLine(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

std::vector<CacheSize> ReadCaches(const std::filesystem::path& folder) {
  std::vector<CacheSize> caches;
  for (int i = 0;; ++i) {
    const std::filesystem::path own = folder / ("index" + std::to_string(i));
    if (!std::filesystem::exists(own / "size")) break;
    caches.push_back({static_cast<int>(ParseSize(FirstLine(own / "level")).value_or(0)),
                      FirstLine(own / "type"), ParseSize(FirstLine(own / "size")).value_or(0)});
  }
  return caches;
}

int64_t ProbeBytes(const std::vector<CacheSize>& caches) {
  int64_t last = 0;
  for (const CacheSize& cache : caches) last = std::max(last, cache.bytes);
  return std::clamp<int64_t>(4 * last, int64_t{64} << 20, int64_t{512} << 20);
}

}  // namespace fullband
