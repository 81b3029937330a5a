#include "tasks/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "common/error.h"
#include "common/hash.h"
#include "tasks/data_file.h"
#include "tasks/fewshot.h"
#include "tasks/pair.h"
#include "tasks/readers.h"
#include "tasks/text_template.h"

namespace fullband {
namespace {

// --- Data and shots ---

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
  if (suite.ask == Ask::kChoose) fields["choice"] = item.fields.at("choices").at(choice).get<std::string>();
  return FillTemplate(suite.wording(format).answer, fields);
}

std::string ShotAnswer(const Suite& suite, Format format, const Item& shot) {
  return AnswerText(suite, format, shot,
                    suite.ask == Ask::kChoose ? shot.fields.at("gold").get<size_t>() : 0);
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

// --- Tokens ---

class Builder {
 public:
  Builder(const TaskData& data, const Tokenizer& tokenizer, const RenderChat& render, int max_new_tokens)
      : data_(data), tokenizer_(tokenizer), render_(render), max_new_tokens_(max_new_tokens) {
    // Text of a data set never becomes a special token. In chat format the template alone decides about BOS.
    encode_.split_special_tokens = !chat();
    encode_.add_special_tokens = !chat();
  }

  Question Build(const Item& item) const {
    Question question;
    question.item = item.id;
    question.fields = item.fields;
    if (data_.suite.ask == Ask::kChoose) {
      question.gold_choice = item.fields.at("gold").get<int>();
      question.gold =
          item.fields.at("choices").at(static_cast<size_t>(question.gold_choice)).get<std::string>();
    } else {
      question.gold = FillTemplate(data_.suite.gold, TextFields(item));
    }
    const size_t shots = data_.shots.size();
    for (size_t dropped = 0; dropped <= shots; ++dropped) {
      question.shots_dropped = static_cast<int>(dropped);
      if (Fill(item, shots - dropped, dropped == shots, &question)) break;
    }
    return question;
  }

 private:
  bool chat() const { return data_.options.format == Format::kChat; }

  // The prompt as the tokenizer takes it: in chat format with guarded contents.
  std::string Prompt(const Item& item, size_t shots) const {
    if (!chat()) return CompletionPrompt(data_, item, shots);
    std::vector<ChatMessage> messages = ChatPrompt(data_, item, shots);
    for (ChatMessage& message : messages) message.content = tokenizer_.Guard(message.content);
    return render_(messages);
  }

  // Fills text and tokens with so many shots. False where they do not fit and fewer shots may.
  bool Fill(const Item& item, size_t shots, bool last, Question* question) const {
    const std::string prompt = Prompt(item, shots);
    question->prompt_text = chat() ? Tokenizer::Unguard(prompt) : prompt;
    if (data_.suite.ask == Ask::kChoose) return FillChoices(item, prompt, last, question);
    question->prompt =
        chat() ? tokenizer_.EncodeGuarded(prompt, encode_) : tokenizer_.Encode(prompt, encode_);
    const size_t size = question->prompt.size();
    if (size == 0) question->fault = "the prompt has no tokens";
    if (Fits(size + static_cast<size_t>(max_new_tokens_))) return true;
    if (last && !Fits(size + 1)) question->fault = TooLong(size);
    return last;
  }

  bool FillChoices(const Item& item, const std::string& prompt, bool last, Question* question) const {
    question->choices.clear();
    size_t longest = 0;
    const std::vector<std::string> continuations = Continuations(data_, item);
    for (size_t i = 0; i < continuations.size(); ++i) {
      const std::string own = item.fields.at("choices").at(i).get<std::string>();
      const std::string scored = chat() ? tokenizer_.Guard(continuations[i]) : continuations[i];
      TokenPair pair = EncodePair(tokenizer_, prompt, scored, encode_, chat());
      if (pair.context.empty()) question->fault = "the context has no tokens";
      if (pair.continuation.empty()) question->fault = fmt::format("choice {} has no tokens", i);
      longest = std::max(longest, pair.context.size() + pair.continuation.size());
      question->choices.push_back({continuations[i], std::move(pair.context), std::move(pair.continuation),
                                   static_cast<int>(CountCharacters(own)), static_cast<int>(own.size()),
                                   pair.boundary_merge});
    }
    if (Fits(longest)) return true;
    if (last) question->fault = TooLong(longest);
    return last;
  }

  bool Fits(size_t positions) const {
    return data_.options.max_context <= 0 || positions <= static_cast<size_t>(data_.options.max_context);
  }

  std::string TooLong(size_t positions) const {
    return fmt::format("too long for the context without any shots: {} tokens, of {} possible", positions,
                       data_.options.max_context);
  }

  const TaskData& data_;
  const Tokenizer& tokenizer_;
  const RenderChat& render_;
  int max_new_tokens_;
  EncodeOptions encode_;
};

std::vector<std::string> StopStrings(const Suite& suite, const TaskOptions& options) {
  if (suite.ask == Ask::kChoose) return {};
  std::vector<std::string> stops = suite.wording(options.format).stop_strings;
  for (const std::string& stop : options.extra_stop_strings)
    if (std::find(stops.begin(), stops.end(), stop) == stops.end()) stops.push_back(stop);
  return stops;
}

std::string ShotTextSha256(const TaskData& data) {
  nlohmann::json texts = nlohmann::json::array();
  for (const Item& shot : data.shots)
    texts.push_back({QuestionText(data.suite, data.options.format, shot),
                     ShotAnswer(data.suite, data.options.format, shot)});
  return Sha256HexOfJson(texts);
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
  for (size_t i = 0; i < item.fields.at("choices").size(); ++i)
    texts.push_back(AnswerText(data.suite, data.options.format, item, i));
  return texts;
}

Task BuildTask(const TaskData& data, const Tokenizer& tokenizer, const RenderChat& render,
               const std::string& template_sha256) {
  const TaskOptions& options = data.options;
  if (options.format == Format::kChat && !render)
    throw UsageError("--format chat", "the model has no chat template", "use --format completion");
  Task task;
  task.suite = data.suite;
  task.format = options.format;
  task.data_sha256 = data.data_sha256;
  task.shot_text_sha256 = ShotTextSha256(data);
  for (const Item& shot : data.shots) task.shot_ids.push_back(shot.id);
  if (options.format == Format::kChat) task.chat_template_sha256 = template_sha256;
  task.system = options.system;
  task.stop_strings = StopStrings(data.suite, options);
  if (data.suite.ask == Ask::kGenerate)
    task.max_new_tokens = options.max_new_tokens.value_or(data.suite.max_new_tokens);
  task.items_total = data.items.size();
  const size_t count = options.limit == 0 ? data.items.size() : std::min(options.limit, data.items.size());
  const Builder builder(data, tokenizer, render, task.max_new_tokens);
  task.questions.reserve(count);
  for (size_t i = 0; i < count; ++i) task.questions.push_back(builder.Build(data.items[i]));
  return task;
}

Task BuildTask(const TaskData& data, const Tokenizer& tokenizer, ChatTemplate* chat) {
  if (data.options.format != Format::kChat || !chat) return BuildTask(data, tokenizer, RenderChat(), "");
  const RenderChat render = [chat](const std::vector<ChatMessage>& messages) {
    return chat->Render(messages, true);
  };
  return BuildTask(data, tokenizer, render, chat->sha256());
}

Task BuildTask(const Suite& suite, const TaskOptions& options, const Tokenizer& tokenizer,
               ChatTemplate* chat) {
  return BuildTask(LoadTaskData(suite, options), tokenizer, chat);
}

}  // namespace fullband
