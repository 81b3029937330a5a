// The probes do the work that they count. How fast they are is nobody's verdict.
#include "engine/compute/cpu/probes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bench/machine.h"
#include "common/error.h"
#include "engine/compute/cpu/kernels.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

TEST(ProbeKernels, DoTheirWork) {
  for (const std::string& target : KernelTargets()) {
    const Kernels& kernels = KernelsFor(target);
    AlignedBuffer<float> a(256), b(256), out(256);
    for (int i = 0; i < 256; ++i) a[i] = static_cast<float>(i), b[i] = 2;
    EXPECT_EQ(kernels.read_probe(a.data(), 256), 255 * 128) << target;
    EXPECT_EQ(kernels.read_probe(a.data(), 128), 127 * 64) << target;
    kernels.triad_probe(a.data(), b.data(), 128, out.data());
    EXPECT_EQ(out[0], 6) << target;
    EXPECT_EQ(out[127], 133) << target;
    EXPECT_EQ(out[128], 0) << target;
    // All chains tend to 1, and there are operations / (2 * rounds) of them.
    out[0] = 0.5f;
    const double operations = kernels.multiply_add_probe(100, out.data());
    EXPECT_NEAR(out[1], operations / 200, 1e-3) << target;
  }
}

TEST(ProbeMachine, MeasuresEveryTarget) {
  const MachineBounds bounds = ProbeMachine({.threads = 1, .buffer_bytes = 1 << 16, .repeats = 1});
  EXPECT_EQ(bounds.threads, 1);
  EXPECT_GT(bounds.read_bandwidth, 0);
  EXPECT_GT(bounds.triad_bandwidth, 0);
  ASSERT_EQ(bounds.peaks.size(), KernelTargets().size());
  EXPECT_EQ(bounds.PeakOf(KernelTargets().front()), bounds.peaks.front().flops);
  EXPECT_THROW(bounds.PeakOf("AVX9"), Error);
}

TEST(ReadCaches, ReadsWhatTheSystemSays) {
  const TempFolder folder;
  const auto write = [&](const char* index, const char* level, const char* type, const char* size) {
    const std::filesystem::path own = folder.path() / index;
    std::filesystem::create_directories(own);
    std::ofstream(own / "level") << level << "\n";
    std::ofstream(own / "type") << type << "\n";
    std::ofstream(own / "size") << size << "\n";
  };
  write("index0", "1", "Data", "48K");
  write("index1", "3", "Unified", "33M");
  const std::vector<CacheSize> caches = ReadCaches(folder.path());
  ASSERT_EQ(caches.size(), 2u);
  EXPECT_EQ(caches[0].bytes, 48 << 10);
  EXPECT_EQ(caches[1].level, 3);
  EXPECT_EQ(caches[1].type, "Unified");
  EXPECT_EQ(ProbeBytes(caches), int64_t{132} << 20);
  EXPECT_EQ(ProbeBytes({}), int64_t{64} << 20);
  EXPECT_EQ(ProbeBytes({{3, "Unified", int64_t{1} << 30}}), int64_t{512} << 20);
  EXPECT_TRUE(ReadCaches(folder.path() / "none").empty());
}

}  // namespace
}  // namespace fullband
