#include "engine/decode/generated_text.h"

#include <algorithm>
#include <utility>

namespace fullband {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Bytes that a UTF-8 character starting with `lead` has; 0 where no character starts so.
size_t CharacterSize(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

// The incomplete character at the end of `bytes`, or nothing.
std::string IncompleteTail(const std::string& bytes) {
  for (size_t size = 1; size <= 3 && size <= bytes.size(); ++size) {
    const unsigned char lead = static_cast<unsigned char>(bytes[bytes.size() - size]);
    if ((lead & 0xC0) == 0x80) continue;
    return CharacterSize(lead) > size ? bytes.substr(bytes.size() - size) : std::string();
  }
  return "";
}

}  // namespace

GeneratedText::GeneratedText(const Tokenizer* tokenizer, std::vector<std::string> stop_strings)
    : tokenizer_(tokenizer), stop_strings_(std::move(stop_strings)) {
  if (tokenizer_ == nullptr) return;
  decoder_.emplace(*tokenizer_);
  for (const std::string& stop : stop_strings_) {
    const std::optional<int32_t> token = tokenizer_->Id(stop);
    if (token && tokenizer_->IsSpecial(*token)) stop_tokens_.push_back(*token);
  }
}

bool GeneratedText::Push(int32_t token) {
  // A model may have more output rows than its tokenizer has tokens.
  if (!decoder_ || token >= tokenizer_->vocab_size() || tokenizer_->IsSpecial(token)) {
    PushSilent();
    return std::find(stop_tokens_.begin(), stop_tokens_.end(), token) != stop_tokens_.end();
  }
  const std::string& bytes = tokenizer_->TokenBytes(token);
  const size_t before = text_.size();
  text_ += decoder_->Push(token);
  // Where this token's first byte stands: after the incomplete character's bytes, or after the U+FFFD that
  // they became because this token does not continue them.
  const bool broken =
      !tail_.empty() && !bytes.empty() && (static_cast<unsigned char>(bytes[0]) & 0xC0) != 0x80;
  const size_t begin = before + (broken ? kReplacement.size() : tail_.size());
  begins_.push_back(bytes.empty() ? -1 : static_cast<int32_t>(begin));
  ends_.push_back(static_cast<int32_t>(text_.size()));
  tail_ = IncompleteTail(tail_ + bytes);
  return FindStop(before);
}

void GeneratedText::PushSilent() {
  begins_.push_back(-1);
  ends_.push_back(static_cast<int32_t>(text_.size()));
}

void GeneratedText::Finish() {
  if (!decoder_) return;
  text_ += decoder_->Finish();
  if (!ends_.empty()) ends_.back() = static_cast<int32_t>(text_.size());
}

bool GeneratedText::FindStop(size_t searched_to) {
  for (const std::string& stop : stop_strings_) {
    const size_t from = searched_to - std::min(searched_to, stop.size() - 1);
    cut_ = std::min(cut_, text_.find(stop, from));
  }
  return cut_ != std::string::npos;
}

std::string GeneratedText::Kept() const { return text_.substr(0, cut_); }

int GeneratedText::KeptTokens() const {
  const size_t kept = std::min(cut_, text_.size());
  return static_cast<int>(std::count_if(begins_.begin(), begins_.end(), [kept](int32_t begin) {
    return begin >= 0 && static_cast<size_t>(begin) < kept;
  }));
}

}  // namespace fullband
