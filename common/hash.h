// SHA-256 (FIPS 180-4) of bytes, files and canonical JSON; a 64-bit mixing function for seeded draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace fullband {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void Update(const void* data, size_t size);
  void Update(std::string_view text) { Update(text.data(), text.size()); }
  std::string HexDigest();  // 64 lower-case hex digits; the object is spent afterwards

 private:
  void* context_;
};

std::string Sha256Hex(std::string_view bytes);
// Throws Error when the file cannot be read.
std::string Sha256HexOfFile(const std::filesystem::path& path);
// SHA-256 of the JSON text with sorted keys and no white space (nlohmann's dump()).
std::string Sha256HexOfJson(const nlohmann::json& value);

// A bijective mixing of 64 bits (the finalizer of SplitMix64, Steele et al. 2014): equal on every platform.
uint64_t Mix64(uint64_t x);

}  // namespace fullband
