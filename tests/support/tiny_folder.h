// A whole model folder, small enough for tests of the program: random weights, a tokenizer of single bytes, a
// chat template.
#pragma once

#include <filesystem>

#include "tests/support/checkpoint_files.h"
#include "tests/support/random_model.h"
#include "tests/support/test_tokenizer.h"

namespace fullband {

// `folder` is made. Token 0 is the end token "<end>"; the context has 2048 positions.
inline void WriteTinyFolder(const std::filesystem::path& folder, Fusion fusion = Fusion::kGlu,
                            uint64_t seed = 1) {
  std::filesystem::create_directories(folder);
  ModelConfig config = fusion == Fusion::kNone ? TinyConfig() : TinyLatentConfig();
  config.fusion = fusion;
  config.vocab_size = 257;
  config.max_positions = 2048;
  WriteCheckpoint(*RandomModel(config, DType::kF32, seed), folder);
  WriteTestTokenizer(folder, {"<end>"}, {0}, 0,
                     "{% for m in messages %}[{{ m.role }}] {{ m.content }}<end>\n{% endfor %}[assistant] ");
}

}  // namespace fullband
