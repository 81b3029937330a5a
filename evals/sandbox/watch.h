// What a tree of processes uses, from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace fullband {

// `root` and all that descends from it.
std::vector<pid_t> TreeOf(pid_t root);

struct Usage {
  double cpu_seconds = 0;  // with children that have ended
  int64_t memory = 0;      // resident bytes
};

// Pages that several processes share count once where their sum alone would exceed `memory_limit`.
Usage UsageOf(const std::vector<pid_t>& pids, int64_t memory_limit);

// Number of files in a folder's file system as process `pid` sees it; 0 where that cannot be known.
int64_t FilesOf(pid_t pid, const char* folder);

}  // namespace fullband
