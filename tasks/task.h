// A suite put to a model: its items as token prompts, with the shots drawn and everything that identifies
// them.
//
// Too long for the context: a prompt and its max_new_tokens (choose: its longest continuation) should fit.
// Where they do not, whole shots are dropped, oldest first, never the question. A bare question that leaves
// room for at least one generated token is still asked (generation then ends with `context`); one that does
// not is a fault.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/tokenizer/tokenizer.h"
#include "tasks/chat_template.h"
#include "tasks/suite.h"
#include "tasks/task_data.h"

namespace fullband {

// One continuation to score (tasks/pair.h).
struct Choice {
  // The continuation as it is scored, e.g. " Paris"; Choices::kContexts: the context, which is what differs.
  std::string text;
  std::vector<int32_t> context;
  std::vector<int32_t> continuation;
  // Unicode code points of the choice's own text, as lm-evaluation-harness normalises; Choices::kContexts: of
  // the continuation.
  int characters = 0;
  int bytes = 0;                // its UTF-8 bytes
  bool boundary_merge = false;  // a token spans the join, so that the continuation was encoded alone
};

struct Question {
  std::string item;
  // What the model reads, special tokens written out (choose: up to the continuation; Choices::kContexts:
  // with the first choice's context).
  std::string prompt_text;
  std::vector<int32_t> prompt;  // generate
  std::vector<Choice> choices;  // choose
  // Generate: the reference answer, as the graders take it; choose: the right choice's text.
  std::string gold;
  int gold_choice = -1;       // choose
  int shots_dropped = 0;      // to fit the context
  std::string fault;          // why it cannot be asked, or empty
  nlohmann::json fields;      // the item's own
  std::string groups = "{}";  // GroupsText
};

struct Task {
  Suite suite;
  Format format = Format::kCompletion;
  int shots = 0;                      // before an item
  std::vector<std::string> shot_ids;  // of all parts
  std::string shot_text_sha256;
  std::string data_sha256;
  std::string chat_template_sha256;  // empty in completion format
  std::string system;
  std::vector<std::string> stop_strings;
  int max_new_tokens = 0;
  size_t items_total = 0;           // before `limit`
  std::vector<Question> questions;  // in data order
};

// Renders a conversation as text, with the generation prompt at its end.
using RenderChat = std::function<std::string(const std::vector<ChatMessage>&)>;

// Pure: data in, questions out; no model and no network. `chat` is needed for Format::kChat only.
Task BuildTask(const TaskData& data, const Tokenizer& tokenizer, ChatTemplate* chat);
Task BuildTask(const Suite& suite, const TaskOptions& options, const Tokenizer& tokenizer,
               ChatTemplate* chat);
// With any way of rendering, for tests; `template_sha256` identifies it.
Task BuildTask(const TaskData& data, const Tokenizer& tokenizer, const RenderChat& render,
               const std::string& template_sha256);

}  // namespace fullband
