// Normalizers, pre-tokenizers, decoder and post-processor of tokenizer.json.
#include <fmt/format.h>

#include <functional>
#include <iterator>

#include "engine/tokenizer/definition.h"

namespace fullband {
namespace {

constexpr int kMaxDepth = 16;  // of Sequence within Sequence; real files have one

// GPT-2's expression (Radford et al. 2019), which the ByteLevel pre-tokenizer has built in.
constexpr char kByteLevelPattern[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Calls `visit` with every part that is not a Sequence, in order. A Sequence has its parts under `key`.
void VisitParts(const JsonPart& part, const char* key, int depth,
                const std::function<void(const JsonPart&)>& visit) {
  if (part.At("type").String() != "Sequence") return visit(part);
  if (depth == kMaxDepth) throw part.Fault(fmt::format("is a Sequence nested more than {} deep", kMaxDepth));
  const JsonPart parts = part.At(key);
  for (size_t i = 0; i < parts.Size(); ++i) VisitParts(parts[i], key, depth + 1, visit);
}

std::string Quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;
    if (!plain && static_cast<unsigned char>(c) > ' ') out += '\\';
    out += c;
  }
  return out;
}

SplitBehavior ReadBehavior(const JsonPart& part) {
  const std::string& name = part.String();
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  throw part.Unsupported(name, "Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous");
}

PreTokenizerPart ReadSplit(const JsonPart& part) {
  PreTokenizerPart out;
  const JsonPart pattern = part.At("pattern");
  out.place = pattern.Fault("").subject();
  if (const auto regex = pattern.Find("Regex")) {
    out.pattern = regex->String();
  } else if (const auto text = pattern.Find("String")) {
    out.pattern = Quoted(text->String());
  } else {
    throw pattern.Fault("has neither \"Regex\" nor \"String\"");
  }
  if (out.pattern.empty()) throw pattern.Fault("is empty");
  out.behavior = ReadBehavior(part.At("behavior"));
  out.invert = part.BoolOr("invert", false);
  return out;
}

PreTokenizerPart ReadPreTokenizer(const JsonPart& part) {
  const std::string& type = part.At("type").String();
  if (type == "Split") return ReadSplit(part);
  PreTokenizerPart out;
  out.place = part.Fault("").subject();
  if (type == "Digits") {
    out.kind = PreTokenizerPart::Kind::kDigits;
    out.individual_digits = part.At("individual_digits").Bool();
    return out;
  }
  if (type == "ByteLevel") {
    out.kind = PreTokenizerPart::Kind::kByteLevel;
    out.add_prefix_space = part.At("add_prefix_space").Bool();
    if (part.BoolOr("use_regex", true)) out.pattern = kByteLevelPattern;
    return out;
  }
  throw part.Unsupported(type, "Sequence, Split, Digits, ByteLevel");
}

// The ids that stand for one special token of a template.
std::vector<int32_t> TemplateIds(const JsonPart& special_tokens, const JsonPart& piece) {
  const std::string& name = piece.At("id").String();
  const auto entry = special_tokens.Find(name);
  if (!entry) throw piece.Fault(fmt::format("names \"{}\", which \"special_tokens\" does not have", name));
  const JsonPart ids = entry->At("ids");
  std::vector<int32_t> out;
  for (size_t i = 0; i < ids.Size(); ++i) out.push_back(ids[i].TokenId());
  return out;
}

PostProcessor ReadTemplate(const JsonPart& part) {
  PostProcessor out;
  const JsonPart pieces = part.At("single");
  bool seen_text = false;
  for (size_t i = 0; i < pieces.Size(); ++i) {
    if (const auto special = pieces[i].Find("SpecialToken")) {
      const std::vector<int32_t> ids = TemplateIds(part.At("special_tokens"), *special);
      std::vector<int32_t>& side = seen_text ? out.after : out.before;
      side.insert(side.end(), ids.begin(), ids.end());
      continue;
    }
    const JsonPart text = pieces[i].At("Sequence");
    if (text.At("id").String() != "A" || seen_text)
      throw text.Fault("is not the one sequence A of a single text");
    seen_text = true;
  }
  if (!seen_text) throw pieces.Fault("has no sequence A");
  return out;
}

}  // namespace

std::vector<NormalForm> ReadNormalizers(const JsonPart& root) {
  std::vector<NormalForm> out;
  const auto normalizer = root.Find("normalizer");
  if (!normalizer) return out;
  VisitParts(*normalizer, "normalizers", 0, [&](const JsonPart& part) {
    const std::string& type = part.At("type").String();
    if (type == "NFC") return out.push_back(NormalForm::kNfc);
    if (type == "NFD") return out.push_back(NormalForm::kNfd);
    if (type == "NFKC") return out.push_back(NormalForm::kNfkc);
    if (type == "NFKD") return out.push_back(NormalForm::kNfkd);
    throw part.Unsupported(type, "Sequence, NFC, NFD, NFKC, NFKD");
  });
  return out;
}

std::vector<PreTokenizerPart> ReadPreTokenizers(const JsonPart& root) {
  std::vector<PreTokenizerPart> out;
  const JsonPart pre_tokenizer = root.At("pre_tokenizer");
  bool byte_level = false;
  VisitParts(pre_tokenizer, "pretokenizers", 0, [&](const JsonPart& part) {
    if (byte_level) throw part.Fault("stands after ByteLevel, which must be last");
    out.push_back(ReadPreTokenizer(part));
    byte_level = out.back().kind == PreTokenizerPart::Kind::kByteLevel;
  });
  if (!byte_level)
    throw pre_tokenizer.Fault("has no ByteLevel part", "only byte-level tokenizers are supported");
  return out;
}

void CheckDecoder(const JsonPart& root) {
  const JsonPart decoder = root.At("decoder");
  int byte_level = 0;
  VisitParts(decoder, "decoders", 0, [&](const JsonPart& part) {
    const std::string& type = part.At("type").String();
    if (type != "ByteLevel") throw part.Unsupported(type, "Sequence, ByteLevel");
    ++byte_level;
  });
  if (byte_level != 1) throw decoder.Fault("is not one ByteLevel decoder");
}

PostProcessor ReadPostProcessor(const JsonPart& root) {
  PostProcessor out;
  const auto post_processor = root.Find("post_processor");
  if (!post_processor) return out;
  VisitParts(*post_processor, "processors", 0, [&](const JsonPart& part) {
    const std::string& type = part.At("type").String();
    if (type == "ByteLevel") return;  // it trims offsets, which nothing here has
    if (type != "TemplateProcessing") throw part.Unsupported(type, "Sequence, ByteLevel, TemplateProcessing");
    const PostProcessor around = ReadTemplate(part);
    out.before.insert(out.before.begin(), around.before.begin(), around.before.end());
    out.after.insert(out.after.end(), around.after.begin(), around.after.end());
  });
  return out;
}

}  // namespace fullband
