// A third backend: a tiny model in integer arithmetic, for tests of everything above the compute interface.
//
// It honours pages, copies, state slots, fusion and controls truly: a position's state depends, through
// hashes, on every key it reads from pages, on its position, its token and the fused state. Sums wrap around,
// so the order of evaluation changes nothing, and a wrong page, slot, position or a missing copy changes
// everything after it. Reading what was never written, and writing one page twice in a step, throw
// std::logic_error.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/compute/backend.h"

namespace fullband {

// The model's arithmetic, as pure functions, so that tests can state what must come out.
struct ToyModel {
  static constexpr int kWidth = 4;
  static constexpr int kLayers = 2;
  using Vector = std::array<uint64_t, kWidth>;
  using Keys = std::array<Vector, kLayers>;  // of one position

  int vocab_size = 16;
  Fusion fusion = Fusion::kGlu;

  static Vector Embed(int32_t token);
  Vector Fuse(int32_t token, const Vector& state, const Vector& older, Control control) const;
  // Runs the input of `position` through the layers. `keys` are those of positions 0 .. position - 1; the own
  // ones are written to `own`. Returns the top-layer state.
  static Vector Stack(const Vector& input, int position, std::span<const Keys* const> keys, Keys* own);
  std::vector<float> Logits(const Vector& state) const;  // in [0, 8)
  static double LogSum(std::span<const float> logits);   // log(sum(exp))
  std::vector<float> Logprobs(const Vector& state) const;
  // The best token, ties to the lowest id.
  static int32_t ArgMax(std::span<const float> values);
};

// Mistakes that a test can plant, to see that its checks find them.
enum class ToyFault {
  kNone,
  kIgnoreOlderState,  // kStale reads the newest state
  kIgnoreControl,
  kMixCopies,        // a copied page has its first position everywhere
  kIgnoreFusion,     // fused inputs are plain
  kForgetFirstPage,  // attention leaves out the keys of page 0
  kMixRows,          // a state depends on how many rows the step has
};

struct ToyOptions {
  int vocab_size = 16;
  int page_size = 4;
  int max_positions = 256;
  Fusion fusion = Fusion::kGlu;
  std::vector<int32_t> end_tokens;
  std::optional<int32_t> poison;  // rows of this token have a state that is not finite
  ToyFault fault = ToyFault::kNone;
};

class ToyBackend : public Backend {
 public:
  explicit ToyBackend(const ToyOptions& options = {});

  const BackendInfo& info() const override { return info_; }
  const ModelConfig& config() const override { return config_; }
  void Reserve(int page_count, int state_count) override;
  int64_t page_bytes() const override;
  int64_t state_bytes() const override { return sizeof(ToyModel::Vector); }
  void Run(const Step& step, StepResult* result) override;
  std::vector<float> ReadState(int slot) const override;

  const ToyModel& model() const { return model_; }
  // What was run so far, for tests of scheduling.
  int64_t rows_run() const { return rows_run_; }
  int steps_run() const { return steps_run_; }
  int largest_step() const { return largest_step_; }
  int copies_run() const { return copies_run_; }
  int page_count() const { return static_cast<int>(pages_.size()) / options_.page_size; }

 private:
  void RunCopies(const Step& step);
  std::vector<ToyModel::Vector> MakeInputs(const Step& step) const;
  void RunSpan(const Step& step, const Span& span, const std::vector<ToyModel::Vector>& inputs,
               std::vector<ToyModel::Vector>* states);
  std::optional<ToyModel::Keys>& KeysAt(const Span& span, int position);
  const ToyModel::Vector& StateAt(int slot) const;

  ToyOptions options_;
  ToyModel model_;
  BackendInfo info_;
  ModelConfig config_;
  std::vector<std::optional<ToyModel::Keys>> pages_;  // [page * page_size + offset]
  std::vector<std::optional<ToyModel::Vector>> states_;
  int64_t rows_run_ = 0;
  int steps_run_ = 0;
  int largest_step_ = 0;
  int copies_run_ = 0;
};

}  // namespace fullband
