// Steps for measuring: prompts walked as the engine walks them, batches of sequences that decode side by
// side, and room for both in a backend.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "bench/work.h"
#include "engine/decode/pool.h"
#include "engine/decode/setting.h"

namespace fullband {

// Thrown between two steps where measuring is to end.
struct BenchStopped {};

// Token i of the text that every measurement reads: drawn from the vocabulary, the same always.
int32_t BenchToken(int vocab_size, int64_t i);

class StepRunner {
 public:
  // `backend`, `work` and `stop` (may be null) must outlive it.
  StepRunner(Backend* backend, const StepWork* work, const std::atomic<bool>* stop);

  const ModelConfig& config() const { return backend_->config(); }
  int page_size() const { return places_.page_size; }
  int64_t page_bytes() const { return backend_->page_bytes(); }
  int64_t reserved_pages() const { return reserved_pages_; }
  int64_t steps_run() const { return steps_run_; }
  int PagesFor(int positions) const { return (positions + page_size() - 1) / page_size(); }
  Places& places() { return places_; }

  // Runs a step in pages and slots that were taken from places(). Throws BenchStopped.
  void Run(const Step& step);
  // From now on steps' work is summed; the sum so far starts again at nothing.
  void CountWork() { counted_ = {}, counting_ = true; }
  Work TakeWork() {
    counting_ = false;
    return counted_;
  }

  // Runs a prompt of `positions` tokens in the setting's passes, at most `chunk` rows a step, and asks for
  // the token after it.
  void Prefill(const Setting& setting, int positions, int chunk);

 private:
  void MakeRoom();

  Backend* backend_;
  const StepWork* work_;
  const std::atomic<bool>* stop_;
  Places places_;
  int64_t reserved_pages_ = 0, reserved_states_ = 0, steps_run_ = 0;
  bool counting_ = false;
  Work counted_;
};

// `batch` sequences that all stand before position `context` - `steps`, in pages of their own but for the
// first `shared` positions, which all have in common (whole pages of them are the same pages).
struct BatchShape {
  int batch = 1;
  int context = 2;  // positions that the last step sees
  int shared = 0;
};

class DecodeBatch {
 public:
  static constexpr int kSteps = 4;  // of one run, at most

  // Prefills one sequence and gives the others copies of its pages, which costs little: what keys and values
  // say does not change how long a step takes. `context` is at least 2.
  DecodeBatch(StepRunner* runner, const BatchShape& shape);
  ~DecodeBatch();
  DecodeBatch(const DecodeBatch&) = delete;
  DecodeBatch& operator=(const DecodeBatch&) = delete;

  // Decodes the last positions of the context, one a step and sequence; the same ones each time.
  void Run(const Setting& setting);
  int steps() const { return steps_; }
  int tokens() const { return steps_ * shape_.batch; }  // of one Run

  static int StepsFor(int context) { return context > kSteps ? kSteps : context - 1; }
  // Pages that such a batch takes.
  static int64_t Pages(const StepRunner& runner, const BatchShape& shape);

 private:
  static constexpr int kStates = 3;  // of the last positions: read, read under the control stale, written
  void Fill();
  Row MakeRow(const Setting& setting, int sequence, int position) const;
  int32_t StateOf(int sequence, int position) const;

  StepRunner* runner_;
  BatchShape shape_;
  int steps_, first_;                         // first_: the position of the first step
  std::vector<std::vector<int32_t>> pages_;   // of each sequence
  std::vector<int32_t> prompt_states_;        // of positions first_ - kStates .. first_ - 1, shared by all
  std::vector<std::vector<int32_t>> states_;  // of each sequence, [position % kStates]
};

}  // namespace fullband
