// A backend that hands everything on to another: for those that only look at steps, or change one thing.
#pragma once

#include <vector>

#include "engine/compute/backend.h"

namespace fullband {

class ForwardingBackend : public Backend {
 public:
  // `backend` must outlive this one.
  explicit ForwardingBackend(Backend* backend) : backend_(backend) {}

  const BackendInfo& info() const override { return backend_->info(); }
  const ModelConfig& config() const override { return backend_->config(); }
  void Reserve(int page_count, int state_count) override { backend_->Reserve(page_count, state_count); }
  int64_t page_bytes() const override { return backend_->page_bytes(); }
  int64_t state_bytes() const override { return backend_->state_bytes(); }
  void Run(const Step& step, StepResult* result) override { backend_->Run(step, result); }
  std::vector<float> ReadState(int slot) const override { return backend_->ReadState(slot); }

 private:
  Backend* backend_;
};

}  // namespace fullband
