// The CPU backend: one forward pass for plain and fused rows alike. Made by MakeCpuBackend
// (compute/backend.h).
#pragma once

#include <memory>
#include <vector>

#include "engine/compute/backend.h"
#include "engine/compute/cpu/cpu_weights.h"
#include "engine/compute/cpu/kernels.h"
#include "engine/compute/cpu/pages.h"
#include "engine/compute/cpu/rope.h"
#include "engine/compute/cpu/step_attention.h"

namespace fullband {

// Rows of activations, all `stride` apart.
class Rows {
 public:
  void Resize(int64_t rows, int64_t stride) {
    stride_ = stride;
    numbers_.Grow(rows * stride);
  }
  int64_t stride() const { return stride_; }
  float* row(int64_t i) const { return numbers_.data() + i * stride_; }

 private:
  int64_t stride_ = 0;
  AlignedBuffer<float> numbers_;
};

class CpuBackend final : public Backend {
 public:
  CpuBackend(std::shared_ptr<const Model> model, const CpuOptions& options);

  const BackendInfo& info() const override { return info_; }
  const ModelConfig& config() const override { return config_; }
  void Reserve(int page_count, int state_count) override;
  int64_t page_bytes() const override { return pages_.page_bytes(); }
  int64_t state_bytes() const override { return width_ * static_cast<int64_t>(sizeof(float)); }
  void Run(const Step& step, StepResult* result) override;
  std::vector<float> ReadState(int slot) const override;

 private:
  // Where a row stands.
  struct Place {
    int position = 0;
    float* page = nullptr;  // that its own key and value go to
  };

  // What a step computes with. Only grows, and is allocated before threads start.
  struct Workspace {
    Rows x;                       // [rows, D] residual stream
    Rows normed;                  // [rows, D] input of a block; in the end the top-layer state h
    Rows qkv;                     // [rows, queries | keys | values]
    Rows mixed;                   // [rows, heads * head_dim]
    Rows gate_up;                 // [rows, gate | up]
    Rows states, state_products;  // [fused rows, D] h, then W^U h
    Rows tokens, gate_products;   // [fused rows, D] e, then W^G e
    Rows query_states, logits;    // [a block of queries, D and V]
    Rows scratch;                 // [threads, ...] of norms
    AlignedBuffer<float> packed;  // a product's input, as the kernels want it
    std::vector<float> rms;       // [rows]
    std::vector<Place> places;    // [rows]
    std::vector<int32_t> fused;   // rows
  };

  void Prepare(const Step& step);
  void PlaceRows(const Step& step);

  // Called by every thread of a team; each ends when all have done their share.
  void MakeInputs(const Step& step);
  void Fuse(const Step& step);
  void GatherFeedback(const Row& row, int position, float* state, float* token) const;
  void RunLayer(int layer, int64_t rows);
  void RotateAndStore(int layer, int64_t rows);
  void NormHead(const AlignedBuffer<float>& weight, float* head) const;
  void Norm(const AlignedBuffer<float>& weight, int64_t rows);
  void Multiply(const PackedMatrix& weights, const Rows& in, int64_t rows, const Rows& out, bool add = false);

  void KeepStates(const Step& step);
  void Answer(const Step& step, StepResult* result);

  std::shared_ptr<const Model> model_;
  const ModelConfig& config_;
  const Kernels& kernels_;
  BackendInfo info_;
  int threads_;
  int64_t width_;  // D, padded
  CpuWeights weights_;
  RopeTable rope_;
  Pages pages_;
  StepAttention attention_;
  std::vector<AlignedBuffer<float>> state_blocks_;
  std::vector<float*> states_;  // [slots] of width_ numbers
  Workspace work_;
};

}  // namespace fullband
