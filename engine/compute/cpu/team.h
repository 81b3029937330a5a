// Threads that do a step's work together.
//
// A whole forward pass is one Run: every thread of the team runs the same code, each of the Share… calls does
// its share, and all meet at its end. Outside a Run the calling thread does everything.
//
// A thread that must wait looks for what it waits for for some time, since others are nearly always about to
// be done and waking a thread takes long; then it sleeps. On a machine that is shared with other programs,
// one that went on looking would keep the processor from the very thread that it waits for.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace fullband {

class Team;

// A thread's place in the Run that it is in: 0 of 1 outside.
struct TeamPlace {
  Team* team = nullptr;
  int thread = 0, threads = 1;
};

class Team {
 public:
  // Starts `threads` - 1 threads: the one that calls Run is of the team. Throws Error where the system gives
  // fewer.
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return threads_; }

  // Every thread of the team calls work(), which must not throw; ends when all have ended. By one thread at a
  // time, and not from within a Run.
  template <class Work>
  void Run(Work&& work) {
    RunCall([](void* it) { (*static_cast<std::remove_reference_t<Work>*>(it))(); }, &work);
  }

  // Where the calling thread is.
  static const TeamPlace& Here() { return here_; }
  // Ends when all threads of the Run have called it.
  static void Meet() {
    if (here_.threads > 1) here_.team->MeetOthers();
  }

 private:
  using Call = void (*)(void*);
  // What threads wait for. Apart from others, since threads write one while others look at another.
  struct alignas(64) Count {
    std::atomic<uint32_t> value = 0;
    std::atomic<uint32_t> sleepers = 0;
  };

  void RunCall(Call call, void* work);
  void Serve(int thread);
  void Do(int thread);
  void MeetOthers();
  void Advance(Count* count);
  void AwaitChange(Count* count, uint32_t from) const;
  void Dismiss();

  static inline constinit thread_local TeamPlace here_;

  const int threads_;
  const bool looks_;     // a waiting thread has a processor to itself
  Call call_ = nullptr;  // null: the team's end
  void* work_ = nullptr;
  Count runs_;      // begun
  Count meetings_;  // ended
  alignas(64) std::atomic<int> arrived_ = 0;
  std::vector<std::thread> workers_;
};

// Calls work(begin, end) once a thread, on contiguous shares of 0 .. count - 1.
template <class Work>
void ShareRanges(int64_t count, Work work) {
  const TeamPlace& here = Team::Here();
  const int64_t begin = count * here.thread / here.threads, end = count * (here.thread + 1) / here.threads;
  if (begin < end) work(begin, end);
  Team::Meet();
}

// Calls work(i) for all i in 0 .. count - 1, dealt out like cards, since neighbours are alike in cost.
template <class Work>
void ShareItems(int64_t count, Work work) {
  const TeamPlace& here = Team::Here();
  for (int64_t i = here.thread; i < count; i += here.threads) work(i);
  Team::Meet();
}

}  // namespace fullband
