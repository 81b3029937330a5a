#include "evals/store/blob.h"

#include <fmt/format.h>

#include <bit>

#include "common/error.h"

namespace fullband {
namespace {

template <typename T>
std::string Encode(const std::vector<T>& values) {
  std::string blob;
  blob.reserve(values.size() * 4);
  for (const T value : values) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) blob.push_back(static_cast<char>(bits >> shift & 0xff));
  }
  return blob;
}

template <typename T>
std::vector<T> Decode(std::string_view blob) {
  if (blob.size() % 4 != 0)
    throw Error("store", fmt::format("a list of numbers has {} bytes, no multiple of 4", blob.size()),
                "the file is damaged: restore a copy");
  std::vector<T> values(blob.size() / 4);
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t bits = 0;
    for (int b = 0; b < 4; ++b)
      bits |= static_cast<uint32_t>(static_cast<uint8_t>(blob[4 * i + b])) << (8 * b);
    values[i] = std::bit_cast<T>(bits);
  }
  return values;
}

}  // namespace

std::string EncodeInts(const std::vector<int32_t>& values) { return Encode(values); }
std::string EncodeFloats(const std::vector<float>& values) { return Encode(values); }
std::vector<int32_t> DecodeInts(std::string_view blob) { return Decode<int32_t>(blob); }
std::vector<float> DecodeFloats(std::string_view blob) { return Decode<float>(blob); }

}  // namespace fullband
