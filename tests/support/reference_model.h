// The model in double precision, one position at a time, written for reading: what backends are checked
// against.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/checkpoint/model.h"
#include "engine/compute/backend.h"
#include "engine/compute/step.h"

namespace fullband {

class ReferenceModel {
 public:
  using Vector = std::vector<double>;

  // Keys and values [kv_heads * head_dim] of each layer and position so far.
  struct Cache {
    std::vector<std::vector<Vector>> keys, values;
    size_t length() const { return keys.empty() ? 0 : keys.front().size(); }
  };

  // Keys and values are rounded as `kv_dtype` says, and else nothing is.
  explicit ReferenceModel(const Model& model, KvDtype kv_dtype = KvDtype::kF32);

  Vector Embed(int32_t token) const;
  // e (x) h: the input at a fused position. `h_older` is h_{t-2}, or h_0 at t = 1.
  Vector Fuse(int32_t token, const Vector& h, const Vector& h_older, Control control = Control::kNone) const;
  // Runs the input u at the next position: the top-layer state after the final norm. `rms` receives the root
  // mean square before it.
  Vector Advance(const Vector& u, Cache& cache, double* rms = nullptr) const;
  // Natural log-probabilities of all tokens.
  Vector Logprobs(const Vector& h) const;

 private:
  Vector Attend(const Vector& query, int layer, const Cache& cache) const;
  void NormAndRotate(const Tensor& norm, int heads, size_t position, Vector& x) const;

  const Model& model_;
  const ModelConfig& config_;
  KvDtype kv_dtype_;
};

// y = W x (+ b), and the frequencies of the rotary embedding, in double.
std::vector<double> ReferenceLinear(const Tensor& weight, const Tensor& bias, const std::vector<double>& x);
std::vector<double> ReferenceFrequencies(const RopeConfig& rope, int head_dim);

}  // namespace fullband
