#include "common/hash.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fullband {
namespace {

// FIPS 180-4 example messages.
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, JsonDoesNotDependOnKeyOrder) {
  const auto one = nlohmann::json::parse(R"({"a": 1, "b": [2, 3]})");
  const auto two = nlohmann::json::parse(R"({"b":[2,3],"a":1})");
  EXPECT_EQ(Sha256HexOfJson(one), Sha256HexOfJson(two));
  EXPECT_NE(Sha256HexOfJson(one), Sha256HexOfJson(nlohmann::json::parse(R"({"a": 1, "b": [3, 2]})")));
}

// First outputs of SplitMix64 with state 0 (reference implementation).
TEST(Mix64, MatchesSplitMix64) {
  EXPECT_EQ(Mix64(0), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(Mix64(0x9e3779b97f4a7c15ULL), 0x6e789e6aa1b965f4ULL);
}

}  // namespace
}  // namespace fullband
