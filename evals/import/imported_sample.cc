#include "evals/import/imported_sample.h"

#include <fmt/format.h>

#include "common/error.h"
#include "engine/decode/generated_text.h"
#include "evals/import/kept_text.h"
#include "tasks/pair.h"

namespace fullband {
namespace {

std::string Trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

GeneratedText TextOf(const ImportedLine& line, const Tokenizer& tokenizer,
                     const std::vector<std::string>& stop_strings) {
  GeneratedText text(&tokenizer, stop_strings);
  for (size_t i = 0; i < line.tokens->size(); ++i) {
    if (line.stop_reason == "end" && i + 1 == line.tokens->size())
      text.PushSilent();
    else
      text.Push((*line.tokens)[i]);
  }
  text.Finish();
  return text;
}

void AddChoices(const ImportedLine& line, const TaskData& data, SampleRecord* sample) {
  const Item& item = data.items[line.row];
  const std::vector<std::string> choices = ChoiceTexts(item), continuations = Continuations(data, item);
  const bool contexts = data.suite.choices == Choices::kContexts;
  for (size_t i = 0; i < line.logprobs.size(); ++i) {
    ChoiceRecord& choice = sample->choices.emplace_back();
    // As for our own (tasks/task.h): what differs, and the lengths that scores are normalised by.
    choice.text = contexts ? choices[i] : continuations[i];
    const std::string measured = contexts ? item.fields.at("continuation").get<std::string>() : choices[i];
    choice.characters = static_cast<int>(CountCharacters(measured));
    choice.bytes = static_cast<int>(measured.size());
    choice.tokens = line.choice_tokens.empty() ? 0 : line.choice_tokens[i];
    choice.logprob = line.logprobs[i];
    choice.greedy = !line.greedy.empty() && line.greedy[i];
    choice.gold = i == GoldChoice(item);
  }
}

}  // namespace

void CheckTokens(const ImportedLine& line, const Tokenizer& tokenizer, const std::filesystem::path& path) {
  const std::string where = fmt::format("{}, line {}", path.string(), line.number);
  for (const int32_t id : *line.tokens)
    if (id >= tokenizer.vocab_size())
      throw Error(
          where, fmt::format("\"tokens\" holds {}, and the tokenizer has {} ids", id, tokenizer.vocab_size()),
          "name the folder of the model's own tokenizer");
  if (!line.completion) return;
  const std::string spelt = TextOf(line, tokenizer, {}).Kept();
  if (Trimmed(spelt).starts_with(Trimmed(*line.completion))) return;  // perhaps cut at a stop string
  throw Error(where, "its \"tokens\" do not spell its \"completion\"",
              "name the folder of the model's own tokenizer, or leave one of the two out");
}

SampleRecord SampleOfLine(const ImportedLine& line, const TaskData& data,
                          const std::vector<std::string>& stop_strings, const Tokenizer* tokenizer) {
  SampleRecord sample;
  sample.sample = line.sample;
  sample.fault = line.fault;
  if (!line.fault.empty()) return sample;
  sample.stop_reason = line.stop_reason;
  sample.prompt_tokens = line.prompt_tokens;
  sample.generated_tokens = line.generated_tokens;
  sample.trace_tokens = line.trace_tokens;
  sample.decode_seconds = line.seconds;
  if (line.tokens) sample.tokens = *line.tokens;
  if (tokenizer && line.tokens) {
    const GeneratedText text = TextOf(line, *tokenizer, stop_strings);
    sample.text = text.Kept();
    sample.text_ends = text.ends();
    sample.trace_tokens = text.KeptTokens();
  } else if (line.completion) {
    sample.text =
        KeptCompletion(data.suite, stop_strings, *line.completion, GoldText(data, data.items[line.row]));
  }
  if (!line.logprobs.empty()) AddChoices(line, data, &sample);
  return sample;
}

}  // namespace fullband
