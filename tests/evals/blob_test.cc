#include "evals/store/blob.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "common/error.h"

namespace fullband {
namespace {

using std::string_literals::operator""s;

TEST(Blob, IsLittleEndian) {
  EXPECT_EQ(EncodeInts({1, -2, 0x01020304}), "\x01\0\0\0\xfe\xff\xff\xff\x04\x03\x02\x01"s);
  EXPECT_EQ(EncodeFloats({1.0f}), "\0\0\x80\x3f"s);
  EXPECT_EQ(EncodeInts({}), "");
}

TEST(Blob, GivesTheSameBitsBack) {
  const std::vector<int32_t> ints = {0, 1, -1, std::numeric_limits<int32_t>::min(),
                                     std::numeric_limits<int32_t>::max()};
  EXPECT_EQ(DecodeInts(EncodeInts(ints)), ints);
  const std::vector<float> floats = {0.0f, -0.0f, -1.5e-42f, 3e38f, -std::numeric_limits<float>::infinity()};
  const std::vector<float> back = DecodeFloats(EncodeFloats(floats));
  ASSERT_EQ(back.size(), floats.size());
  for (size_t i = 0; i < floats.size(); ++i) {
    EXPECT_EQ(back[i], floats[i]);
    EXPECT_EQ(std::signbit(back[i]), std::signbit(floats[i]));
  }
  EXPECT_TRUE(std::isnan(DecodeFloats(EncodeFloats({NAN}))[0]));
}

TEST(Blob, RefusesHalfNumbers) {
  EXPECT_THROW(DecodeInts("abc"), Error);
  EXPECT_THROW(DecodeFloats("abcde"), Error);
}

}  // namespace
}  // namespace fullband
