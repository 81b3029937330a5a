// Kernels that work on one row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/micro/kernel_cases.h"
#include "engine/compute/cpu/rope.h"
#include "engine/compute/sampling.h"

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

class NormScaleWork : public RowWork {
 public:
  explicit NormScaleWork(const Kernels& kernels) : RowWork(kernels, kWidth, 4) { bytes = 4.0 * kWidth; }
  void Run() override { scale_ = kernels_.norm_scale(a_.data(), kWidth, 1e-5f); }
  void Check() override {
    Run();
    double mean = 0;
    for (int64_t i = 0; i < kWidth; ++i) mean += double{a_[i]} * a_[i] / kWidth;
    const double expected = 1 / std::sqrt(mean + 1e-5);
    CheckClose("norm_scale", 0, scale_, expected, expected * kRounding * (kWidth / 16 + 10));
  }

 private:
  float scale_ = 0;
};

class SigmoidWork : public RowWork {
 public:
  explicit SigmoidWork(const Kernels& kernels) : RowWork(kernels, kWidth, 10) { bytes = 2 * 4.0 * kWidth; }
  void Run() override { kernels_.sigmoid(a_.data(), kWidth, out_.data()); }
  void Check() override {
    Run();
    for (int64_t i = 0; i < kWidth; ++i) {
      const double expected = 1 / (1 + std::exp(-double{a_[i]}));
      CheckClose("sigmoid", i, out_[i], expected, expected * 10 * kRounding);
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
  void Run() override { result_ = kernels_.log_sum_exp(a_.data(), kVocabulary, maxima_.data()); }
  void Check() override {
    Run();
    double sum = 0;
    for (int64_t i = 0; i < kVocabulary; ++i) sum += std::exp(double{a_[i]});
    CheckClose("log_sum_exp", 0, result_, std::log(sum), 80 * kRounding);
    for (int64_t begin = 0; begin < kVocabulary; begin += kLogitBlock) {
      const int64_t size = std::min(kLogitBlock, kVocabulary - begin);
      CheckClose("log_sum_exp", 1 + begin / kLogitBlock, maxima_[begin / kLogitBlock],
                 *std::max_element(a_.data() + begin, a_.data() + begin + size), 0);
    }
  }

 private:
  double result_ = 0;
  AlignedBuffer<float> maxima_{(kVocabulary + kLogitBlock - 1) / kLogitBlock};
};

// One head. In place, as it is used: every run turns what the one before left.
class RopeWork : public KernelWork {
 public:
  explicit RopeWork(const Kernels& kernels)
      : kernels_(kernels), table_(RopeConfig(), kHeadDim), x_(kHeadDim) {
    table_.Cover(kPosition + 1);
    Refill();
    bytes = 3 * 4.0 * kHeadDim;
  }
  void Run() override {
    kernels_.rotate(table_.cosines(kPosition), table_.sines(kPosition), kHalf, 1.0f, x_.data());
  }
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
    for (int64_t i = 0; i < kHeadDim; ++i) CheckClose("rotate", i, x_[i], expected[i], 6 * kRounding);
    Refill();
  }

 private:
  static constexpr int kHeadDim = 64, kHalf = kHeadDim / 2, kPosition = 1000;
  void Refill() { FillUneven(x_.data(), kHeadDim, 1); }
  const Kernels& kernels_;
  RopeTable table_;
  AlignedBuffer<float> x_;
};

template <class Work>
KernelCase Case(const Kernels& kernels, const char* name) {
  return {name, [&kernels] { return std::make_unique<Work>(kernels); }};
}

}  // namespace

std::vector<KernelCase> RowCases(const Kernels& kernels) {
  return {Case<RmsNormWork>(kernels, "rms_norm/576"),        Case<NormScaleWork>(kernels, "norm_scale/576"),
          Case<SigmoidWork>(kernels, "sigmoid/576"),         Case<ExpWork>(kernels, "exp/1536"),
          Case<LogSumExpWork>(kernels, "log_sum_exp/49152"), Case<RopeWork>(kernels, "rotate/64")};
}

}  // namespace fullband
