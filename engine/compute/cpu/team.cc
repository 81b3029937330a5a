#include "engine/compute/cpu/team.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <omp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <limits>
#include <system_error>

#include "common/error.h"

namespace fullband {
namespace {

using Clock = std::chrono::steady_clock;

// Longer than threads of an undisturbed step are apart, and than what is done between two Runs of small
// models; far shorter than a processor is lent to another program.
constexpr std::chrono::microseconds kLook{100};

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // "yield" takes no time
#endif
}

// std::atomic's wait() would give the processor away some times before it sleeps, and with it the thread's
// turn to get it back.
static_assert(std::atomic<uint32_t>::is_always_lock_free &&
              sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

void SleepWhile(std::atomic<uint32_t>* value, uint32_t equal) {
  syscall(SYS_futex, value, FUTEX_WAIT_PRIVATE, equal, nullptr, nullptr, 0);
}

void Wake(std::atomic<uint32_t>* value) {
  syscall(SYS_futex, value, FUTEX_WAKE_PRIVATE, std::numeric_limits<int>::max(), nullptr, nullptr, 0);
}

}  // namespace

Team::Team(int threads) : threads_(threads), looks_(threads <= omp_get_num_procs()) {
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { Serve(i); });
  } catch (const std::system_error&) {
    const size_t started = workers_.size() + 1;
    Dismiss();
    throw Error("--threads", fmt::format("the system gives {} threads, not {}", started, threads),
                "use fewer");
  }
}

Team::~Team() { Dismiss(); }

void Team::Dismiss() {
  call_ = nullptr;
  Advance(&runs_);
  for (std::thread& worker : workers_) worker.join();
}

void Team::RunCall(Call call, void* work) {
  call_ = call;
  work_ = work;
  if (threads_ > 1) Advance(&runs_);
  Do(0);
}

void Team::Serve(int thread) {
  for (uint32_t run = 0;; ++run) {
    AwaitChange(&runs_, run);
    if (call_ == nullptr) return;
    Do(thread);
  }
}

void Team::Do(int thread) {
  here_ = {this, thread, threads_};
  call_(work_);
  Meet();
  here_ = {};
}

void Team::MeetOthers() {
  const uint32_t meeting =
      meetings_.value.load(std::memory_order_relaxed);  // ends with this thread, not before
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < threads_)
    return AwaitChange(&meetings_, meeting);
  arrived_.store(0, std::memory_order_relaxed);
  Advance(&meetings_);
}

void Team::Advance(Count* count) {
  count->value.fetch_add(1);
  // Who counts itself among the sleepers later than this finds the new value, and does not sleep.
  if (count->sleepers.load() > 0) Wake(&count->value);
}

void Team::AwaitChange(Count* count, uint32_t from) const {
  const auto changed = [&] { return count->value.load(std::memory_order_acquire) != from; };
  if (looks_) {
    constexpr int kLooks = 64;  // between two looks at the clock
    const Clock::time_point end = Clock::now() + kLook;
    do {
      for (int i = 0; i < kLooks; ++i) {
        if (changed()) return;
        Pause();
      }
    } while (Clock::now() < end);
  }
  count->sleepers.fetch_add(1);
  while (!changed()) SleepWhile(&count->value, from);
  count->sleepers.fetch_sub(1);
}

}  // namespace fullband
