// What a suite asks, as text: data read and checked, shots drawn, prompts written. Needs no tokenizer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

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

// What a suite asks before there is a model: data read and checked, shots drawn.
struct TaskData {
  Suite suite;
  TaskOptions options;
  std::string data_sha256;  // of the data file; of several, of the canonical JSON of their hashes
  std::vector<Item> shots;  // part by part, each in prompt order, oldest first
  std::vector<Item> items;  // to be asked, in data order, `limit` not yet applied
};

// Throws Error naming file and line for malformed data, saying where a missing file comes from, and where
// there are too few items to draw the shots from.
TaskData LoadTaskData(const Suite& suite, const TaskOptions& options);

// Rows of the items that the limit lets through, in data order: the first ones, of all parts alike. What a
// smaller limit asks, a larger one asks too.
std::vector<size_t> AskedRows(const TaskData& data);

// The shots that the item is asked after: its part's.
std::span<const Item> ShotsOf(const TaskData& data, const Item& item);

// What stands before an item's question in completion format: the preamble and the last `shots` of its shots.
std::string ShotsText(const TaskData& data, const Item& item, size_t shots);
// The prompt of an item in completion format, with the last `shots` of its shots before it.
// Choices::kContexts: with the context of `choice`; else `choice` changes nothing.
std::string CompletionPrompt(const TaskData& data, const Item& item, size_t shots, size_t choice = 0);
// The same as a conversation: the system prompt where there is one, each shot as a pair of turns, the
// question.
std::vector<ChatMessage> ChatPrompt(const TaskData& data, const Item& item, size_t shots, size_t choice = 0);
// Choose: the continuations in the task's format, as they are scored, one a choice (Choices::kContexts: all
// the same).
std::vector<std::string> Continuations(const TaskData& data, const Item& item);

// An item's reference answer as a shot has it, in the task's format; choose: the right continuation.
std::string ShotAnswer(const TaskData& data, const Item& item);

// The reference answer: what the gold template says; choose: the right choice's own text.
std::string GoldText(const TaskData& data, const Item& item);
// The values of the fields that the suite's reports go by, in the suite's order, as a JSON object.
std::string GroupsText(const Suite& suite, const Item& item);
// Choose: the texts to choose from, and which is right.
std::vector<std::string> ChoiceTexts(const Item& item);
size_t GoldChoice(const Item& item);

// SHA-256 of the shots' questions and answers as the task's format words them.
std::string ShotTextSha256(const TaskData& data);

}  // namespace fullband
