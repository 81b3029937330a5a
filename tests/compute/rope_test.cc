#include "engine/compute/cpu/rope.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/reference_model.h"

namespace fullband {
namespace {

const RopeConfig kRopes[] = {{RopeType::kDefault, 10000.0},
                             {RopeType::kLinear, 10000.0, 4.0},
                             {RopeType::kLlama3, 500000.0, 8.0, 1.0, 4.0, 8192},
                             {RopeType::kLlama3, 500000.0, 32.0, 1.0, 4.0, 8192}};

TEST(InverseFrequencies, AgreeWithDouble) {
  for (const RopeConfig& rope : kRopes) {
    const std::vector<float> got = InverseFrequencies(rope, 64);
    const std::vector<double> expected = ReferenceFrequencies(rope, 64);
    ASSERT_EQ(got.size(), 32u);
    // The exponent's rounding error counts times log(theta).
    for (int i = 0; i < 32; ++i) EXPECT_NEAR(got[i] / expected[i], 1, 2e-6) << i;
  }
}

TEST(InverseFrequencies, Llama3KeepsShortWavesAndStretchesLongOnes) {
  const std::vector<float> plain = InverseFrequencies({RopeType::kDefault, 500000.0}, 64);
  const std::vector<float> scaled = InverseFrequencies(kRopes[2], 64);
  EXPECT_EQ(scaled.front(), plain.front());
  EXPECT_EQ(scaled.back(), plain.back() / 8);
  EXPECT_LT(scaled[17], plain[17]);
  EXPECT_GT(scaled[17], plain[17] / 8);
}

TEST(RopeTable, HoldsTheAnglesOfEachPosition) {
  for (const RopeConfig& rope : kRopes) {
    RopeTable table(rope, 8);
    table.Cover(3);
    table.Cover(900);  // growing keeps what was there
    for (int position : {0, 1, 2, 899}) {
      const std::vector<double> frequencies = ReferenceFrequencies(rope, 8);
      for (int i = 0; i < 4; ++i) {
        const double c = std::cos(position * frequencies[i]), s = std::sin(position * frequencies[i]);
        const double tolerance = 1e-6 + position * frequencies[i] * 1e-6;  // the angle is a float
        EXPECT_NEAR(table.cosines(position)[i], c, tolerance);
        EXPECT_NEAR(table.sines(position)[i], s, tolerance);
      }
    }
  }
}

}  // namespace
}  // namespace fullband
