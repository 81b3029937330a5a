// A run's lease: one process at a time works on a run.
//
// A holder is dead when it ran on this boot and in this process namespace and its process is gone (a pid that
// another process has since been given does not count), or when its heartbeat has been silent for long. A
// dead holder's lease is taken over. Every commit shows the lease's token, so a holder that comes back from
// the dead commits nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "evals/store/store.h"

namespace fullband {

struct LeaseTimes {
  std::chrono::milliseconds beat{10000};
  std::chrono::milliseconds silent{60000};  // a heartbeat older than this is a dead holder's
};

// This process as a lease names it; the token is fresh and random.
LeaseRecord ThisProcess();

// Whether the holder may still be working, at time `now` (UTC, ISO 8601).
bool IsAlive(const LeaseRecord& lease, const LeaseRecord& self, const std::string& now,
             std::chrono::milliseconds silent);

class Lease {
 public:
  // Claims the run and keeps a heartbeat going on a thread of its own. Throws Error naming a live holder.
  // `run_name` is what the error calls the run.
  Lease(const std::filesystem::path& store, int64_t run_id, const std::string& run_name,
        const LeaseTimes& times = {});
  ~Lease();  // releases it
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  const std::string& token() const { return own_.token; }

 private:
  void Beat();

  std::unique_ptr<Store> store_;  // the constructor's, then the thread's
  int64_t run_id_;
  LeaseTimes times_;
  LeaseRecord own_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace fullband
