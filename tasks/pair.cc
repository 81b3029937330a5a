#include "tasks/pair.h"

#include <algorithm>

namespace fullband {
namespace {

// str.isspace() of Python 3: bidirectional type WS, B or S, or category Zs.
bool IsPythonSpace(uint32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

bool IsTrailByte(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The code point that the bytes of one valid sequence stand for.
uint32_t CodePoint(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  uint32_t value = lead < 0x80 ? lead : lead & (0xff >> (sequence.size() + 1));
  for (const char c : sequence.substr(1)) value = value << 6 | (static_cast<unsigned char>(c) & 0x3f);
  return value;
}

}  // namespace

size_t TrailingSpace(std::string_view text) {
  size_t end = text.size();
  while (end > 0) {
    size_t begin = end - 1;
    while (begin > 0 && IsTrailByte(text[begin])) --begin;
    if (!IsPythonSpace(CodePoint(text.substr(begin, end - begin)))) break;
    end = begin;
  }
  return text.size() - end;
}

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !IsTrailByte(c); }));
}

PairEncoder::PairEncoder(const Tokenizer& tokenizer, std::string_view context, const EncodeOptions& options,
                         bool guarded, const EncodedPrefix* shared)
    : tokenizer_(tokenizer), options_(options), guarded_(guarded) {
  const size_t cut = context.size() - TrailingSpace(context);
  space_ = context.substr(cut);
  context = context.substr(0, cut);
  if (!guarded) {
    context_ = tokenizer.EncodePrefix(context, options, shared);
  } else {
    context_.text = context;
    context_.ids = EncodeAll(context, options);
  }
}

std::vector<int32_t> PairEncoder::EncodeAll(std::string_view text, const EncodeOptions& options) const {
  return guarded_ ? tokenizer_.EncodeGuarded(text, options) : tokenizer_.Encode(text, options);
}

TokenPair PairEncoder::Pair(std::string_view continuation) const {
  const std::string scored = space_ + std::string(continuation);
  TokenPair pair;
  pair.context = context_.ids;
  const std::vector<int32_t> joint = guarded_ ? EncodeAll(context_.text + scored, options_)
                                              : tokenizer_.EncodeBehind(context_, scored, options_);
  pair.boundary_merge = joint.size() <= pair.context.size() ||
                        !std::equal(pair.context.begin(), pair.context.end(), joint.begin());
  if (!pair.boundary_merge) {
    pair.continuation.assign(joint.begin() + static_cast<ptrdiff_t>(pair.context.size()), joint.end());
  } else {
    EncodeOptions alone = options_;
    alone.add_special_tokens = false;
    pair.continuation = EncodeAll(scored, alone);
  }
  return pair;
}

TokenPair EncodePair(const Tokenizer& tokenizer, std::string_view context, std::string_view continuation,
                     const EncodeOptions& options, bool guarded) {
  return PairEncoder(tokenizer, context, options, guarded).Pair(continuation);
}

}  // namespace fullband
