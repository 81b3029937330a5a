// Context and continuation as tokens, for scoring.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenizer/tokenizer.h"

namespace fullband {

struct TokenPair {
  std::vector<int32_t> context;
  std::vector<int32_t> continuation;  // never empty for a non-empty continuation
  // A token of the joint encoding spans the join. lm-evaluation-harness then scores what is left of the joint
  // encoding after the context's length, which may be nothing; here the continuation is encoded alone.
  bool boundary_merge = false;
};

// As lm-evaluation-harness 0.4's _encode_pair does it: white space at the end of the context moves to the
// continuation, both are encoded together and split at the context's own length. `guarded`: the texts hold
// Tokenizer::Guard marks.
TokenPair EncodePair(const Tokenizer& tokenizer, std::string_view context, std::string_view continuation,
                     const EncodeOptions& options, bool guarded = false);

// The pairs of one context, which is encoded once.
class PairEncoder {
 public:
  // `shared` may be the encoding of a text that the context begins with, made with the same options.
  PairEncoder(const Tokenizer& tokenizer, std::string_view context, const EncodeOptions& options,
              bool guarded = false, const EncodedPrefix* shared = nullptr);
  // As EncodePair.
  TokenPair Pair(std::string_view continuation) const;

 private:
  std::vector<int32_t> EncodeAll(std::string_view text, const EncodeOptions& options) const;

  const Tokenizer& tokenizer_;
  EncodeOptions options_;
  bool guarded_;
  std::string space_;      // at the context's end
  EncodedPrefix context_;  // what is before it
};

// The bytes at the end of `text` that Python's str.rstrip() would remove.
size_t TrailingSpace(std::string_view text);

// Code points of valid UTF-8.
size_t CountCharacters(std::string_view text);

}  // namespace fullband
