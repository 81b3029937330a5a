#include "evals/lease.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <set>

#include "common/error.h"
#include "evals/machine.h"

namespace fullband {
namespace {

// State and start time (clock ticks since boot) of a process; nothing where there is none.
struct ProcessStat {
  char state = 0;
  std::string start;
};

std::optional<ProcessStat> StatOf(int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string line((std::istreambuf_iterator<char>(file)), {});
  const size_t name_end = line.rfind(')');  // the name may hold spaces and brackets
  if (name_end == std::string::npos) return std::nullopt;
  ProcessStat stat;
  size_t from = name_end + 2;
  for (int field = 3; field <= 22 && from < line.size(); ++field) {
    const size_t to = line.find(' ', from);
    if (field == 3) stat.state = line[from];
    if (field == 22) stat.start = line.substr(from, to - from);
    if (to == std::string::npos) break;
    from = to + 1;
  }
  return stat;
}

// Boot and process namespace: where the same pid means the same process.
std::string ProcessSpace() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  struct stat status = {};
  const bool found = stat("/proc/self/ns/pid", &status) == 0;
  return fmt::format("{}:{}", boot, found ? status.st_ino : 0);
}

std::string RandomToken() {
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", device());
  return token;
}

std::optional<double> SecondsOf(const std::string& utc) {
  struct tm parts = {};
  double seconds = 0;
  if (std::sscanf(utc.c_str(), "%d-%d-%dT%d:%d:%lfZ", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
                  &parts.tm_hour, &parts.tm_min, &seconds) != 6)
    return std::nullopt;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return static_cast<double>(timegm(&parts)) + seconds;
}

// Tokens that leases of this process hold now.
class LiveTokens {
 public:
  void Add(const std::string& token) {
    const std::lock_guard lock(mutex_);
    tokens_.insert(token);
  }
  void Remove(const std::string& token) {
    const std::lock_guard lock(mutex_);
    tokens_.erase(token);
  }
  bool Has(const std::string& token) {
    const std::lock_guard lock(mutex_);
    return tokens_.contains(token);
  }

 private:
  std::mutex mutex_;
  std::set<std::string> tokens_;
};

LiveTokens& Live() {
  static LiveTokens tokens;
  return tokens;
}

// A lease of this process that could not be released (the disk was full).
bool IsLeftover(const LeaseRecord& held, const LeaseRecord& own) {
  return held.pid == own.pid && held.process == own.process && !Live().Has(held.token);
}

}  // namespace

LeaseRecord ThisProcess() {
  LeaseRecord self;
  self.host = HostName();
  self.pid = getpid();
  const std::optional<ProcessStat> stat = StatOf(self.pid);
  self.process = ProcessSpace() + ":" + (stat ? stat->start : "");
  self.token = RandomToken();
  self.heartbeat = UtcNow();
  return self;
}

bool IsAlive(const LeaseRecord& lease, const LeaseRecord& self, const std::string& now,
             std::chrono::milliseconds silent) {
  const auto split = [](const std::string& process) { return process.rfind(':'); };
  const std::string space = lease.process.substr(0, split(lease.process));
  if (space == self.process.substr(0, split(self.process))) {
    const std::optional<ProcessStat> stat = StatOf(lease.pid);
    return stat && stat->state != 'Z' && stat->state != 'X' && space + ":" + stat->start == lease.process;
  }
  const std::optional<double> beat = SecondsOf(lease.heartbeat), present = SecondsOf(now);
  if (!beat || !present) return false;
  // Clocks differ a little between machines, so a heartbeat may also lie ahead.
  return std::abs(*present - *beat) < std::chrono::duration<double>(silent).count();
}

Lease::Lease(const std::filesystem::path& store, int64_t run_id, const std::string& run_name,
             const LeaseTimes& times)
    : store_(OpenStore(store, StoreMode::kReadWrite)), run_id_(run_id), times_(times), own_(ThisProcess()) {
  for (;;) {
    const std::optional<LeaseRecord> held = store_->Lease(run_id);
    if (held && !IsLeftover(*held, own_) && IsAlive(*held, own_, UtcNow(), times.silent))
      throw Error(run_name,
                  fmt::format("process {} on {} is working on it (last heard of at {})", held->pid,
                              held->host, held->heartbeat),
                  "wait for it or end it");
    if (store_->ReplaceLease(run_id, held ? held->token : "", own_))
      break;  // else another was faster: look again
  }
  Live().Add(own_.token);
  thread_ = std::thread([this] { Beat(); });
}

Lease::~Lease() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
  Live().Remove(own_.token);
  try {
    store_->ReleaseLease(run_id_, own_.token);
  } catch (const Error&) {
    // A full disk, say. The lease stays, but its process will be gone.
  }
}

void Lease::Beat() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, times_.beat, [this] { return stop_; })) {
    try {
      store_->Heartbeat(run_id_, own_.token);
    } catch (const Error&) {
      // The next commit meets the same trouble and tells the user.
    }
  }
}

}  // namespace fullband
