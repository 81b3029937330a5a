// What tokenizer.json and tokenizer_config.json say, checked and in plain structs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/tokenizer/json_part.h"
#include "engine/tokenizer/unicode.h"

namespace fullband {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool special = false;
  bool normalized = false;   // looked for after normalization, not before
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // takes the white space after it
  bool single_word = false;  // not where a word character touches it
  friend bool operator==(const AddedToken&, const AddedToken&) = default;
};

// What happens to the matches of a Split pattern.
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

struct PreTokenizerPart {
  enum class Kind { kSplit, kDigits, kByteLevel };
  Kind kind = Kind::kSplit;
  std::string place;  // file and JSON path, for complaints about the pattern
  // Split, and ByteLevel with its own expression. A plain string has been quoted: it always is a regular
  // expression.
  std::string pattern;
  SplitBehavior behavior = SplitBehavior::kIsolated;
  bool invert = false;
  bool individual_digits = false;  // Digits
  bool add_prefix_space = false;   // ByteLevel, always the last part: a space before a piece that has none
};

// Two tokens that stand side by side, and the token that they become.
struct MergeRule {
  int32_t left = 0, right = 0;
  int32_t result = 0;
};

struct BpeDefinition {
  std::vector<std::pair<std::string, int32_t>> vocab;
  std::vector<MergeRule> merges;  // best first
  bool ignore_merges = false;     // a piece that is a token as it stands is not merged
  // For bytes without a token, which are dropped where there is no such token: SmolLM2's vocabulary lacks a
  // few.
  std::optional<int32_t> unknown;
  bool fuse_unknown = false;  // one for a run of them
};

struct TokenizerDefinition {
  BpeDefinition model;
  std::vector<NormalForm> normalizers;
  std::vector<PreTokenizerPart> pre_tokenizers;
  std::vector<AddedToken> added_tokens;
  std::vector<int32_t> before, after;  // what the post-processor puts around the text
  std::optional<int32_t> bos, eos;
  std::string sha256;
};

// Throws Error naming the file and the part at fault.
TokenizerDefinition ReadTokenizerDefinition(const std::filesystem::path& folder);

// The parts of it, each from its place in tokenizer.json.
BpeDefinition ReadBpe(const JsonPart& model);
std::vector<NormalForm> ReadNormalizers(const JsonPart& root);
std::vector<PreTokenizerPart> ReadPreTokenizers(const JsonPart& root);
void CheckDecoder(const JsonPart& root);
struct PostProcessor {
  std::vector<int32_t> before, after;
};
PostProcessor ReadPostProcessor(const JsonPart& root);

}  // namespace fullband
