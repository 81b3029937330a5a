// Hugging Face tokenizer.json: byte-level BPE with its normalizers, pre-tokenizers, added tokens and
// post-processor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fullband {

struct EncodeOptions {
  // What the post-processor adds (BOS), exactly as Hugging Face's tokenizer(text) does.
  bool add_special_tokens = true;
  // Text that looks like a special token becomes ordinary text (Hugging Face's split_special_tokens).
  bool split_special_tokens = false;
};

// A text's encoding, made once for the encodings of longer texts that begin with it.
struct EncodedPrefix {
  std::string text;
  std::vector<int32_t> ids;  // what Encode gives for it
  // Whatever follows the text: the first `settled_ids` ids stand for its first `settled` bytes.
  size_t settled = 0, settled_ids = 0;
};

class Tokenizer {
 public:
  // Reads tokenizer.json and, where present, tokenizer_config.json. Throws Error naming the file and the part
  // that is missing, malformed, cyclic or of a kind this class does not have.
  static std::shared_ptr<const Tokenizer> Load(const std::filesystem::path& folder);
  // True where the folder has a tokenizer.json.
  static bool Exists(const std::filesystem::path& folder);

  ~Tokenizer();

  // `text` must be UTF-8; throws Error at the first byte that is not.
  std::vector<int32_t> Encode(std::string_view text, const EncodeOptions& options = {}) const;

  // As Encode, with what it takes to go on from there; `shorter`, made with the same options, is gone on from
  // where the text begins with its text.
  EncodedPrefix EncodePrefix(std::string_view text, const EncodeOptions& options,
                             const EncodedPrefix* shorter = nullptr) const;
  // What Encode gives for the prefix's text and `rest` behind it; time depends on the rest alone.
  std::vector<int32_t> EncodeBehind(const EncodedPrefix& prefix, std::string_view rest,
                                    const EncodeOptions& options) const;

  // Offset of the first byte that has no token, not even an unknown one. Encode leaves such bytes out, as
  // Hugging Face does: the model would not see them.
  std::optional<size_t> FirstByteWithoutToken(std::string_view text) const;

  // Inserts an invisible mark (U+FDD0) into every occurrence of a special token's text, so that, once the
  // text is part of a rendered chat template, EncodeGuarded does not read it as that token. Text without any
  // is unchanged.
  std::string Guard(std::string_view text) const;
  // As Encode, for text with marks: the marks are removed, and no special token is matched across one.
  std::vector<int32_t> EncodeGuarded(std::string_view text, const EncodeOptions& options) const;
  // The text without its marks.
  static std::string Unguard(std::string_view text);

  // Text of the ids; bytes that are not UTF-8 become U+FFFD, as Hugging Face does it.
  std::string Decode(std::span<const int32_t> ids, bool skip_special_tokens) const;
  // The bytes of one token as they stand in decoded text (an added token's text as it is written). Throws on
  // an id out of range.
  const std::string& TokenBytes(int32_t id) const;

  int vocab_size() const;  // one more than the largest id
  bool IsSpecial(int32_t id) const;
  std::optional<int32_t> Id(std::string_view token) const;
  std::optional<int32_t> bos() const;
  // The id of tokenizer_config.json's eos_token: for chat models the end-of-turn marker.
  std::optional<int32_t> eos() const;
  // SHA-256 of the tokenizer's definition (canonical JSON of tokenizer.json and what is used of
  // tokenizer_config.json).
  const std::string& sha256() const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Text from tokens as they come, given out only up to the last complete UTF-8 character.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}
  // Bytes that became final with this token (special tokens give none).
  std::string Push(int32_t id);
  // What is left at the end; incomplete bytes as U+FFFD.
  std::string Finish();

 private:
  const Tokenizer* tokenizer_;
  std::string pending_;
};

}  // namespace fullband
