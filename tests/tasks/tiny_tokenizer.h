// A tokenizer of one token a byte, a few merges and two special tokens, made in a folder.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/tokenizer/tokenizer.h"

namespace fullband {

// The character that stands for a byte in byte-level vocabularies: itself where it is printable, else one of
// U+0100 and following in byte order.
inline std::string ByteCharacter(int byte) {
  const auto printable = [](int b) { return (b > 32 && b < 127) || (b > 160 && b != 173); };
  int code = byte;
  if (!printable(byte)) {
    code = 256;
    for (int b = 0; b < byte; ++b) code += !printable(b);
  }
  if (code < 128) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
}

inline constexpr int32_t kTinyBos = 256;  // "<s>"
inline constexpr int32_t kTinyEnd = 257;  // "<|end|>"

// Token ids: a byte's own value, the special tokens, then 258 and following for the merges.
inline std::shared_ptr<const Tokenizer> TinyTokenizer(
    const std::filesystem::path& folder, const std::vector<std::pair<std::string, std::string>>& merges = {},
    bool add_bos = false) {
  nlohmann::json vocab;
  for (int byte = 0; byte < 256; ++byte) vocab[ByteCharacter(byte)] = byte;
  nlohmann::json rules = nlohmann::json::array();
  vocab["<s>"] = kTinyBos;
  vocab["<|end|>"] = kTinyEnd;
  int next = 258;
  for (const auto& [left, right] : merges) {
    vocab[left + right] = next++;
    rules.push_back(left + " " + right);
  }
  const auto special = [](int32_t id, const char* text) {
    return nlohmann::json{{"id", id},        {"content", text},     {"single_word", false}, {"lstrip", false},
                          {"rstrip", false}, {"normalized", false}, {"special", true}};
  };
  const nlohmann::json byte_level{
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  nlohmann::json file{{"version", "1.0"},
                      {"truncation", nullptr},
                      {"padding", nullptr},
                      {"added_tokens", {special(kTinyBos, "<s>"), special(kTinyEnd, "<|end|>")}},
                      {"normalizer", nullptr},
                      {"pre_tokenizer", byte_level},
                      {"post_processor", nullptr},
                      {"decoder", byte_level},
                      {"model",
                       {{"type", "BPE"},
                        {"dropout", nullptr},
                        {"unk_token", nullptr},
                        {"continuing_subword_prefix", nullptr},
                        {"end_of_word_suffix", nullptr},
                        {"fuse_unk", false},
                        {"byte_fallback", false},
                        {"vocab", vocab},
                        {"merges", rules}}}};
  if (add_bos) {
    const nlohmann::json bos{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};
    const nlohmann::json text{{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
    file["post_processor"] = {
        {"type", "TemplateProcessing"},
        {"single", {bos, text}},
        {"pair", {bos, text, {{"Sequence", {{"id", "B"}, {"type_id", 1}}}}}},
        {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {kTinyBos}}, {"tokens", {"<s>"}}}}}}};
  }
  std::ofstream(folder / "tokenizer.json") << file.dump();
  return Tokenizer::Load(folder);
}

}  // namespace fullband
