// Finds added tokens in text and cuts it there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenizer/definition.h"

namespace fullband {

// A part of a text: an added token, or what lies between (id -1).
struct TextPart {
  size_t begin = 0, end = 0;
  int32_t id = -1;
};

// What may be a token where.
struct MatchRules {
  bool split_special = false;  // special tokens are ordinary text
  // Ascending offsets; a special token that begins before one of them and does not end before it is ordinary
  // text.
  const std::vector<size_t>* marks = nullptr;
};

class AddedTokenMatcher {
 public:
  AddedTokenMatcher() = default;
  // Looks for `texts[i]` where it wants `tokens[i]`: the texts differ from the contents where they are
  // normalized.
  AddedTokenMatcher(std::vector<AddedToken> tokens, std::vector<std::string> texts);

  // Leftmost, of those the longest; time is linear in the text for tokens of bounded length. The parts may
  // overlap where a token is white space that one before it took, as in Hugging Face's tokenizers.
  std::vector<TextPart> Split(std::string_view text, const MatchRules& rules) const;

  // Whether any token stands anywhere in the text.
  bool Occurs(std::string_view text) const;
  size_t longest() const { return longest_; }  // bytes of the longest token

  // Whether a special token stands at `at`, and whether one stands anywhere.
  bool SpecialAt(std::string_view text, size_t at) const;
  bool HasSpecial(std::string_view text) const;

 private:
  // The index of the longest text that stands at `at`; of equal ones the first. -1: none.
  int Longest(std::string_view text, size_t at) const;

  std::vector<AddedToken> tokens_;
  std::vector<std::string> texts_;
  // By first byte: indices of texts, longest first.
  std::vector<std::vector<int>> by_first_byte_;
  size_t longest_ = 0;
};

}  // namespace fullband
