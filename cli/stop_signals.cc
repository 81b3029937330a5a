#include "cli/stop_signals.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>

namespace fullband {
namespace {

std::atomic<bool> stop_asked = false;
std::atomic<int> stop_signal = 0;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void AskToStop(int number) {
  stop_signal = number;
  stop_asked = true;
}

}  // namespace

void CatchStopSignals() {
  struct sigaction action = {};
  action.sa_handler = AskToStop;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction present = {};
    sigaction(number, nullptr, &present);
    if (present.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
}

const std::atomic<bool>& StopAsked() { return stop_asked; }

void EndBySignal() {
  std::fflush(nullptr);
  signal(stop_signal, SIG_DFL);
  raise(stop_signal);
  _exit(128 + stop_signal);
}

}  // namespace fullband
