// The texts that passes are run over: a file cut into windows, or a suite's items with their answers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "tasks/task.h"

namespace fullband {

struct ContractionInput {
  std::vector<PassText> texts;
  std::vector<size_t> answer_from;    // suites: index of each text's first token of the reference answer
  size_t tokens_left_out = 0;         // file: at its end, too few for a window
  size_t items_with_fewer_shots = 0;  // suite: to fit the context
};

// Throws Error where the file cannot be read, is empty or is not UTF-8.
std::string ReadTextFile(const std::filesystem::path& file);

// Windows of `window` tokens, each a text of its own: what the tokenizer puts before a text (BOS) begins
// every one of them. The last one may be shorter; where it has no more than `passes` tokens it is left out.
// At most `limit` windows (0: all). Text that looks like a special token is ordinary text. Throws a usage
// Error where a window or the whole text has no more than `passes` tokens.
ContractionInput CutText(const std::string& name, const std::string& text, const Tokenizer& tokenizer,
                         size_t window, int passes, size_t limit);

// The suite's items as a model is asked in completion format, each followed by the reference answer as a shot
// has it (choose: the right choice). Throws Error naming the item that cannot be asked or, with its answer,
// does not fit the context, and where no item is longer than `passes` tokens.
ContractionInput SuiteTexts(const TaskData& data, const Tokenizer& tokenizer, int passes);

}  // namespace fullband
