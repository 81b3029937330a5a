// Byte-pair merges (Sennrich et al. 2016) of one piece of text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/tokenizer/definition.h"

namespace fullband {

class Bpe {
 public:
  explicit Bpe(const BpeDefinition& definition);

  // Appends the ids of `piece` (bytes of UTF-8). Time is n log n in its length. Thread-safe.
  void Append(std::string_view piece, std::vector<int32_t>* ids) const;
  // Whether a byte has a token, its own or the unknown one.
  bool HasByte(unsigned char byte) const { return unknown_ || byte_ids_[byte] >= 0; }

 private:
  struct Merge {
    uint64_t pair = 0;  // left id in the high half, right id in the low
    int32_t rank = -1;  // -1: an empty slot
    int32_t result = 0;
  };
  static uint64_t Pair(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  void AddMerge(const Merge& merge);
  const Merge* FindMerge(int32_t left, int32_t right) const;
  void AppendBytes(std::string_view piece, std::vector<int32_t>* symbols) const;
  // Replaces the symbols from `first` on by what they merge to.
  void MergeFew(size_t first, std::vector<int32_t>* symbols) const;
  void MergeMany(size_t first, std::vector<int32_t>* symbols) const;

  std::array<int32_t, 256> byte_ids_;  // -1: no token
  std::optional<int32_t> unknown_;
  bool fuse_unknown_ = false;
  std::vector<Merge> merges_;  // open addressing; a power of two long, at most half full
  // With ignore_merges: the id of every piece that is a token as it stands; empty otherwise.
  std::unordered_map<std::string, int32_t> whole_;
  size_t longest_whole_ = 0;
};

}  // namespace fullband
