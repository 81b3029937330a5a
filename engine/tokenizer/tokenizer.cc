#include "engine/tokenizer/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "common/error.h"
#include "engine/tokenizer/added_tokens.h"
#include "engine/tokenizer/bpe.h"
#include "engine/tokenizer/definition.h"
#include "engine/tokenizer/pre_tokenizer.h"
#include "engine/tokenizer/unicode.h"

namespace fullband {
namespace {

// U+FDD0, which Unicode reserves for a program's own use. A text's own U+FDD0 stands twice in a guarded text,
// so of a run of them an odd one is a mark, the first.
constexpr std::string_view kMark = "\xEF\xB7\x90";

struct MarkedText {
  std::string text;           // without marks
  std::vector<size_t> marks;  // where they were, as offsets into it
};

MarkedText TakeMarks(std::string_view guarded) {
  MarkedText out;
  out.text.reserve(guarded.size());
  size_t at = 0;
  while (at < guarded.size()) {
    const size_t run = guarded.find(kMark, at);
    out.text.append(guarded, at, std::min(run, guarded.size()) - at);
    if (run == std::string_view::npos) break;
    size_t count = 0;
    for (at = run; guarded.compare(at, kMark.size(), kMark) == 0; at += kMark.size()) ++count;
    if (count % 2 == 1) out.marks.push_back(out.text.size());
    for (size_t i = 0; i < count / 2; ++i) out.text.append(kMark);
  }
  return out;
}

void CheckUtf8(std::string_view text) {
  const size_t at = FirstInvalidByte(text);
  if (at != std::string_view::npos)
    throw Error(
        "text",
        fmt::format("is not UTF-8: byte 0x{:02X} at offset {}", static_cast<unsigned char>(text[at]), at),
        "convert it to UTF-8");
}

std::string NormalizeAll(std::string_view text, const std::vector<NormalForm>& forms) {
  const bool ascii =
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
  std::string out(text);
  if (ascii) return out;
  for (const NormalForm form : forms) out = Normalize(out, form);
  return out;
}

// The marks of `text`[begin, end) as offsets into its normalized form.
std::vector<size_t> MoveMarks(const std::vector<size_t>& marks, std::string_view text, const TextPart& part,
                              const std::vector<NormalForm>& forms) {
  std::vector<size_t> out;
  auto mark = std::upper_bound(marks.begin(), marks.end(), part.begin);
  for (; mark != marks.end() && *mark <= part.end; ++mark)
    out.push_back(NormalizeAll(text.substr(part.begin, *mark - part.begin), forms).size());
  return out;
}

// Of the tokens those looked for before (or after) normalization; special tokens win over others of the same
// text.
AddedTokenMatcher MakeMatcher(const TokenizerDefinition& definition, bool normalized) {
  std::vector<AddedToken> tokens;
  for (const bool special : {true, false})
    for (const AddedToken& token : definition.added_tokens)
      if (token.special == special && token.normalized == normalized) tokens.push_back(token);
  std::vector<std::string> texts;
  for (const AddedToken& token : tokens)
    texts.push_back(normalized ? NormalizeAll(token.content, definition.normalizers) : token.content);
  return AddedTokenMatcher(std::move(tokens), std::move(texts));
}

}  // namespace

struct Tokenizer::Impl {
  explicit Impl(TokenizerDefinition definition);
  void AddToken(const std::string& token, int32_t id, bool is_special);
  void AppendPart(std::string_view text, const MatchRules& rules, std::vector<int32_t>* ids) const;
  std::vector<int32_t> Encode(std::string_view text, const std::vector<size_t>& marks,
                              const EncodeOptions& options) const;
  bool IsPlain(std::string_view text) const;
  bool GoOn(const EncodedPrefix& from, std::string_view rest, const EncodeOptions& options,
            EncodedPrefix* out) const;

  std::vector<NormalForm> normalizers;
  PreTokenizer pre_tokenizer;
  Bpe bpe;
  AddedTokenMatcher raw_tokens, normalized_tokens;
  std::vector<int32_t> before, after;
  std::optional<int32_t> bos, eos;
  std::string sha256;
  std::unordered_map<std::string, int32_t> ids;
  std::vector<std::string> bytes;  // by id; empty for ids that no token has
  std::vector<bool> special;       // by id
};

Tokenizer::Impl::Impl(TokenizerDefinition definition)
    : normalizers(definition.normalizers),
      pre_tokenizer(definition.pre_tokenizers),
      bpe(definition.model),
      raw_tokens(MakeMatcher(definition, false)),
      normalized_tokens(MakeMatcher(definition, true)),
      before(std::move(definition.before)),
      after(std::move(definition.after)),
      bos(definition.bos),
      eos(definition.eos),
      sha256(std::move(definition.sha256)) {
  ids.reserve(definition.model.vocab.size() + definition.added_tokens.size());
  for (const auto& [token, id] : definition.model.vocab) AddToken(token, id, false);
  for (const AddedToken& token : definition.added_tokens) AddToken(token.content, token.id, token.special);
}

void Tokenizer::Impl::AddToken(const std::string& token, int32_t id, bool is_special) {
  const size_t index = static_cast<size_t>(id);
  if (index >= bytes.size()) {
    bytes.resize(index + 1);
    special.resize(index + 1);
  }
  // As the ByteLevel decoder: a token with a character that stands for no byte is text as it is.
  if (!BytesOfToken(token, &bytes[index])) bytes[index] = token;
  special[index] = is_special;
  ids[token] = id;
}

// `text` lies between tokens that are looked for before normalization; rules.marks are offsets into its
// normalized form.
void Tokenizer::Impl::AppendPart(std::string_view text, const MatchRules& rules,
                                 std::vector<int32_t>* out) const {
  const std::string normalized = NormalizeAll(text, normalizers);
  for (const TextPart& part : normalized_tokens.Split(normalized, rules)) {
    if (part.id >= 0) {
      out->push_back(part.id);
      continue;
    }
    const Pieces pieces =
        pre_tokenizer.Split(std::string_view(normalized).substr(part.begin, part.end - part.begin));
    for (const Stretch& piece : pieces.stretches)
      bpe.Append(std::string_view(pieces.text).substr(piece.begin, piece.end - piece.begin), out);
  }
}

std::vector<int32_t> Tokenizer::Impl::Encode(std::string_view text, const std::vector<size_t>& marks,
                                             const EncodeOptions& options) const {
  CheckUtf8(text);
  std::vector<int32_t> out;
  if (options.add_special_tokens) out = before;
  for (const TextPart& part : raw_tokens.Split(text, {options.split_special_tokens, &marks})) {
    if (part.id >= 0) {
      out.push_back(part.id);
      continue;
    }
    const std::vector<size_t> moved = MoveMarks(marks, text, part, normalizers);
    AppendPart(text.substr(part.begin, part.end - part.begin), {options.split_special_tokens, &moved}, &out);
  }
  if (options.add_special_tokens) out.insert(out.end(), after.begin(), after.end());
  return out;
}

// Whether the text is cut into pieces as it stands: nothing to normalize, and no token that is looked for.
bool Tokenizer::Impl::IsPlain(std::string_view text) const {
  const bool ascii =
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
  return (ascii || normalizers.empty()) && !raw_tokens.Occurs(text) && !normalized_tokens.Occurs(text);
}

// The encoding of from.text + rest, of which only what is not settled is encoded anew; `out` has no text
// then. False where the text is not plain.
bool Tokenizer::Impl::GoOn(const EncodedPrefix& from, std::string_view rest, const EncodeOptions& options,
                           EncodedPrefix* out) const {
  // A token may begin in the settled part and end behind it.
  const size_t longest = std::max(raw_tokens.longest(), normalized_tokens.longest());
  const size_t seen = from.settled - std::min(from.settled, longest);
  const std::string end = from.text.substr(seen) + std::string(rest);
  const std::string_view open = std::string_view(end).substr(from.settled - seen);
  CheckUtf8(open);
  if (!IsPlain(end)) return false;
  out->ids.assign(from.ids.begin(), from.ids.begin() + static_cast<ptrdiff_t>(from.settled_ids));
  out->settled_ids = from.settled_ids;
  const size_t settled = pre_tokenizer.Settled(open);
  out->settled = from.settled + settled;
  const Pieces pieces = pre_tokenizer.Split(open);
  for (const Stretch& piece : pieces.stretches) {
    bpe.Append(std::string_view(pieces.text).substr(piece.begin, piece.end - piece.begin), &out->ids);
    if (piece.end <= settled) out->settled_ids = out->ids.size();
  }
  if (options.add_special_tokens) out->ids.insert(out->ids.end(), after.begin(), after.end());
  return true;
}

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

std::shared_ptr<const Tokenizer> Tokenizer::Load(const std::filesystem::path& folder) {
  if (!Exists(folder))
    throw Error((folder / "tokenizer.json").string(), "does not exist",
                "the model folder needs a Hugging Face tokenizer");
  return std::shared_ptr<const Tokenizer>(
      new Tokenizer(std::make_unique<Impl>(ReadTokenizerDefinition(folder))));
}

bool Tokenizer::Exists(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(folder / "tokenizer.json", ignored);
}

std::vector<int32_t> Tokenizer::Encode(std::string_view text, const EncodeOptions& options) const {
  return impl_->Encode(text, {}, options);
}

EncodedPrefix Tokenizer::EncodePrefix(std::string_view text, const EncodeOptions& options,
                                      const EncodedPrefix* shorter) const {
  EncodedPrefix nothing, out;
  if (options.add_special_tokens) nothing.ids = impl_->before;
  nothing.settled_ids = nothing.ids.size();
  const EncodedPrefix& from =
      shorter && shorter->settled > 0 && text.starts_with(shorter->text) ? *shorter : nothing;
  if (!impl_->GoOn(from, text.substr(from.text.size()), options, &out)) {
    out = EncodedPrefix();
    out.ids = Encode(text, options);
  }
  out.text = text;
  return out;
}

std::vector<int32_t> Tokenizer::EncodeBehind(const EncodedPrefix& prefix, std::string_view rest,
                                             const EncodeOptions& options) const {
  EncodedPrefix out;
  if (prefix.settled > 0 && impl_->GoOn(prefix, rest, options, &out)) return std::move(out.ids);
  return Encode(prefix.text + std::string(rest), options);
}

std::optional<size_t> Tokenizer::FirstByteWithoutToken(std::string_view text) const {
  for (size_t at = 0; at < text.size(); ++at)
    if (!impl_->bpe.HasByte(static_cast<unsigned char>(text[at]))) return at;
  return std::nullopt;
}

std::string Tokenizer::Guard(std::string_view text) const {
  CheckUtf8(text);
  // A token that normalization would make appear cannot be placed in the text as it is: then every place is
  // marked.
  const bool everywhere = !impl_->normalizers.empty() &&
                          impl_->normalized_tokens.HasSpecial(NormalizeAll(text, impl_->normalizers));
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    NextCharacter(text, &at);
    const std::string_view character = text.substr(begin, at - begin);
    out.append(character);
    if (character == kMark) {
      out.append(kMark);
    } else if (everywhere || impl_->raw_tokens.SpecialAt(text, begin) ||
               impl_->normalized_tokens.SpecialAt(text, begin)) {
      out.append(kMark);
    }
  }
  return out;
}

std::vector<int32_t> Tokenizer::EncodeGuarded(std::string_view text, const EncodeOptions& options) const {
  const MarkedText marked = TakeMarks(text);
  return impl_->Encode(marked.text, marked.marks, options);
}

std::string Tokenizer::Unguard(std::string_view text) { return TakeMarks(text).text; }

std::string Tokenizer::Decode(std::span<const int32_t> ids, bool skip_special_tokens) const {
  std::string bytes;
  for (const int32_t id : ids) {
    if (id < 0 || id >= vocab_size())
      continue;  // as Hugging Face: a model may have more ids than its tokenizer
    if (skip_special_tokens && impl_->special[id]) continue;
    bytes += impl_->bytes[id];
  }
  return LossyText(bytes);
}

const std::string& Tokenizer::TokenBytes(int32_t id) const {
  if (id < 0 || id >= vocab_size())
    throw Error("token id", fmt::format("{} is not below the vocabulary's size, {}", id, vocab_size()));
  return impl_->bytes[id];
}

int Tokenizer::vocab_size() const { return static_cast<int>(impl_->bytes.size()); }

bool Tokenizer::IsSpecial(int32_t id) const { return id >= 0 && id < vocab_size() && impl_->special[id]; }

std::optional<int32_t> Tokenizer::Id(std::string_view token) const {
  const auto found = impl_->ids.find(std::string(token));
  return found == impl_->ids.end() ? std::nullopt : std::optional(found->second);
}

std::optional<int32_t> Tokenizer::bos() const { return impl_->bos; }
std::optional<int32_t> Tokenizer::eos() const { return impl_->eos; }
const std::string& Tokenizer::sha256() const { return impl_->sha256; }

std::string StreamDecoder::Push(int32_t id) {
  if (id < 0 || id >= tokenizer_->vocab_size() || tokenizer_->IsSpecial(id)) return "";
  pending_ += tokenizer_->TokenBytes(id);
  return TakeLossyText(&pending_);
}

std::string StreamDecoder::Finish() {
  std::string out = LossyText(pending_);
  pending_.clear();
  return out;
}

}  // namespace fullband
