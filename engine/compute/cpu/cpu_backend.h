// The CPU backend: one forward pass for plain and fused rows alike. Made by MakeCpuBackend
// (compute/backend.h).
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/compute/backend.h"
#include "engine/compute/cpu/cpu_weights.h"
#include "engine/compute/cpu/gate_cache.h"
#include "engine/compute/cpu/kernels.h"
#include "engine/compute/cpu/pages.h"
#include "engine/compute/cpu/profile.h"
#include "engine/compute/cpu/rope.h"
#include "engine/compute/cpu/step_attention.h"
#include "engine/compute/cpu/team.h"

namespace fullband {

// Rows of activations, all `stride` apart.
class Rows {
 public:
  void Resize(int64_t rows, int64_t width) {
    // Rows a multiple of a cache's way apart would all lie in the same few of its sets: a column of results
    // of many rows, which a product writes at once, would then not fit it.
    constexpr int64_t kWay = 512, kLine = 16;  // numbers
    width_ = width;
    stride_ = width > 0 && width % kWay == 0 ? width + kLine : width;
    numbers_.Grow(rows * stride_);
  }
  int64_t width() const { return width_; }
  int64_t stride() const { return stride_; }
  int64_t bytes() const { return numbers_.size() * static_cast<int64_t>(sizeof(float)); }
  float* row(int64_t i) const { return numbers_.data() + i * stride_; }

 private:
  int64_t width_ = 0, stride_ = 0;
  AlignedBuffer<float> numbers_;
};

class CpuBackend final : public Backend {
 public:
  // Bytes of the workspace for such steps.
  static int64_t WorkspaceBytes(const ModelConfig& config, const CpuOptions& options,
                                const StepBounds& largest);
  CpuBackend(std::shared_ptr<const Model> model, const CpuOptions& options);

  const BackendInfo& info() const override { return info_; }
  const ModelConfig& config() const override { return config_; }
  void Reserve(int page_count, int state_count) override;
  int64_t page_bytes() const override { return pages_.page_bytes(); }
  // With its W^U h, where the model has feedback.
  int64_t state_bytes() const override {
    return (weights_.state_proj.panels > 0 ? 2 : 1) * width_ * static_cast<int64_t>(sizeof(float));
  }
  void Run(const Step& step, StepResult* result) override;
  std::vector<float> ReadState(int slot) const override;

 private:
  // Where a row stands.
  struct Place {
    int position = 0;
    void* page = nullptr;  // that its own key and value go to
  };

  // W^U h of the state in a slot, where it is known.
  struct Feedback {
    float* product = nullptr;  // width_ numbers
    bool known = false;
    int64_t keeper = 0;  // row of the latest step that kept the state
  };

  // Where a fused row's W^U h and gate [D] are; null in rows that are not fused (or have no gate).
  struct Fused {
    const float* product = nullptr;
    const float* gate = nullptr;
    int64_t computed = -1;       // of the rows of `state_products`, where this step computes it
    int64_t computed_gate = -1;  // of the rows of `gates`, likewise
  };

  // What a step computes with. Only grows, and is allocated before threads start.
  struct Workspace {
    void Resize(const ModelConfig& config, int threads, const StepBounds& step);
    int64_t bytes() const;

    Rows x;                          // [rows, D] residual stream
    Rows normed;                     // [rows, D] the top-layer state h
    Rows qkv;                        // [rows, queries | keys | values]
    Rows mixed;                      // [rows, heads * head_dim]
    Rows gate_up;                    // [rows, gate | up]
    Rows states, state_products;     // [spoilt rows, D] h, then W^U h
    Rows tokens, gates;              // [tokens without a gate, D] e, then sigmoid(W^G e)
    Rows query_states, logits;       // [a block of queries, D and V]
    Rows maxima;                     // [a block of queries, blocks of logits]
    Rows query_products;             // [a block of queries, D] W^U h
    Rows scratch;                    // [threads, ...] of norms
    AlignedBuffer<float> packed;     // a product's input, as the kernels want it
    Rows own;                        // [threads, ...] the same of a single row, made by every thread
    Rows widened;                    // [threads, inputs * 32] a panel of coded weights; or empty
    AlignedBuffer<float> scales;     // [rows] of a norm
    std::vector<float> rms;          // [rows]
    std::vector<Place> places;       // [rows]
    std::vector<Fused> fused;        // [rows]
    std::vector<int32_t> spoilt;     // rows whose W^U h is computed by this step
    std::vector<int32_t> new_gates;  // tokens whose gate is
    std::unordered_map<int32_t, int64_t> gate_places;  // their places there
  };

  void Prepare(const Step& step);
  void PlaceRows(const Step& step);
  void PlanFeedback(const Step& step);

  // Called by every thread of a team; each ends when all have done their share.
  void MakeInputs(const Step& step);
  void MakeInput(const Row& row, const Fused& fused, float* x) const;
  void GatherState(const Row& row, int position, float* state) const;
  void MakeGates();
  void RunStack(const Step& step);
  void RunLayer(int layer, int64_t rows);
  void FinalNorm(int64_t rows);
  void RotateAndStore(int layer, int64_t rows);
  void NormHead(const AlignedBuffer<float>& weight, float* head) const;
  // The product of a normed row block, and others.
  void MultiplyNormed(const AlignedBuffer<float>& norm, const PackedMatrix& weights, int64_t rows,
                      const Rows& out);
  void Multiply(const PackedMatrix& weights, const Rows& in, int64_t rows, const Rows& out, bool add = false);
  const float* Pack(const ProductInput& input);
  void MultiplyPacked(const PackedMatrix& weights, const float* x, int64_t rows, const Rows& out,
                      bool add = false);
  void ProjectStates(const Step& step, int64_t first, int64_t count, const float* packed);

  // From here on, time belongs to this part.
  void Mark(CpuPart part) {
    if (profile_ != nullptr) profile_->Mark(part);
  }

  void KeepStates(const Step& step);
  void KeepGates();
  void KeepProducts(const Step& step, int64_t first, int64_t count);
  const float* AskedState(const Query& query) const;
  void Answer(const Step& step, StepResult* result);

  std::shared_ptr<const Model> model_;
  const ModelConfig& config_;
  const Kernels& kernels_;
  BackendInfo info_;
  Team team_;
  CpuProfile* profile_;  // may be null
  int64_t width_;        // D, padded
  CpuWeights weights_;
  RopeTable rope_;
  Pages pages_;
  StepAttention attention_;
  std::vector<AlignedBuffer<float>> state_blocks_;
  std::vector<float*> states_;      // [slots] of width_ numbers
  std::vector<Feedback> feedback_;  // [slots]; none where the model has no feedback
  GateCache gates_;
  Workspace work_;
};

}  // namespace fullband
