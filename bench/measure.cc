#include "bench/measure.h"

#include <chrono>

namespace fullband {
namespace {

double Time(const BenchClock& now, const std::function<void()>& work) {
  const double began = now();
  work();
  return now() - began;
}

Figure Measure(StepRunner* runner, const BenchClock& now, double tokens, int repeats,
               const std::function<void()>& work) {
  Figure figure;
  figure.tokens = tokens;
  runner->CountWork();
  work();
  figure.work = runner->TakeWork();
  for (int i = 0; i < repeats; ++i) figure.seconds.push_back(Time(now, work));
  return figure;
}

}  // namespace

BenchClock SteadyBenchClock() {
  return [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
}

Figure MeasurePrefill(StepRunner* runner, const BenchClock& now, const Setting& setting, int prompt,
                      int chunk, int repeats) {
  return Measure(runner, now, prompt, repeats, [&] { runner->Prefill(setting, prompt, chunk); });
}

Figure MeasureDecode(StepRunner* runner, const BenchClock& now, DecodeBatch* batch, const Setting& setting,
                     int repeats) {
  return Measure(runner, now, batch->tokens(), repeats, [&] { batch->Run(setting); });
}

Pairs MeasurePairs(const BenchClock& now, int pairs, double scale, const std::function<void()>& first,
                   const std::function<void()>& second) {
  Pairs measured;
  first();
  second();
  for (int i = 0; i < pairs; ++i) {
    double one = 0, two = 0;
    // Who goes first changes, so that a drift of the machine favours neither.
    if (i % 2 == 0) {
      one = Time(now, first);
      two = Time(now, second);
    } else {
      two = Time(now, second);
      one = Time(now, first);
    }
    measured.first.push_back(one);
    measured.second.push_back(two);
    measured.ratios.push_back(two / one * scale);
  }
  return measured;
}

StepProfile ProfileSteps(StepRunner* runner, CpuProfile* profile, int repeats,
                         const std::function<void()>& work) {
  work();
  StepProfile measured;
  const int64_t before = runner->steps_run();
  profile->Start();
  for (int i = 0; i < repeats; ++i) work();
  profile->Stop();
  measured.steps = runner->steps_run() - before;
  for (size_t i = 0; i < kCpuParts; ++i) {
    const auto part = static_cast<CpuPart>(i);
    if (profile->seconds(part) > 0)
      measured.parts.push_back(
          {CpuPartName(part), profile->seconds(part) / static_cast<double>(measured.steps)});
  }
  return measured;
}

}  // namespace fullband
