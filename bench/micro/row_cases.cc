// Kernels that work on one row.
#include <fmt/format.h>

#include <cmath>

#include "bench/micro/kernel_cases.h"
#include "engine/compute/cpu/rope.h"

namespace fullband {
namespace {

constexpr int64_t kWidth = 576, kInner = 1536, kVocabulary = 49152;

// A kernel of two rows at most that gives one.
class RowWork : public KernelWork {
 public:
  RowWork(const Kernels& kernels, int64_t size, float range)
      : kernels_(kernels), a_(size), b_(size), out_(size) {
    FillUneven(a_.data(), size, 1, range);
    FillUneven(b_.data(), size, 2);
    bytes = 3 * 4.0 * static_cast<double>(size);
  }

 protected:
  const Kernels& kernels_;
  AlignedBuffer<float> a_, b_, out_;
};

class RmsNormWork : public RowWork {
 public:
  explicit RmsNormWork(const Kernels& kernels) : RowWork(kernels, kWidth, 4) {}
  void Run() override { rms_ = kernels_.rms_norm(a_.data(), b_.data(), kWidth, 1e-5f, out_.data()); }
  void Check() override {
    Run();
    double mean = 0;
    for (int64_t i = 0; i < kWidth; ++i) mean += double{a_[i]} * a_[i] / kWidth;
    const double relative = kRounding * (kWidth / 16 + 12);
    CheckClose("rms_norm", -1, rms_, std::sqrt(mean), std::sqrt(mean) * relative);
    for (int64_t i = 0; i < kWidth; ++i) {
      const double expected = a_[i] / std::sqrt(mean + 1e-5) * b_[i];
      CheckClose("rms_norm", i, out_[i], expected, std::abs(expected) * relative);
    }
  }

 private:
  float rms_ = 0;
};

class SiluGateWork : public RowWork {
 public:
  explicit SiluGateWork(const Kernels& kernels) : RowWork(kernels, kInner, 10) {}
  void Run() override { kernels_.silu_gate(a_.data(), b_.data(), kInner, out_.data()); }
  void Check() override {
    Run();
    for (int64_t i = 0; i < kInner; ++i) {
      const double expected = a_[i] / (1 + std::exp(-double{a_[i]})) * b_[i];
      CheckClose("silu_gate", i, out_[i], expected, std::abs(expected) * 12 * kRounding);
    }
  }
};

class SigmoidGateWork : public RowWork {
 public:
  explicit SigmoidGateWork(const Kernels& kernels) : RowWork(kernels, kWidth, 10) {}
  void Run() override { kernels_.sigmoid_gate(a_.data(), b_.data(), kWidth, out_.data()); }
  void Check() override {
    Run();
    for (int64_t i = 0; i < kWidth; ++i) {
      const double expected = b_[i] / (1 + std::exp(-double{a_[i]}));
      CheckClose("sigmoid_gate", i, out_[i], expected, std::abs(expected) * 10 * kRounding);
    }
  }
};

class ExpWork : public RowWork {
 public:
  explicit ExpWork(const Kernels& kernels) : RowWork(kernels, kInner, 80) { bytes = 2 * 4.0 * kInner; }
  void Run() override { kernels_.exp(a_.data(), kInner, out_.data()); }
  void Check() override {
    Run();
    for (int64_t i = 0; i < kInner; ++i) {
      const double expected = std::exp(double{a_[i]});
      CheckClose("exp", i, out_[i], expected, expected * 4 * kRounding);
    }
  }
};

class LogSumExpWork : public RowWork {
 public:
  explicit LogSumExpWork(const Kernels& kernels) : RowWork(kernels, kVocabulary, 20) {
    bytes = 4.0 * kVocabulary;
  }
  void Run() override { result_ = kernels_.log_sum_exp(a_.data(), kVocabulary); }
  void Check() override {
    Run();
    double sum = 0;
    for (int64_t i = 0; i < kVocabulary; ++i) sum += std::exp(double{a_[i]});
    CheckClose("log_sum_exp", 0, result_, std::log(sum), 80 * kRounding);
  }

 private:
  double result_ = 0;
};

// One head. In place, as it is used: every run turns what the one before left.
class RopeWork : public KernelWork {
 public:
  RopeWork() : table_(RopeConfig(), kHeadDim), x_(kHeadDim) {
    table_.Cover(kPosition + 1);
    Refill();
    bytes = 3 * 4.0 * kHeadDim;
  }
  void Run() override { table_.Rotate(kPosition, 1.0f, x_.data()); }
  void Check() override {
    Refill();
    const std::vector<float> frequencies = InverseFrequencies(RopeConfig(), kHeadDim);
    std::vector<double> expected(kHeadDim);
    for (int64_t i = 0; i < kHalf; ++i) {
      // Angles are rounded to float32 by definition.
      const double angle = static_cast<float>(kPosition) * frequencies[i];
      expected[i] = x_[i] * std::cos(angle) - x_[i + kHalf] * std::sin(angle);
      expected[i + kHalf] = x_[i + kHalf] * std::cos(angle) + x_[i] * std::sin(angle);
    }
    Run();
    for (int64_t i = 0; i < kHeadDim; ++i) CheckClose("rope", i, x_[i], expected[i], 6 * kRounding);
    Refill();
  }

 private:
  static constexpr int kHeadDim = 64, kHalf = kHeadDim / 2, kPosition = 1000;
  void Refill() { FillUneven(x_.data(), kHeadDim, 1); }
  RopeTable table_;
  AlignedBuffer<float> x_;
};

template <class Work>
KernelCase Case(const Kernels& kernels, const char* name) {
  return {name, [&kernels] { return std::make_unique<Work>(kernels); }};
}

}  // namespace

std::vector<KernelCase> RowCases(const Kernels& kernels) {
  return {Case<RmsNormWork>(kernels, "rms_norm/576"),
          Case<SiluGateWork>(kernels, "silu_gate/1536"),
          Case<SigmoidGateWork>(kernels, "sigmoid_gate/576"),
          Case<ExpWork>(kernels, "exp/1536"),
          Case<LogSumExpWork>(kernels, "log_sum_exp/49152"),
          {"rope/64", [] { return std::make_unique<RopeWork>(); }}};
}

}  // namespace fullband
