// The checks that stand before the microbenchmarks' timing: they pass, and notice a kernel that is wrong.
#include "bench/micro/kernel_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/support/message_of.h"

namespace fullband {
namespace {

const Kernels& Good() { return KernelsFor(""); }

// Each kernel with one result moved a little, by more than rounding.
constexpr float kFault = 1.001f;
Kernels Spoilt() {
  Kernels k = Good();
  k.pack = [](const ProductInput& input, int64_t begin, int64_t end, float* packed) {
    Good().pack(input, begin, end, packed);
    packed[5] *= kFault;
  };
  k.multiply = [](const Product& product, int64_t begin, int64_t end) {
    Good().multiply(product, begin, end);
    product.out[0] += 0.1f;  // beyond the worst case of 1,536 roundings
  };
  k.attend = [](const AttentionTile& tile) {
    Good().attend(tile);
    tile.outs[tile.rows - 1][tile.head_dim] += 1e-3f;
  };
  k.join_blocks = [](const AttentionTile& tile, float* parts) {
    Good().join_blocks(tile, parts);
    tile.outs[0][0] += 1e-3f;
  };
  k.rms_norm = [](const float* x, const float* weight, int64_t size, float eps, float* out) {
    const float rms = Good().rms_norm(x, weight, size, eps, out);
    out[3] *= kFault;
    return rms;
  };
  k.norm_scale = [](const float* x, int64_t size, float eps) {
    return kFault * Good().norm_scale(x, size, eps);
  };
  k.rotate = [](const float* cosines, const float* sines, int64_t half, float scale, float* x) {
    Good().rotate(sines, cosines, half, scale, x);
  };
  k.sigmoid = [](const float* x, int64_t size, float* out) {
    Good().sigmoid(x, size, out);
    out[size - 1] *= kFault;
  };
  k.log_sum_exp = [](const float* x, int64_t size, float* maxima) {
    return Good().log_sum_exp(x, size, maxima) + 1e-4;
  };
  k.exp = [](const float* x, int64_t size, float* out) {
    Good().exp(x, size, out);
    out[7] *= kFault;
  };
  return k;
}

TEST(KernelCases, PassOnEveryTarget) {
  for (const std::string& target : KernelTargets()) {
    std::set<std::string> names;
    for (const KernelCase& one : AllKernelCases(KernelsFor(target))) {
      EXPECT_TRUE(names.insert(one.name).second) << one.name;
      // The head's 28 million numbers take a while, and what is wrong with it would be wrong with others.
      if (one.name.find("/head/") != std::string::npos && target != KernelTargets().front()) continue;
      const std::unique_ptr<KernelWork> work = one.make();
      EXPECT_EQ(MessageOf([&] { work->Check(); }), "(no error)") << target << " " << one.name;
      EXPECT_GT(work->bytes, 0) << one.name;
    }
    for (const char* name :
         {"multiply/qkv/bf16/12", "multiply/qkv/coded/32", "attend/bf16/1024/1", "rms_norm/576",
          "norm_scale/576", "sigmoid/576", "log_sum_exp/49152", "exp/1536", "rotate/64", "pack/gate/8"})
      EXPECT_EQ(names.count(name), 1u) << name;
  }
}

TEST(KernelCases, NoticeFaults) {
  const Kernels spoilt = Spoilt();
  Kernels packing = spoilt;  // packed rows are read by products, whose own fault would be noticed first
  packing.multiply = Good().multiply;
  std::vector<KernelCase> cases = AllKernelCases(spoilt);
  std::erase_if(cases, [](const KernelCase& one) { return one.name.starts_with("pack/"); });
  for (const KernelCase& one : ProductCases(packing))
    if (one.name.starts_with("pack/")) cases.push_back(one);
  for (const KernelCase& one : cases) {
    if (one.name.find("/head/") != std::string::npos) continue;
    const std::string kernel = one.name.substr(0, one.name.find('/'));
    const std::string message = MessageOf([&] { one.make()->Check(); });
    EXPECT_THAT(message, testing::StartsWith(kernel + ": number")) << one.name;
  }
}

TEST(CheckClose, RefusesWhatIsNoNumber) {
  EXPECT_EQ(MessageOf([] { CheckClose("x", 0, 1.0, 1.5, 0.5); }), "(no error)");
  EXPECT_THAT(MessageOf([] { CheckClose("x", 2, std::nan(""), 1, 9); }), testing::HasSubstr("number 2"));
  EXPECT_THAT(MessageOf([] { CheckClose("x", 2, 1, 2, 0.9); }), testing::HasSubstr("2 is right"));
}

}  // namespace
}  // namespace fullband
