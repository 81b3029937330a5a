#include "evals/graders/grading_workers.h"

#include <fmt/format.h>

#include <charconv>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "common/error.h"
#include "common/paths.h"
#include "common/worker.h"

namespace fullband {
namespace {

using nlohmann::json;

constexpr size_t kMaxProcesses = 4;
// Generous: imports read many files, perhaps from a slow disk on a busy machine.
constexpr std::chrono::seconds kStartLimit{120};
constexpr uint64_t kMemoryMiB = 2048, kLeastMemoryMiB = 128;

struct GradingWorker {
  Worker worker{HomeFolder() / "scripts" / "worker.py"};
  uint64_t memory_mib = 0;  // that its process is bound to; 0: it is not ready
};

uint64_t MemoryMiB() {
  const char* text = std::getenv("FULLBAND_GRADING_MEMORY");
  if (text == nullptr) return kMemoryMiB;
  uint64_t mib = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, failed] = std::from_chars(text, end, mib);
  if (failed != std::errc() || stop != end || mib < kLeastMemoryMiB || mib > (uint64_t{1} << 40))
    throw UsageError("FULLBAND_GRADING_MEMORY", fmt::format("\"{}\" is no number of MiB", text),
                     fmt::format("a whole number from {} on", kLeastMemoryMiB));
  return mib;
}

class Pool {
 public:
  std::unique_ptr<GradingWorker> Take() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return !idle_.empty() || out_ < kMaxProcesses; });
    ++out_;
    if (idle_.empty()) return std::make_unique<GradingWorker>();
    auto worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
  }
  void GiveBack(std::unique_ptr<GradingWorker> worker) {
    {
      const std::lock_guard lock(mutex_);
      --out_;
      idle_.push_back(std::move(worker));
    }
    wake_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<GradingWorker>> idle_;
  size_t out_ = 0;
};

Pool& ThePool() {
  static Pool pool;
  return pool;
}

// Held while a call lasts.
class Lent {
 public:
  Lent() : worker_(ThePool().Take()) {}
  ~Lent() { ThePool().GiveBack(std::move(worker_)); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  GradingWorker* operator->() { return worker_.get(); }

 private:
  std::unique_ptr<GradingWorker> worker_;
};

}  // namespace

json CallGradingWorker(const json& request, std::chrono::milliseconds time_limit) {
  const uint64_t memory = MemoryMiB();
  Lent lent;
  if (lent->memory_mib != memory)
    lent->worker.Call({{"job", "prepare_grading"}, {"memory_bytes", memory << 20}}, kStartLimit);
  lent->memory_mib = 0;  // until it has answered: a process that did not was replaced
  json answer = lent->worker.Call(request, time_limit);
  lent->memory_mib = memory;
  return answer;
}

}  // namespace fullband
