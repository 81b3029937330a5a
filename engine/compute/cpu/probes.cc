#include "engine/compute/cpu/probes.h"

#include <omp.h>

#include <algorithm>
#include <chrono>

#include "common/error.h"
#include "engine/compute/cpu/kernels.h"
#include "engine/compute/cpu/team.h"

namespace fullband {
namespace {

using Clock = std::chrono::steady_clock;

// Floats that the probes' inner loops take at once.
constexpr int64_t kGrain = 128;

// Least seconds of one run of `work`, called by every thread of a team, which starts and ends together.
template <class Work>
double Fastest(Team* team, int repeats, Work work) {
  double best = 0;
  for (int i = 0; i <= repeats; ++i) {
    Clock::time_point began, ended;
    const auto stamp = [](Clock::time_point* when) {
      Team::Meet();
      if (Team::Here().thread == 0) *when = Clock::now();
    };
    team->Run([&] {
      stamp(&began);
      work();
      stamp(&ended);
    });
    const double seconds = std::chrono::duration<double>(ended - began).count();
    if (i > 0) best = i == 1 ? seconds : std::min(best, seconds);  // the first one warms up
  }
  return best;
}

double PeakFlops(const Kernels& kernels, Team* team, int repeats) {
  constexpr double kLongEnough = 0.01;  // seconds
  std::vector<AlignedBuffer<float>> numbers;
  for (int i = 0; i < team->threads(); ++i) numbers.emplace_back(16);
  std::vector<double> flops(team->threads());
  for (int64_t rounds = 1 << 14;; rounds *= 4) {
    const double seconds = Fastest(team, repeats, [&] {
      float* own = numbers[Team::Here().thread].data();
      own[0] = 0.5f;
      flops[Team::Here().thread] = kernels.multiply_add_probe(rounds, own);
    });
    if (seconds < kLongEnough) continue;
    double sum = 0;
    for (double one : flops) sum += one;
    return sum / seconds;
  }
}

}  // namespace

double MachineBounds::PeakOf(const std::string& target) const {
  for (const Peak& peak : peaks)
    if (peak.target == target) return peak.flops;
  throw Error("target " + target, "was not probed");
}

MachineBounds ProbeMachine(const ProbeOptions& options) {
  MachineBounds bounds;
  const int threads = bounds.threads = options.threads > 0 ? options.threads : omp_get_max_threads();
  Team team(threads);
  const int64_t size = std::max<int64_t>(options.buffer_bytes / sizeof(float) / kGrain, threads) * kGrain;
  AlignedBuffer<float> a(size), b(size), c(size);
  const Kernels& kernels = KernelsFor("");
  const auto share = [&](auto work) {
    ShareRanges(size / kGrain,
                [&](int64_t begin, int64_t end) { work(begin * kGrain, (end - begin) * kGrain); });
  };
  // Touched by the threads that read them.
  team.Run([&] {
    share([&](int64_t begin, int64_t count) {
      for (float* x : {a.data(), b.data(), c.data()}) std::fill_n(x + begin, count, 1.0f);
    });
  });
  std::vector<float> sums(threads);
  const double read = Fastest(&team, options.repeats, [&] {
    share([&](int64_t begin, int64_t count) {
      sums[Team::Here().thread] = kernels.read_probe(a.data() + begin, count);
    });
  });
  const double triad = Fastest(&team, options.repeats, [&] {
    share([&](int64_t begin, int64_t count) {
      kernels.triad_probe(b.data() + begin, c.data() + begin, count, a.data() + begin);
    });
  });
  const double bytes = static_cast<double>(size) * sizeof(float);
  bounds.read_bandwidth = bytes / read;
  bounds.triad_bandwidth = 3 * bytes / triad;
  for (const std::string& target : KernelTargets())
    bounds.peaks.push_back({target, PeakFlops(KernelsFor(target), &team, options.repeats)});
  return bounds;
}

}  // namespace fullband
