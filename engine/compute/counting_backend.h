// A backend that computes nothing: it takes steps, answers them with something well formed, and keeps count
// of what a real one would have needed for them. The scheduler's own bookkeeping then says what a run will
// take.
#pragma once

#include <unordered_set>
#include <vector>

#include "engine/compute/backend.h"

namespace fullband {

class CountingBackend : public Backend {
 public:
  // As a backend with these pages and states would say of itself.
  CountingBackend(const ModelConfig& config, const BackendInfo& info, int64_t page_bytes,
                  int64_t state_bytes);

  const BackendInfo& info() const override { return info_; }
  const ModelConfig& config() const override { return config_; }
  void Reserve(int page_count, int state_count) override;
  int64_t page_bytes() const override { return page_bytes_; }
  int64_t state_bytes() const override { return state_bytes_; }
  // Every log-probability is the same; drawn is always the lowest token that does not end a trace.
  void Run(const Step& step, StepResult* result) override;
  // Zeros.
  std::vector<float> ReadState(int slot) const override;

  // Pages and slots that were ever written, and the largest numbers of a step. Backends take memory for
  // those: what was reserved beyond is not touched, but for the rest of a large page of memory.
  int64_t bytes_of_pages() const { return Touched(pages_, reserved_pages_, page_bytes_); }
  int64_t bytes_of_states() const { return Touched(states_, reserved_states_, state_bytes_); }
  const StepBounds& largest() const { return largest_; }

 private:
  static int64_t Touched(int64_t used, int64_t reserved, int64_t bytes);

  ModelConfig config_;
  BackendInfo info_;
  int64_t page_bytes_, state_bytes_;
  int32_t token_ = 0, other_token_ = 0;
  int pages_ = 0, states_ = 0;
  int reserved_pages_ = 0, reserved_states_ = 0;
  std::unordered_set<int32_t> fused_tokens_;
  StepBounds largest_;
};

}  // namespace fullband
