// A suite put to a model: its items as token prompts, with the shots drawn and everything that identifies
// them.
//
// Too long for the context: a prompt and its max_new_tokens (choose: its longest continuation) should fit.
// Where they do not, whole shots are dropped, oldest first, never the question. A bare question that leaves
// room for at least one generated token is still asked (generation then ends with `context`); one that does
// not is a fault.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
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
  std::string system;        // chat only
  std::optional<int> shots;  // else the suite's default
  uint64_t fewshot_seed = 0;
  std::filesystem::path data_folder;  // looked in before the other data folders; may be empty
  std::optional<int> max_new_tokens;
  std::vector<std::string> extra_stop_strings;
  int max_context = 0;  // positions; 0: no limit
  size_t limit = 0;     // only the first items become questions; shots are drawn as for all. 0: all
};

// One continuation to score (tasks/pair.h).
struct Choice {
  std::string text;  // the continuation as it is scored, e.g. " Paris"
  std::vector<int32_t> context;
  std::vector<int32_t> continuation;
  int characters = 0;  // Unicode code points of the choice's own text, as lm-evaluation-harness normalises
  int bytes = 0;       // its UTF-8 bytes
  bool boundary_merge = false;  // a token spans the join, so that the continuation was encoded alone
};

struct Question {
  std::string item;
  std::string
      prompt_text;  // what the model reads, special tokens written out (choose: up to the continuation)
  std::vector<int32_t> prompt;  // generate
  std::vector<Choice> choices;  // choose
  std::string
      gold;  // generate: the reference answer, as the graders take it; choose: the right choice's text
  int gold_choice = -1;   // choose
  int shots_dropped = 0;  // to fit the context
  std::string fault;      // why it cannot be asked, or empty
  nlohmann::json fields;  // the item's own
};

// What a suite asks before there is a model: data read and checked, shots drawn.
struct TaskData {
  Suite suite;
  TaskOptions options;
  std::string data_sha256;
  std::vector<Item> shots;  // in prompt order, oldest first
  std::vector<Item> items;  // to be asked, in data order, `limit` not yet applied
};

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
  size_t items_total = 0;           // before `limit`
  std::vector<Question> questions;  // in data order
};

// Throws Error naming file and line for malformed data, saying where a missing file comes from, and where
// there are too few items to draw the shots from.
TaskData LoadTaskData(const Suite& suite, const TaskOptions& options);

// The prompt of an item in completion format, with the last `shots` of the shots before it.
std::string CompletionPrompt(const TaskData& data, const Item& item, size_t shots);
// The same as a conversation: the system prompt where there is one, each shot as a pair of turns, the
// question.
std::vector<ChatMessage> ChatPrompt(const TaskData& data, const Item& item, size_t shots);
// Choose: the continuations in the task's format, as they are scored.
std::vector<std::string> Continuations(const TaskData& data, const Item& item);

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
