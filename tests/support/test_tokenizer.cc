#include "tests/support/test_tokenizer.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

// The character that byte-level BPE writes for a byte: itself where it is printable, else one from U+0100 on.
std::string WrittenByte(unsigned char byte) {
  const auto printable = [](int b) { return (b > 32 && b < 127) || (b > 160 && b != 173); };
  int code = byte;
  if (!printable(byte)) {
    code = 256;
    for (int b = 0; b < byte; ++b) code += !printable(b);
  }
  if (code < 128) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
}

nlohmann::json Definition(const std::vector<std::string>& pieces, const std::vector<int32_t>& special) {
  nlohmann::json vocab = nlohmann::json::object(), added = nlohmann::json::array();
  for (size_t id = 0; id < pieces.size(); ++id) {
    if (std::find(special.begin(), special.end(), static_cast<int32_t>(id)) != special.end()) {
      vocab[pieces[id]] = id;
      added.push_back({{"id", id},
                       {"content", pieces[id]},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", true}});
      continue;
    }
    std::string written;
    for (char byte : pieces[id]) written += WrittenByte(static_cast<unsigned char>(byte));
    vocab[written] = id;
  }
  // Byte-level vocabularies have a token for every byte.
  size_t next = pieces.size();
  for (int byte = 0; byte < 256; ++byte) {
    const std::string written = WrittenByte(static_cast<unsigned char>(byte));
    if (!vocab.contains(written)) vocab[written] = next++;
  }
  const nlohmann::json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added},
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
            {"merges", nlohmann::json::array()}}}};
}

}  // namespace

void WriteTestTokenizer(const std::filesystem::path& folder, const std::vector<std::string>& pieces,
                        const std::vector<int32_t>& special, int32_t eos, const std::string& chat_template) {
  std::ofstream(folder / "tokenizer.json") << Definition(pieces, special).dump();
  nlohmann::json config = nlohmann::json::object();
  if (eos >= 0) config["eos_token"] = pieces.at(static_cast<size_t>(eos));
  if (!chat_template.empty()) config["chat_template"] = chat_template;
  if (!config.empty()) std::ofstream(folder / "tokenizer_config.json") << config.dump();
}

std::shared_ptr<const Tokenizer> MakeTestTokenizer(const std::vector<std::string>& pieces,
                                                   const std::vector<int32_t>& special, int32_t eos) {
  const TempFolder folder;
  WriteTestTokenizer(folder.path(), pieces, special, eos);
  return Tokenizer::Load(folder.path());
}

}  // namespace fullband
