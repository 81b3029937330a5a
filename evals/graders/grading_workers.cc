#include "evals/graders/grading_workers.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "common/paths.h"
#include "common/worker.h"

namespace fullband {
namespace {

using nlohmann::json;

constexpr size_t kMaxProcesses = 4;
// Generous: imports read many files, perhaps from a slow disk on a busy machine.
constexpr std::chrono::seconds kStartLimit{120};

struct GradingWorker {
  Worker worker{HomeFolder() / "scripts" / "worker.py"};
  bool warm = false;
};

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
  Lent lent;
  if (!lent->warm) lent->worker.Call({{"job", "prepare_grading"}}, kStartLimit);
  lent->warm = false;  // until it has answered: a process that did not was replaced
  json answer = lent->worker.Call(request, time_limit);
  lent->warm = true;
  return answer;
}

}  // namespace fullband
