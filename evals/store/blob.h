// Numbers as the store keeps them in blobs: 4 bytes each, little-endian on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fullband {

std::string EncodeInts(const std::vector<int32_t>& values);
std::string EncodeFloats(const std::vector<float>& values);

// Throw Error where the size is no multiple of 4.
std::vector<int32_t> DecodeInts(std::string_view blob);
std::vector<float> DecodeFloats(std::string_view blob);

}  // namespace fullband
