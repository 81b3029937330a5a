// From a line of a file of samples to a sample of the store.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/tokenizer/tokenizer.h"
#include "evals/import/sample_file.h"
#include "evals/store/store.h"
#include "tasks/task_data.h"

namespace fullband {

// Throws Error naming file and line where the tokens are none of the tokenizer's, or where a completion that
// stands beside them is not what they spell (white space at its ends aside).
void CheckTokens(const ImportedLine& line, const Tokenizer& tokenizer, const std::filesystem::path& path);

// Its item's id is left 0. Texts are kept up to the first stop string. With a tokenizer (CheckTokens was
// called) text and trace_tokens come of the tokens, as for traces of our own.
SampleRecord SampleOfLine(const ImportedLine& line, const TaskData& data,
                          const std::vector<std::string>& stop_strings, const Tokenizer* tokenizer);

}  // namespace fullband
