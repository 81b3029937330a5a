// A tokenizer made of given pieces, for tests of what is done with tokens.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/tokenizer/tokenizer.h"

namespace fullband {

// Token i stands for the bytes pieces[i], which need not be whole characters; single bytes
// that no piece stands for get the ids after them. `special` are ids of special
// tokens; `eos` (-1: none) is what tokenizer_config.json names.
std::shared_ptr<const Tokenizer> MakeTestTokenizer(const std::vector<std::string>& pieces,
                                                   const std::vector<int32_t>& special = {},
                                                   int32_t eos = -1);

// The files of such a tokenizer, into an existing folder. `chat_template` (may be empty) is Jinja2.
void WriteTestTokenizer(const std::filesystem::path& folder, const std::vector<std::string>& pieces,
                        const std::vector<int32_t>& special = {}, int32_t eos = -1,
                        const std::string& chat_template = "");

}  // namespace fullband
