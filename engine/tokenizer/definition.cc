#include "engine/tokenizer/definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "common/hash.h"

namespace fullband {
namespace {

// A vocabulary has tens of thousands of tokens and of merges, and a model's other files are read in the time
// that they take: so texts are looked at where they lie, and a part's place is spelt out only to complain.
using Vocab = std::vector<std::pair<std::string, int32_t>>;
using IdsByToken = std::unordered_map<std::string_view, int32_t>;  // borrows the tokens

// Tokens by text and by id, with what a look-up needs to complain.
class Names {
 public:
  // Borrows the vocabulary's tokens, each of which has an id of its own.
  explicit Names(const Vocab& vocab) {
    by_token_.reserve(vocab.size());
    by_id_.reserve(vocab.size());
    for (const auto& [token, id] : vocab) {
      by_token_.emplace(token, id);
      by_id_.emplace(id, token);
    }
  }
  void Add(const JsonPart& where, const std::string& token, int32_t id) {
    const auto known_id = by_id_.find(id);
    if (known_id != by_id_.end() && known_id->second != token)
      throw where.Fault(fmt::format("gives \"{}\" the id {}, which \"{}\" has", token, id, known_id->second));
    const auto known_token = by_token_.find(token);
    if (known_token != by_token_.end() && known_token->second != id)
      throw where.Fault(
          fmt::format("gives \"{}\" the id {}, but its id is {}", token, id, known_token->second));
    if (known_id != by_id_.end()) return;
    const std::string_view kept = added_.emplace_back(token);
    by_token_.emplace(kept, id);
    by_id_.emplace(id, kept);
  }
  std::optional<int32_t> Id(std::string_view token) const {
    const auto found = by_token_.find(token);
    return found == by_token_.end() ? std::nullopt : std::optional(found->second);
  }
  bool Has(int32_t id) const { return by_id_.count(id) != 0; }

 private:
  std::deque<std::string> added_;  // texts that are not the vocabulary's: they stay where they are
  IdsByToken by_token_;
  std::unordered_map<int32_t, std::string_view> by_id_;
};

Vocab ReadVocab(const JsonPart& vocab) {
  if (!vocab.value().is_object())
    throw vocab.Fault(fmt::format("is {}, not an object", vocab.value().type_name()));
  Vocab out;
  out.reserve(vocab.value().size());
  const std::string place = vocab.Fault("").subject();
  for (const auto& [token, value] : vocab.value().get_ref<const nlohmann::json::object_t&>()) {
    if (!JsonPart::IsTokenId(value))
      JsonPart(value, place, fmt::format("\"{}\"", token)).TokenId();  // throws
    out.emplace_back(token, value.get<int32_t>());
  }
  std::unordered_map<int32_t, const std::string*> seen;
  seen.reserve(out.size());
  for (const auto& [token, id] : out) {
    const auto [found, fresh] = seen.emplace(id, &token);
    if (!fresh)
      throw vocab.Fault(fmt::format("gives the id {} to both \"{}\" and \"{}\"", id, *found->second, token));
  }
  return out;
}

// "a b" or ["a", "b"], as it stands in the file.
std::pair<std::string_view, std::string_view> ReadMerge(const JsonPart& merges, size_t index) {
  const nlohmann::json& merge = merges.value()[index];
  if (merge.is_array()) {
    if (merge.size() != 2) throw merges[index].Fault(fmt::format("has {} parts, not 2", merge.size()));
    return {merges[index][0].String(), merges[index][1].String()};
  }
  if (!merge.is_string()) merges[index].String();  // throws
  const std::string_view text = merge.get_ref<const std::string&>();
  const size_t space = text.find(' ');
  if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos)
    throw merges[index].Fault(fmt::format("\"{}\" is not two tokens with one space between", text));
  return {text.substr(0, space), text.substr(space + 1)};
}

MergeRule RuleOf(const JsonPart& merges, size_t index, const IdsByToken& ids, std::string* joined) {
  const auto [left, right] = ReadMerge(merges, index);
  joined->assign(left).append(right);
  const auto id = [&](std::string_view token) {
    const auto found = ids.find(token);
    if (found == ids.end())
      throw merges[index].Fault(fmt::format("uses \"{}\", which \"vocab\" does not have", token));
    return found->second;
  };
  const int32_t left_id = id(left), right_id = id(right);
  return {left_id, right_id, id(*joined)};
}

std::vector<MergeRule> ReadMerges(const JsonPart& merges, const IdsByToken& ids) {
  std::vector<MergeRule> out;
  out.reserve(merges.Size());
  std::string joined;
  for (size_t i = 0; i < merges.Size(); ++i) {
    // The first line of old merges files, which Hugging Face skips wherever it stands.
    const nlohmann::json& merge = merges.value()[i];
    if (merge.is_string() && merge.get_ref<const std::string&>().starts_with("#version")) continue;
    out.push_back(RuleOf(merges, i, ids, &joined));
  }
  return out;
}

// Bytes of printable ASCII and of the characters of most scripts need tokens. Control characters and the
// leads of rare planes may lack one, as in SmolLM2, whose training text did not have them.
void CheckBytes(const JsonPart& vocab, const IdsByToken& known) {
  for (int byte = 0; byte < 256; ++byte) {
    const bool needed =
        (byte >= 0x20 && byte <= 0x7E) || (byte >= 0x80 && byte <= 0xBF) || (byte >= 0xC2 && byte <= 0xEF);
    std::string token;
    AppendCharacter(ByteLevelCharacters()[byte], &token);
    if (needed && known.count(token) == 0)
      throw vocab.Fault(fmt::format("has no token for the byte 0x{:02X} (\"{}\")", byte, token),
                        "only byte-level vocabularies are supported");
  }
}

void CheckBpeOptions(const JsonPart& model) {
  if (const auto type = model.Find("type"); type && type->String() != "BPE")
    throw type->Unsupported(type->String(), "BPE");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const auto part = model.Find(key);
    if (part && !part->String().empty())
      throw part->Fault("is not empty", "byte-level vocabularies have none");
  }
  if (const auto part = model.Find("byte_fallback"); part && part->Bool())
    throw part->Fault("is true", "only byte-level vocabularies are supported");
  const auto dropout = model.Find("dropout");
  if (dropout && dropout->value() != 0) throw dropout->Fault("is not null", "encoding must not be random");
}

AddedToken ReadAddedToken(const JsonPart& part, int32_t id) {
  AddedToken out;
  out.id = id;
  out.content = part.At("content").String();
  if (out.content.empty()) throw part.At("content").Fault("is empty");
  out.special = part.BoolOr("special", false);
  out.normalized = part.BoolOr("normalized", !out.special);
  out.lstrip = part.BoolOr("lstrip", false);
  out.rstrip = part.BoolOr("rstrip", false);
  out.single_word = part.BoolOr("single_word", false);
  return out;
}

std::vector<AddedToken> ReadAddedTokens(const JsonPart& root, size_t model_size, Names* names) {
  std::vector<AddedToken> out;
  const auto parts = root.Find("added_tokens");
  if (!parts) return out;
  std::unordered_set<int32_t> seen;
  std::optional<int32_t> last;  // largest id of an added token so far
  for (size_t i = 0; i < parts->Size(); ++i) {
    const JsonPart part = (*parts)[i];
    const AddedToken token = ReadAddedToken(part, part.At("id").TokenId());
    // Hugging Face numbers new tokens itself; a file that says otherwise would be read as another one there.
    const int32_t base = static_cast<int32_t>(model_size);
    const int32_t next = last && *last >= base ? *last + 1 : base;
    const int32_t expected = names->Id(token.content).value_or(next);
    if (token.id != expected)
      throw part.At("id").Fault(
          fmt::format("is {}, but \"{}\" gets the id {}", token.id, token.content, expected),
          "list added tokens by id, without gaps after the vocabulary");
    if (!seen.insert(token.id).second)
      throw part.Fault(fmt::format("is \"{}\" a second time", token.content));
    names->Add(part, token.content, token.id);
    last = std::max(last.value_or(token.id), token.id);
    out.push_back(token);
  }
  return out;
}

// A special token of tokenizer_config.json: its text, or an object with its text.
std::string TokenText(const JsonPart& part) {
  return part.value().is_object() ? part.At("content").String() : part.String();
}

int32_t RequireToken(const JsonPart& part, const std::string& token, const Names& names) {
  if (const auto id = names.Id(token)) return *id;
  throw part.Fault(fmt::format("is \"{}\", which tokenizer.json does not have", token));
}

// added_tokens_decoder: the same tokens again; where its flags differ, Hugging Face takes these.
void ReadAddedTokensDecoder(const JsonPart& config, const Names& names, std::vector<AddedToken>* tokens) {
  const auto decoder = config.Find("added_tokens_decoder");
  if (!decoder) return;
  if (!decoder->value().is_object()) throw decoder->Fault("is not an object");
  for (const auto& [key, value] : decoder->value().items()) {
    const JsonPart part = decoder->At(key);
    const bool number = !key.empty() && key.size() < 9 && std::all_of(key.begin(), key.end(), ::isdigit);
    if (!number) throw part.Fault("has a key that is not a token id");
    const AddedToken token = ReadAddedToken(part, std::stoi(key));
    const int32_t id = RequireToken(part, token.content, names);
    if (id != token.id)
      throw part.Fault(fmt::format("is \"{}\", whose id in tokenizer.json is {}", token.content, id));
    const auto found =
        std::find_if(tokens->begin(), tokens->end(), [&](const AddedToken& t) { return t.id == id; });
    if (found == tokens->end()) {
      tokens->push_back(token);
    } else {
      *found = token;
    }
  }
}

void MarkSpecial(int32_t id, const std::string& content, std::vector<AddedToken>* tokens) {
  const auto found =
      std::find_if(tokens->begin(), tokens->end(), [&](const AddedToken& t) { return t.id == id; });
  if (found != tokens->end()) {
    found->special = true;
    return;
  }
  AddedToken token;
  token.id = id;
  token.content = content;
  token.special = true;
  tokens->push_back(token);
}

// What transformers makes of tokenizer_config.json: the named tokens are special; where it says anything
// about adding BOS or EOS, or tokenizer.json has no post-processor, these settings replace the
// post-processor.
void ApplyConfig(const JsonPart& config, bool has_post_processor, const Names& names,
                 TokenizerDefinition* out) {
  ReadAddedTokensDecoder(config, names, &out->added_tokens);
  const auto named = [&](const char* key) -> std::optional<int32_t> {
    const auto part = config.Find(key);
    if (!part) return std::nullopt;
    const std::string text = TokenText(*part);
    const int32_t id = RequireToken(*part, text, names);
    MarkSpecial(id, text, &out->added_tokens);
    return id;
  };
  out->bos = named("bos_token");
  out->eos = named("eos_token");
  for (const char* key : {"unk_token", "pad_token", "sep_token", "cls_token", "mask_token"}) named(key);
  for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
    const auto list = config.Find(key);
    if (!list || list->value().is_object()) continue;  // an object names tokens for other uses
    for (size_t i = 0; i < list->Size(); ++i) {
      const std::string text = TokenText((*list)[i]);
      MarkSpecial(RequireToken((*list)[i], text, names), text, &out->added_tokens);
    }
  }
  if (config.BoolOr("split_special_tokens", false))
    throw config.At("split_special_tokens").Fault("is true", "tokenize with --split-special instead");
  const bool explicit_flags =
      config.value().contains("add_bos_token") || config.value().contains("add_eos_token");
  if (has_post_processor && !explicit_flags) return;
  out->before.clear();
  out->after.clear();
  if (config.BoolOr("add_bos_token", false) && out->bos) out->before.push_back(*out->bos);
  if (config.BoolOr("add_eos_token", false) && out->eos) out->after.push_back(*out->eos);
}

// The keys of tokenizer_config.json that ApplyConfig reads.
nlohmann::json UsedConfig(const nlohmann::json& config) {
  nlohmann::json out = nlohmann::json::object();
  for (const char* key :
       {"add_bos_token", "add_eos_token", "added_tokens_decoder", "additional_special_tokens", "bos_token",
        "cls_token", "eos_token", "extra_special_tokens", "mask_token", "pad_token", "sep_token",
        "split_special_tokens", "unk_token"})
    if (config.contains(key)) out[key] = config[key];
  return out;
}

}  // namespace

BpeDefinition ReadBpe(const JsonPart& model) {
  CheckBpeOptions(model);
  BpeDefinition out;
  const JsonPart vocab = model.At("vocab");
  out.vocab = ReadVocab(vocab);
  const IdsByToken ids(out.vocab.begin(), out.vocab.end(), out.vocab.size());
  CheckBytes(vocab, ids);
  out.merges = ReadMerges(model.At("merges"), ids);
  out.ignore_merges = model.BoolOr("ignore_merges", false);
  out.fuse_unknown = model.BoolOr("fuse_unk", false);
  if (const auto token = model.Find("unk_token")) {
    const auto found = ids.find(token->String());
    if (found == ids.end())
      throw token->Fault(fmt::format("is \"{}\", which \"vocab\" does not have", token->String()));
    out.unknown = found->second;
  }
  return out;
}

TokenizerDefinition ReadTokenizerDefinition(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "tokenizer.json",
                              config_file = folder / "tokenizer_config.json";
  nlohmann::json json = JsonPart::ReadFile(file);
  const JsonPart root(json, file.string(), "");
  TokenizerDefinition out;
  out.model = ReadBpe(root.At("model"));
  out.normalizers = ReadNormalizers(root);
  out.pre_tokenizers = ReadPreTokenizers(root);
  CheckDecoder(root);
  Names names(out.model.vocab);
  out.added_tokens = ReadAddedTokens(root, out.model.vocab.size(), &names);
  PostProcessor around = ReadPostProcessor(root);
  out.before = std::move(around.before);
  out.after = std::move(around.after);
  for (const std::vector<int32_t>* ids : {&out.before, &out.after})
    for (const int32_t id : *ids)
      if (!names.Has(id))
        throw root.At("post_processor").Fault(fmt::format("adds the id {}, which no token has", id));
  nlohmann::json config = nlohmann::json::object();
  if (std::filesystem::exists(config_file)) config = JsonPart::ReadFile(config_file);
  const JsonPart config_part(config, config_file.string(), "");
  ApplyConfig(config_part, root.Find("post_processor").has_value(), names, &out);
  nlohmann::json identity = {{"config", UsedConfig(config)}};
  identity["tokenizer"] = std::move(json);
  out.sha256 = Sha256HexOfJson(identity);
  return out;
}

}  // namespace fullband
