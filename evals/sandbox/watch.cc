#include "evals/sandbox/watch.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace fullband {
namespace {

constexpr size_t kMaxProcesses = 4096;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void AddChildren(pid_t pid, std::vector<pid_t>* pids) {
  const std::string folder = fmt::format("/proc/{}/task", pid);
  DIR* tasks = opendir(folder.c_str());
  if (tasks == nullptr) return;
  while (const dirent* task = readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    std::istringstream children(ReadAll(fmt::format("{}/{}/children", folder, task->d_name)));
    for (pid_t child; children >> child;) pids->push_back(child);
  }
  closedir(tasks);
}

// Seconds of the processor that a process, and its children that it has waited for, took.
double CpuOf(pid_t pid) {
  const std::string stat = ReadAll(fmt::format("/proc/{}/stat", pid));
  const size_t name_end = stat.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  double ticks = 0, field = 0;
  for (int i = 14; i < 18 && fields >> field; ++i) ticks += field;
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

int64_t ResidentOf(pid_t pid) {
  std::istringstream fields(ReadAll(fmt::format("/proc/{}/statm", pid)));
  int64_t size = 0, resident = 0;
  fields >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// -1 where it cannot be known.
int64_t ProportionalOf(pid_t pid) {
  std::istringstream lines(ReadAll(fmt::format("/proc/{}/smaps_rollup", pid)));
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("Pss:", 0) == 0) return std::atoll(line.c_str() + 4) * 1024;
  return -1;
}

}  // namespace

std::vector<pid_t> TreeOf(pid_t root) {
  std::vector<pid_t> pids = {root};
  for (size_t i = 0; i < pids.size() && pids.size() < kMaxProcesses; ++i) AddChildren(pids[i], &pids);
  return pids;
}

Usage UsageOf(const std::vector<pid_t>& pids, int64_t memory_limit) {
  Usage usage;
  for (const pid_t pid : pids) {
    usage.cpu_seconds += CpuOf(pid);
    usage.memory += ResidentOf(pid);
  }
  if (usage.memory <= memory_limit) return usage;
  int64_t proportional = 0;
  for (const pid_t pid : pids) {
    const int64_t share = ProportionalOf(pid);
    proportional += share >= 0 ? share : ResidentOf(pid);
  }
  usage.memory = proportional;
  return usage;
}

int64_t FilesOf(pid_t pid, const char* folder) {
  struct statvfs about {};
  if (statvfs(fmt::format("/proc/{}/root{}", pid, folder).c_str(), &about) != 0) return 0;
  return static_cast<int64_t>(about.f_files) - static_cast<int64_t>(about.f_ffree);
}

}  // namespace fullband
