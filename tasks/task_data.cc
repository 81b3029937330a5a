#include "tasks/task_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "common/error.h"
#include "common/hash.h"
#include "tasks/data_file.h"
#include "tasks/fewshot.h"
#include "tasks/readers.h"
#include "tasks/text_template.h"

namespace fullband {
namespace {

std::map<std::string, std::string> TextFields(const Item& item) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : item.fields.items())
    if (value.is_string()) texts[name] = value.get<std::string>();
  return texts;
}

std::string QuestionText(const Suite& suite, Format format, const Item& item) {
  return FillTemplate(suite.wording(format).question, TextFields(item));
}

// The answer as a shot has it, or as choice `choice` is scored.
std::string AnswerText(const Suite& suite, Format format, const Item& item, size_t choice) {
  std::map<std::string, std::string> fields = TextFields(item);
  if (suite.ask == Ask::kChoose) fields["choice"] = ChoiceTexts(item).at(choice);
  return FillTemplate(suite.wording(format).answer, fields);
}

std::string ShotAnswer(const Suite& suite, Format format, const Item& shot) {
  return AnswerText(suite, format, shot, suite.ask == Ask::kChoose ? GoldChoice(shot) : 0);
}

std::vector<std::string> NormalisedQuestions(const Suite& suite, const std::vector<Item>& items) {
  std::vector<std::string> questions;
  questions.reserve(items.size());
  for (const Item& item : items)
    questions.push_back(NormalisedQuestion(QuestionText(suite, Format::kCompletion, item)));
  return questions;
}

Error TooFew(const Suite& suite, const std::string& path, size_t found, size_t count) {
  return UsageError(suite.name,
                    fmt::format("only {} of the items of {} can be shots, not {}", found, path, count),
                    "ask for fewer with --shots");
}

// From a file of its own, without the questions that are asked.
void DrawFromShotData(TaskData* data, size_t count) {
  const Suite& suite = data->suite;
  const DataBytes bytes = ReadData(suite, suite.shot_data, data->options.data_folder);
  const std::vector<Item> pool = ReadItems(*FindReader(suite.reader), bytes.bytes, bytes.path);
  const std::vector<std::string> asked = NormalisedQuestions(suite, data->items);
  const std::vector<size_t> drawn = DrawShots(NormalisedQuestions(suite, pool), {asked.begin(), asked.end()},
                                              data->options.fewshot_seed, count);
  if (drawn.size() < count) throw TooFew(suite, bytes.path.string(), drawn.size(), count);
  for (const size_t row : drawn) data->shots.push_back(pool[row]);
}

// From the asked items themselves, which are then asked no more. A question that stands there twice is no
// shot: its twin would be asked with the answer in view.
void DrawFromItems(TaskData* data, size_t count, const std::string& path) {
  const std::vector<std::string> questions = NormalisedQuestions(data->suite, data->items);
  std::unordered_map<std::string, int> seen;
  for (const std::string& question : questions) ++seen[question];
  std::unordered_set<std::string> twins;
  for (const auto& [question, times] : seen)
    if (times > 1) twins.insert(question);
  const std::vector<size_t> drawn = DrawShots(questions, twins, data->options.fewshot_seed, count);
  if (drawn.size() < count || drawn.size() == data->items.size())
    throw TooFew(data->suite, path, std::min(drawn.size(), data->items.size() - 1), count);
  for (const size_t row : drawn) data->shots.push_back(data->items[row]);
  const std::unordered_set<size_t> taken(drawn.begin(), drawn.end());
  std::vector<Item> left;
  for (size_t row = 0; row < data->items.size(); ++row)
    if (!taken.count(row)) left.push_back(std::move(data->items[row]));
  data->items = std::move(left);
}

void CheckOptions(const TaskOptions& options) {
  if (options.shots && *options.shots < 0) throw UsageError("--shots", "is negative", "0 or more");
  if (options.max_new_tokens && *options.max_new_tokens < 1)
    throw UsageError("--max-new", "is below 1", "1 or more");
  if (!options.system.empty() && options.format != Format::kChat)
    throw UsageError("--system", "needs the prompt format chat", "add --format chat");
  for (const std::string& stop : options.extra_stop_strings)
    if (stop.empty()) throw UsageError("--stop", "is empty", "name at least one character");
}

}  // namespace

TaskData LoadTaskData(const Suite& suite, const TaskOptions& options) {
  CheckOptions(options);
  TaskData data{suite, options, "", {}, {}};
  const DataBytes bytes = ReadData(suite, suite.data, options.data_folder);
  data.data_sha256 = bytes.sha256;
  data.items = ReadItems(*FindReader(suite.reader), bytes.bytes, bytes.path);
  const auto count = static_cast<size_t>(options.shots.value_or(suite.shots));
  if (count == 0) return data;
  if (suite.shot_data.path.empty()) {
    DrawFromItems(&data, count, bytes.path.string());
  } else {
    DrawFromShotData(&data, count);
  }
  return data;
}

std::string CompletionPrompt(const TaskData& data, const Item& item, size_t shots) {
  const Format format = Format::kCompletion;
  std::string text;
  for (size_t i = data.shots.size() - std::min(shots, data.shots.size()); i < data.shots.size(); ++i)
    text += QuestionText(data.suite, format, data.shots[i]) + ShotAnswer(data.suite, format, data.shots[i]) +
            data.suite.shot_separator;
  return text + QuestionText(data.suite, format, item);
}

std::vector<ChatMessage> ChatPrompt(const TaskData& data, const Item& item, size_t shots) {
  const Format format = Format::kChat;
  std::vector<ChatMessage> messages;
  if (!data.options.system.empty()) messages.push_back({"system", data.options.system});
  for (size_t i = data.shots.size() - std::min(shots, data.shots.size()); i < data.shots.size(); ++i) {
    messages.push_back({"user", QuestionText(data.suite, format, data.shots[i])});
    messages.push_back({"assistant", ShotAnswer(data.suite, format, data.shots[i])});
  }
  messages.push_back({"user", QuestionText(data.suite, format, item)});
  return messages;
}

std::vector<std::string> Continuations(const TaskData& data, const Item& item) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < ChoiceTexts(item).size(); ++i)
    texts.push_back(AnswerText(data.suite, data.options.format, item, i));
  return texts;
}

std::string ShotAnswer(const TaskData& data, const Item& item) {
  return ShotAnswer(data.suite, data.options.format, item);
}

std::string GoldText(const TaskData& data, const Item& item) {
  if (data.suite.ask == Ask::kChoose) return ChoiceTexts(item).at(GoldChoice(item));
  return FillTemplate(data.suite.gold, TextFields(item));
}

std::string GroupsText(const Suite& suite, const Item& item) {
  nlohmann::ordered_json groups = nlohmann::ordered_json::object();
  for (const std::string& field : suite.report_by) groups[field] = item.fields.at(field);
  return groups.dump();
}

std::vector<std::string> ChoiceTexts(const Item& item) {
  return item.fields.at("choices").get<std::vector<std::string>>();
}

size_t GoldChoice(const Item& item) { return item.fields.at("gold").get<size_t>(); }

std::string ShotTextSha256(const TaskData& data) {
  nlohmann::json texts = nlohmann::json::array();
  for (const Item& shot : data.shots)
    texts.push_back({QuestionText(data.suite, data.options.format, shot),
                     ShotAnswer(data.suite, data.options.format, shot)});
  return Sha256HexOfJson(texts);
}

}  // namespace fullband
