#include "tasks/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "common/error.h"
#include "tasks/pair.h"

namespace fullband {
namespace {

class Builder {
 public:
  Builder(const TaskData& data, const Tokenizer& tokenizer, const RenderChat& render, int max_new_tokens)
      : data_(data), tokenizer_(tokenizer), render_(render), max_new_tokens_(max_new_tokens) {
    // Text of a data set never becomes a special token. In chat format the template alone decides about BOS.
    encode_.split_special_tokens = !chat();
    encode_.add_special_tokens = !chat();
  }

  Question Build(const Item& item) {
    Question question;
    question.item = item.id;
    question.fields = item.fields;
    question.groups = GroupsText(data_.suite, item);
    question.gold = GoldText(data_, item);
    if (data_.suite.ask == Ask::kChoose) question.gold_choice = static_cast<int>(GoldChoice(item));
    const size_t shots = ShotsOf(data_, item).size();
    for (size_t dropped = 0; dropped <= shots; ++dropped) {
      question.shots_dropped = static_cast<int>(dropped);
      if (Fill(item, shots - dropped, dropped == shots, &question)) break;
    }
    if (question.fault.empty()) question.fault = Unseen(question);
    return question;
  }

 private:
  bool chat() const { return data_.options.format == Format::kChat; }

  // The prompt as the tokenizer takes it: in chat format with guarded contents.
  std::string Prompt(const Item& item, size_t shots, size_t choice) const {
    if (!chat()) return CompletionPrompt(data_, item, shots, choice);
    std::vector<ChatMessage> messages = ChatPrompt(data_, item, shots, choice);
    for (ChatMessage& message : messages) message.content = tokenizer_.Guard(message.content);
    return render_(messages);
  }

  // In completion format: the encoding of what the item's prompts begin with, made once for each part.
  const EncodedPrefix* Shared(const Item& item, size_t shots) {
    if (chat() || shots == 0) return nullptr;
    const auto [found, fresh] = shared_.try_emplace({item.part, shots});
    if (fresh) found->second = tokenizer_.EncodePrefix(ShotsText(data_, item, shots), encode_);
    return &found->second;
  }

  // Fills text and tokens with so many shots. False where they do not fit and fewer shots may.
  bool Fill(const Item& item, size_t shots, bool last, Question* question) {
    const std::string prompt = Prompt(item, shots, 0);
    question->prompt_text = chat() ? Tokenizer::Unguard(prompt) : prompt;
    if (data_.suite.ask == Ask::kChoose) return FillChoices(item, shots, prompt, last, question);
    question->prompt = chat() ? tokenizer_.EncodeGuarded(prompt, encode_)
                              : tokenizer_.EncodePrefix(prompt, encode_, Shared(item, shots)).ids;
    const size_t size = question->prompt.size();
    if (size == 0) question->fault = "the prompt has no tokens";
    if (Fits(size + static_cast<size_t>(max_new_tokens_))) return true;
    if (last && !Fits(size + 1)) question->fault = TooLong(size);
    return last;
  }

  bool FillChoices(const Item& item, size_t shots, const std::string& first_prompt, bool last,
                   Question* question) {
    question->choices.clear();
    const bool contexts = data_.suite.choices == Choices::kContexts;
    size_t longest = 0;
    const std::vector<std::string> texts = ChoiceTexts(item);
    const std::vector<std::string> continuations = Continuations(data_, item);
    const EncodedPrefix* shared = Shared(item, shots);
    std::optional<PairEncoder> encoder;
    for (size_t i = 0; i < continuations.size(); ++i) {
      if (i == 0 || contexts)
        encoder.emplace(tokenizer_, i == 0 ? first_prompt : Prompt(item, shots, i), encode_, chat(), shared);
      const std::string scored = chat() ? tokenizer_.Guard(continuations[i]) : continuations[i];
      TokenPair pair = encoder->Pair(scored);
      if (pair.context.empty()) question->fault = "the context has no tokens";
      if (pair.continuation.empty()) question->fault = fmt::format("choice {} has no tokens", i);
      longest = std::max(longest, pair.context.size() + pair.continuation.size());
      const std::string own = contexts ? item.fields.at("continuation").get<std::string>() : texts[i];
      question->choices.push_back({contexts ? texts[i] : continuations[i], std::move(pair.context),
                                   std::move(pair.continuation), static_cast<int>(CountCharacters(own)),
                                   static_cast<int>(own.size()), pair.boundary_merge});
    }
    if (Fits(longest)) return true;
    if (last) question->fault = TooLong(longest);
    return last;
  }

  // Why the model would not see all of a question's text; empty where it does.
  std::string Unseen(const Question& question) const {
    const auto lost = [&](const std::string& where, const std::string& text) {
      const std::optional<size_t> at = tokenizer_.FirstByteWithoutToken(text);
      if (!at) return std::string();
      return fmt::format("the tokenizer has no token for byte 0x{:02X} at offset {} of {}",
                         static_cast<unsigned char>(text[*at]), *at, where);
    };
    std::string why = lost("the prompt", question.prompt_text);
    for (size_t i = 0; i < question.choices.size() && why.empty(); ++i)
      why = lost(fmt::format("choice {}", i), question.choices[i].text);
    return why;
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
  std::map<std::pair<size_t, size_t>, EncodedPrefix> shared_;  // by part and number of shots
};

std::vector<std::string> StopStrings(const Suite& suite, const TaskOptions& options) {
  if (suite.ask == Ask::kChoose) return {};
  std::vector<std::string> stops = suite.wording(options.format).stop_strings;
  for (const std::string& stop : options.extra_stop_strings)
    if (std::find(stops.begin(), stops.end(), stop) == stops.end()) stops.push_back(stop);
  return stops;
}

}  // namespace

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
  task.shots = options.shots.value_or(data.suite.shots);
  Builder builder(data, tokenizer, render, task.max_new_tokens);
  for (const size_t row : AskedRows(data)) task.questions.push_back(builder.Build(data.items[row]));
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
