// The arithmetic that a step asks for, from the model's shape alone: what figures are set against the
// machine's bounds with.
#pragma once

#include <string>

#include "engine/compute/backend.h"
#include "engine/compute/cpu/probes.h"

namespace fullband {

struct Work {
  double flops = 0;  // a multiply-add is two
  double bytes = 0;  // to be read or written at least once
  Work& operator+=(const Work& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

// With D, L, H, G, K, F, V as in engine/checkpoint/config.h (F the inner width):
//   a row            2 L (D (H + 2 G) K + H K D + 3 D F) operations, and 4 L H K for each position it sees
//   a fused row      2 D^2 more: W^U h. Gates depend on the token alone and are computed once for each.
//   a query          2 D V
//   a step           reads the layers' matrices once, the head's where anything is asked, the feedback's
//                    where a row is fused; each page of keys and values that it sees once, as far as it is
//                    seen; and writes its rows' keys and values.
// Norms, gates, rotations and activations are left out: they are small beside these.
class StepWork {
 public:
  // Matrices' bytes as the CPU backend keeps them (packed_matrix.h).
  StepWork(const Model& model, const Backend& backend);
  // Without weights: bytes of keys and values only.
  explicit StepWork(const Backend& backend);

  Work Of(const Step& step) const;
  double weight_bytes() const { return layer_bytes_ + head_bytes_ + feedback_bytes_ + gate_bytes_; }

  static std::string Formula();

 private:
  const ModelConfig& config_;
  int page_size_;
  double position_bytes_;  // of keys and values in all layers
  double layer_bytes_ = 0, head_bytes_ = 0, feedback_bytes_ = 0, gate_bytes_ = 0;
};

// min(peak, bandwidth x intensity): operations a second that the machine allows for this mix of operations
// and bytes. 0 where there are no operations.
double RooflineFlops(const Work& work, double peak_flops, double bandwidth);

}  // namespace fullband
