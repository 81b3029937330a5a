// What this machine is, as far as figures depend on it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "bench/figures.h"

namespace fullband {

// The caches of the first processor, nearest first; empty where the system does not say.
std::vector<CacheSize> ReadCaches(const std::filesystem::path& folder = "/sys/devices/system/cpu/cpu0/cache");

// Bytes of a probe's buffer: four times the last cache, from 64 to 512 MiB.
int64_t ProbeBytes(const std::vector<CacheSize>& caches);

}  // namespace fullband
