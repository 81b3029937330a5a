// What a user sees while a run goes on: one line that is rewritten on a terminal, a line now and then
// elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace fullband {

struct ProgressState {
  std::string run;          // e.g. "gsm8k latent@2"
  int64_t total = 0;        // samples
  int64_t done = 0;         // earlier sessions' included
  int64_t done_before = 0;  // by earlier sessions
  int64_t tokens = 0;       // by the process
  int64_t counted = 0, correct = 0;
  double seconds = 0;  // of the process
};

// "gsm8k latent@2: 34/100, 118.2 tokens/s, accuracy 41.2 %, 32 s left".
std::string ProgressLine(const ProgressState& state);

class Progress {
 public:
  Progress(std::FILE* out, bool terminal, bool quiet);

  void Begin(const std::string& run, int64_t total, int64_t done);
  // `tokens` more tokens came with `samples` more samples; shows a line when one is due.
  void Advance(int64_t samples, int64_t tokens, int64_t counted, int64_t correct);
  // The last line of the run.
  void End(int64_t counted, int64_t correct);

 private:
  void Show(bool last);

  std::FILE* out_;
  bool terminal_, quiet_;
  ProgressState state_;
  std::chrono::steady_clock::time_point began_, shown_;
};

}  // namespace fullband
