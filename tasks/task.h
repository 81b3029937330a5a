// A suite put to a model: its items as token prompts, with the shots drawn and everything that identifies them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/tokenizer/tokenizer.h"
#include "tasks/chat_template.h"
#include "tasks/suite.h"

namespace fullband {

struct TaskOptions {
  Format format = Format::kCompletion;
  std::string system;          // chat only
  std::optional<int> shots;    // else the suite's default
  uint64_t fewshot_seed = 0;
  std::filesystem::path data_folder;
  std::optional<int> max_new_tokens;
  std::vector<std::string> extra_stop_strings;
  int max_context = 0;  // positions; longer prompts lose their oldest shots
};

// One continuation to score. Tokenized as lm-evaluation-harness does it: context and continuation are encoded
// together and split at the context's own length; white space at the end of the context moves to the continuation.
struct Choice {
  std::string text;                   // the continuation as it is scored, e.g. " Paris"
  std::vector<int32_t> context;
  std::vector<int32_t> continuation;
  int characters = 0;  // of the choice's own text, as lm-evaluation-harness normalises
  int bytes = 0;
};

struct Question {
  std::string item;
  std::string prompt_text;           // what the model reads, special tokens written out
  std::vector<int32_t> prompt;       // generate
  std::vector<Choice> choices;       // choose
  std::string gold;                  // generate: the reference answer, as the graders take it
  int gold_choice = -1;              // choose
  int shots_dropped = 0;             // to fit the context
  std::string fault;                 // why it cannot be asked, or empty
  nlohmann::json fields;             // the item's own
};

// Pure: data in, questions out; no model and no network.
struct Task {
  Suite suite;
  Format format = Format::kCompletion;
  std::vector<std::string> shot_ids;
  std::string shot_text_sha256;
  std::string data_sha256;
  std::string chat_template_sha256;  // empty in completion format
  std::string system;
  std::vector<std::string> stop_strings;
  int max_new_tokens = 0;
  std::vector<Question> questions;   // in data order
};

// Throws Error naming file and line for malformed data, and saying where a missing file comes from.
// `chat` is needed for Format::kChat only.
Task BuildTask(const Suite& suite, const TaskOptions& options, const Tokenizer& tokenizer, ChatTemplate* chat);

}  // namespace fullband
