// Small byte-level tokenizers for tests: every byte is a token, with the ids that the trainers give them ('!'
// is 0, 'a' is 64, the space 220); the rest is added by the test.
#pragma once

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/tokenizer/tokenizer.h"
#include "engine/tokenizer/unicode.h"
#include "tests/support/temp_folder.h"

namespace fullband {

inline nlohmann::json ByteVocab() {
  nlohmann::json vocab;
  int next = 0;
  // Printable bytes first, then the others, as in GPT-2's own vocabulary.
  for (const bool printable : {true, false}) {
    for (int byte = 0; byte < 256; ++byte) {
      if ((ByteLevelCharacters()[byte] < 256) != printable) continue;
      std::string token;
      AppendCharacter(ByteLevelCharacters()[byte], &token);
      vocab[token] = next++;
    }
  }
  return vocab;
}

inline nlohmann::json SmallTokenizer() {
  const nlohmann::json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  return {{"version", "1.0"},
          {"added_tokens", nlohmann::json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", byte_level},
          {"post_processor", nullptr},
          {"decoder", byte_level},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", ""},
            {"end_of_word_suffix", ""},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"vocab", ByteVocab()},
            {"merges", nlohmann::json::array()}}}};
}

// An added token; `flags` overrides any of its members.
inline nlohmann::json Added(int id, const std::string& content, const nlohmann::json& flags = {}) {
  nlohmann::json token = {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
                          {"rstrip", false}, {"normalized", false}, {"special", true}};
  if (!flags.is_null()) token.update(flags);
  return token;
}

inline std::shared_ptr<const Tokenizer> LoadTokenizer(const nlohmann::json& tokenizer,
                                                      const nlohmann::json& config = nullptr) {
  TempFolder folder;
  std::ofstream(folder / "tokenizer.json") << tokenizer;
  if (!config.is_null()) std::ofstream(folder / "tokenizer_config.json") << config;
  return Tokenizer::Load(folder.path());
}

inline std::shared_ptr<const Tokenizer> LoadWithAdded(const std::vector<nlohmann::json>& added,
                                                      const nlohmann::json& normalizer = nullptr) {
  nlohmann::json json = SmallTokenizer();
  json["added_tokens"] = added;
  json["normalizer"] = normalizer;
  return LoadTokenizer(json);
}

}  // namespace fullband
