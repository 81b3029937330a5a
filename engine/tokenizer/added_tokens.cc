#include "engine/tokenizer/added_tokens.h"

#include <algorithm>

#include "engine/tokenizer/unicode.h"

namespace fullband {
namespace {

bool Stands(std::string_view text, size_t at, const std::string& token) {
  return text.compare(at, token.size(), token) == 0;
}

bool TouchesWord(std::string_view text, size_t begin, size_t end) {
  if (begin > 0 && IsWord(LastCharacter(text.substr(0, begin)))) return true;
  return end < text.size() && IsWord(NextCharacter(text, &end));
}

size_t SkipWhiteBack(std::string_view text, size_t at) {
  while (at > 0) {
    size_t begin = at - 1;
    while ((static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    if (size_t next = begin; !IsWhite(NextCharacter(text, &next))) break;
    at = begin;
  }
  return at;
}

size_t SkipWhite(std::string_view text, size_t at) {
  while (at < text.size()) {
    size_t next = at;
    if (!IsWhite(NextCharacter(text, &next))) break;
    at = next;
  }
  return at;
}

bool Marked(const MatchRules& rules, size_t begin, size_t end) {
  if (rules.marks == nullptr) return false;
  const auto mark = std::upper_bound(rules.marks->begin(), rules.marks->end(), begin);
  return mark != rules.marks->end() && *mark <= end;
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens, std::vector<std::string> texts)
    : tokens_(std::move(tokens)), texts_(std::move(texts)), by_first_byte_(256) {
  for (size_t i = 0; i < texts_.size(); ++i)
    if (!texts_[i].empty())
      by_first_byte_[static_cast<unsigned char>(texts_[i][0])].push_back(static_cast<int>(i));
  for (const std::string& text : texts_) longest_ = std::max(longest_, text.size());
  for (std::vector<int>& indices : by_first_byte_)
    std::stable_sort(indices.begin(), indices.end(),
                     [&](int a, int b) { return texts_[a].size() > texts_[b].size(); });
}

int AddedTokenMatcher::Longest(std::string_view text, size_t at) const {
  for (const int index : by_first_byte_[static_cast<unsigned char>(text[at])])
    if (Stands(text, at, texts_[index])) return index;
  return -1;
}

std::vector<TextPart> AddedTokenMatcher::Split(std::string_view text, const MatchRules& rules) const {
  std::vector<TextPart> out;
  if (text.empty()) return out;
  size_t covered = 0;  // up to here `out` has it all
  for (size_t at = 0; !tokens_.empty() && at < text.size();) {
    const int index = Longest(text, at);
    if (index < 0) {
      ++at;
      continue;
    }
    // A match that is then refused still hides what it overlaps, as in Hugging Face's tokenizers.
    size_t begin = at, end = at + texts_[index].size();
    at = end;
    const AddedToken& token = tokens_[index];
    if (token.special && (rules.split_special || Marked(rules, begin, end))) continue;
    if (token.single_word && TouchesWord(text, begin, end)) continue;
    if (token.lstrip) begin = std::max(SkipWhiteBack(text, begin), covered);
    if (token.rstrip) end = SkipWhite(text, end);
    if (covered < begin) out.push_back({covered, begin, -1});
    out.push_back({begin, end, token.id});
    covered = end;
  }
  if (covered != text.size()) out.push_back({covered, text.size(), -1});
  return out;
}

bool AddedTokenMatcher::Occurs(std::string_view text) const {
  for (size_t at = 0; !tokens_.empty() && at < text.size(); ++at)
    if (Longest(text, at) >= 0) return true;
  return false;
}

bool AddedTokenMatcher::SpecialAt(std::string_view text, size_t at) const {
  if (tokens_.empty()) return false;
  const std::vector<int>& indices = by_first_byte_[static_cast<unsigned char>(text[at])];
  return std::any_of(indices.begin(), indices.end(),
                     [&](int i) { return tokens_[i].special && Stands(text, at, texts_[i]); });
}

bool AddedTokenMatcher::HasSpecial(std::string_view text) const {
  for (size_t at = 0; at < text.size(); ++at)
    if (SpecialAt(text, at)) return true;
  return false;
}

}  // namespace fullband
