// The text of a growing trace: where each token's text ends, and where a stop string cuts it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/tokenizer/tokenizer.h"

namespace fullband {

class GeneratedText {
 public:
  // `tokenizer` may be null: then there is no text. It must outlive this object.
  GeneratedText(const Tokenizer* tokenizer, std::vector<std::string> stop_strings);

  // Adds a token; special tokens give no text. Returns true where the text now holds a stop string, or where
  // the token is a special one that a stop string spells.
  // Characters count once all of their bytes are there.
  bool Push(int32_t token);
  // Adds a token that gives no text whatever it is: one that ended the trace.
  void PushSilent();
  // Completes the text after the last token: bytes that never became a character are U+FFFD.
  void Finish();

  // The text up to the earliest stop string.
  std::string Kept() const;
  // How many tokens gave at least one byte of it.
  int KeptTokens() const;
  // Length of the uncut text, complete characters only, after each token.
  const std::vector<int32_t>& ends() const { return ends_; }

 private:
  bool FindStop(size_t searched_to);

  const Tokenizer* tokenizer_;
  std::vector<std::string> stop_strings_;
  std::vector<int32_t> stop_tokens_;  // the special tokens among them: they never come to stand in the text
  std::optional<StreamDecoder> decoder_;
  std::string text_;
  std::string tail_;  // the last bytes pushed: an incomplete character, or empty
  std::vector<int32_t> ends_;
  std::vector<int32_t> begins_;  // where in the text a token's first byte stands; -1: it has none
  size_t cut_ = std::string::npos;
};

}  // namespace fullband
