#include "tests/support/reference_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fullband {
namespace {

using Vector = ReferenceModel::Vector;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Vector RmsNorm(const Vector& x, const Tensor& weight, double eps, double* rms = nullptr) {
  double squares = 0;
  for (double v : x) squares += v * v;
  const double mean = squares / x.size();
  if (rms != nullptr) *rms = std::sqrt(mean);
  Vector out(x.size());
  for (size_t i = 0; i < x.size(); ++i) out[i] = x[i] / std::sqrt(mean + eps) * ElementAsFloat(weight, i);
  return out;
}

void Add(Vector& x, const Vector& y) {
  for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

// To the nearest number with eight significant bits, as bfloat16 has, ties to even.
double RoundTo8Bits(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

double Dot(const double* x, const double* y, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

}  // namespace

Vector ReferenceLinear(const Tensor& weight, const Tensor& bias, const Vector& x) {
  Vector y(weight.rows);
  for (int64_t r = 0; r < weight.rows; ++r) {
    y[r] = bias ? ElementAsFloat(bias, r) : 0;
    for (int64_t c = 0; c < weight.cols; ++c) y[r] += ElementAsFloat(weight, r * weight.cols + c) * x[c];
  }
  return y;
}

Vector ReferenceFrequencies(const RopeConfig& rope, int head_dim) {
  Vector frequencies;
  for (int i = 0; i < head_dim / 2; ++i) {
    const double plain = std::pow(rope.theta, -2.0 * i / head_dim);
    double frequency = plain;
    if (rope.type == RopeType::kLinear) frequency = plain / rope.factor;
    if (rope.type == RopeType::kLlama3) {
      // How many turns the pair makes over the original context decides how much of it is stretched.
      const double turns = rope.original_max_positions * plain / (2 * std::numbers::pi);
      const double kept = (turns - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
      const double share = std::clamp(kept, 0.0, 1.0);
      frequency = share * plain + (1 - share) * plain / rope.factor;
    }
    frequencies.push_back(frequency);
  }
  return frequencies;
}

ReferenceModel::ReferenceModel(const Model& model, KvDtype kv_dtype)
    : model_(model), config_(model.config), kv_dtype_(kv_dtype) {}

Vector ReferenceModel::Embed(int32_t token) const {
  Vector e(config_.hidden_size);
  for (size_t i = 0; i < e.size(); ++i) e[i] = ElementAsFloat(model_.weights.embedding, token * e.size() + i);
  return e;
}

Vector ReferenceModel::Fuse(int32_t token, const Vector& h, const Vector& h_older, Control control) const {
  Vector state = control == Control::kStale ? h_older : h;
  if (control == Control::kZero) std::fill(state.begin(), state.end(), 0.0);
  if (control == Control::kReversed) std::reverse(state.begin(), state.end());
  const Vector up = ReferenceLinear(model_.weights.state_proj, {}, state);
  Vector u = Embed(token);
  if (config_.fusion == Fusion::kAdditive) {
    Add(u, up);
    return u;
  }
  const Vector gate_input = control == Control::kConstantGate ? Embed(0) : u;
  const Vector gate = ReferenceLinear(model_.weights.token_gate, {}, gate_input);
  for (size_t i = 0; i < u.size(); ++i) u[i] = up[i] * Sigmoid(gate[i]);
  return u;
}

void ReferenceModel::NormAndRotate(const Tensor& norm, int heads, size_t position, Vector& x) const {
  const int width = config_.head_dim, half = width / 2;
  const Vector frequencies = ReferenceFrequencies(config_.rope, width);
  for (int h = 0; h < heads; ++h) {
    Vector head(x.begin() + h * width, x.begin() + (h + 1) * width);
    if (norm) head = RmsNorm(head, norm, config_.rms_norm_eps);
    for (int i = 0; i < half; ++i) {
      const double angle = position * frequencies[i];
      x[h * width + i] = head[i] * std::cos(angle) - head[i + half] * std::sin(angle);
      x[h * width + i + half] = head[i + half] * std::cos(angle) + head[i] * std::sin(angle);
    }
  }
}

Vector ReferenceModel::Attend(const Vector& query, int layer, const Cache& cache) const {
  const int width = config_.head_dim, shared = config_.heads / config_.kv_heads;
  Vector mixed(query.size());
  for (int h = 0; h < config_.heads; ++h) {
    Vector weights;
    for (const Vector& key : cache.keys[layer]) {
      weights.push_back(Dot(&query[h * width], &key[h / shared * width], width) / std::sqrt(double(width)));
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& w : weights) sum += w = std::exp(w - largest);
    for (size_t s = 0; s < weights.size(); ++s) {
      for (int i = 0; i < width; ++i) {
        mixed[h * width + i] += weights[s] / sum * cache.values[layer][s][h / shared * width + i];
      }
    }
  }
  return mixed;
}

Vector ReferenceModel::Advance(const Vector& u, Cache& cache, double* rms) const {
  cache.keys.resize(config_.layers);
  cache.values.resize(config_.layers);
  const size_t position = cache.length();
  Vector x = u;
  for (int l = 0; l < config_.layers; ++l) {
    const LayerWeights& w = model_.weights.layers[l];
    const Vector a = RmsNorm(x, w.input_norm, config_.rms_norm_eps);
    Vector q = ReferenceLinear(w.q, w.q_bias, a), k = ReferenceLinear(w.k, w.k_bias, a);
    NormAndRotate(w.q_norm, config_.heads, position, q);
    NormAndRotate(w.k_norm, config_.kv_heads, position, k);
    Vector v = ReferenceLinear(w.v, w.v_bias, a);
    if (kv_dtype_ == KvDtype::kBF16) {
      for (double& number : k) number = RoundTo8Bits(number);
      for (double& number : v) number = RoundTo8Bits(number);
    }
    cache.keys[l].push_back(k);
    cache.values[l].push_back(v);
    Add(x, ReferenceLinear(w.o, w.o_bias, Attend(q, l, cache)));

    const Vector m = RmsNorm(x, w.post_attention_norm, config_.rms_norm_eps);
    const Vector gate = ReferenceLinear(w.gate, w.gate_bias, m);
    Vector inner = ReferenceLinear(w.up, w.up_bias, m);
    for (size_t i = 0; i < inner.size(); ++i) inner[i] *= gate[i] * Sigmoid(gate[i]);
    Add(x, ReferenceLinear(w.down, w.down_bias, inner));
  }
  return RmsNorm(x, model_.weights.final_norm, config_.rms_norm_eps, rms);
}

Vector ReferenceModel::Logprobs(const Vector& h) const {
  Vector z = ReferenceLinear(model_.weights.head, {}, h);
  const double largest = *std::max_element(z.begin(), z.end());
  double sum = 0;
  for (double v : z) sum += std::exp(v - largest);
  for (double& v : z) v -= largest + std::log(sum);
  return z;
}

}  // namespace fullband
