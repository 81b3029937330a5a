#include "engine/compute/random.h"

#include <gtest/gtest.h>

#include <set>

namespace fullband {
namespace {

using Words = std::array<uint32_t, 4>;

// The known-answer vectors published with Random123 (Salmon et al., SC'11) for philox4x32-10.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Uniform, TakesTheTopBitsOfTheFirstWord) {
  EXPECT_EQ(Uniform(0, 0), static_cast<float>(0x6627e8d5 >> 8) / (1 << 24));
}

TEST(Uniform, CoversTheUnitIntervalEvenly) {
  std::vector<int> bins(16);
  for (uint64_t counter = 0; counter < 16000; ++counter) {
    const float u = Uniform(RandomKey(7, 8, 9), counter);
    ASSERT_GE(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    ++bins[static_cast<int>(u * 16)];
  }
  double chi_square = 0;
  for (int count : bins) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_square,
            44.3);  // 15 degrees of freedom, p = 1e-4; the draws are fixed, so this cannot flicker
}

TEST(RandomKey, DependsOnEachPart) {
  std::set<uint64_t> keys;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    for (uint64_t item = 0; item < 8; ++item) {
      for (uint64_t sample = 0; sample < 8; ++sample) keys.insert(RandomKey(seed, item, sample));
    }
  }
  EXPECT_EQ(keys.size(), 512u);
}

}  // namespace
}  // namespace fullband
