// Times every kernel of the CPU backend, each after a check of its results (Google Benchmark; its options
// work, e.g. --benchmark_filter=multiply/head). --target=NAME picks the instruction set.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string_view>

#include "bench/micro/kernel_cases.h"
#include "common/error.h"

namespace fullband {
namespace {

void Time(benchmark::State& state, const KernelCase& kernel_case) {
  const std::unique_ptr<KernelWork> work = kernel_case.make();
  work->Check();
  for (auto _ : state) {
    work->Run();
    benchmark::ClobberMemory();
  }
  const auto runs = static_cast<double>(state.iterations());
  using benchmark::Counter;
  state.counters["byte/s"] = Counter(work->bytes * runs, Counter::kIsRate);
  if (work->flops > 0) state.counters["FLOP/s"] = Counter(work->flops * runs, Counter::kIsRate);
}

int Main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::string target;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--target="))
      throw UsageError(std::string(word), "is no option here", "--target=NAME, or one of Google Benchmark's");
    target = word.substr(word.find('=') + 1);
  }
  const Kernels& kernels = KernelsFor(target);
  fmt::print(stderr, "target {}\n", kernels.target);
  for (const KernelCase& kernel_case : AllKernelCases(kernels))
    benchmark::RegisterBenchmark(kernel_case.name.c_str(),
                                 [kernel_case](benchmark::State& state) { Time(state, kernel_case); });
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace fullband

int main(int argc, char** argv) {
  try {
    return fullband::Main(argc, argv);
  } catch (const fullband::Error& error) {
    fmt::print(stderr, "microbench: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
