#include "evals/contraction_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "common/error.h"
#include "engine/tokenizer/unicode.h"

namespace fullband {
namespace {

// What the tokenizer puts before every text.
std::vector<int32_t> TokensBefore(const Tokenizer& tokenizer) {
  const std::vector<int32_t> whole = tokenizer.Encode("a");
  const std::vector<int32_t> bare = tokenizer.Encode("a", {.add_special_tokens = false});
  return {whole.begin(), std::search(whole.begin(), whole.end(), bare.begin(), bare.end())};
}

// The prompt as it is asked and the answer's tokens as they go on from it. Where a token of the joint
// encoding spans the join, the answer is encoded alone: the prompt's tokens are what the model is given.
std::vector<int32_t> WithAnswer(const Tokenizer& tokenizer, const Question& question,
                                const std::string& answer) {
  const std::vector<int32_t> joint =
      tokenizer.Encode(question.prompt_text + answer, {.split_special_tokens = true});
  if (joint.size() > question.prompt.size() &&
      std::equal(question.prompt.begin(), question.prompt.end(), joint.begin()))
    return joint;
  std::vector<int32_t> tokens = question.prompt;
  const std::vector<int32_t> alone =
      tokenizer.Encode(answer, {.add_special_tokens = false, .split_special_tokens = true});
  tokens.insert(tokens.end(), alone.begin(), alone.end());
  return tokens;
}

}  // namespace

std::string ReadTextFile(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file))
    throw UsageError(file.string(), "does not exist", "give a text file with --text");
  if (std::filesystem::is_directory(file)) throw Error(file.string(), "is a folder", "give a text file");
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream || stream.bad()) throw Error(file.string(), "cannot be read", "check its permissions");
  if (text.empty()) throw Error(file.string(), "is empty", "give a file with some text");
  const size_t bad = FirstInvalidByte(text);
  if (bad != std::string::npos)
    throw Error(
        file.string(),
        fmt::format("is not UTF-8: byte 0x{:02X} at offset {}", static_cast<unsigned char>(text[bad]), bad),
        "write it in UTF-8");
  return text;
}

ContractionInput CutText(const std::string& name, const std::string& text, const Tokenizer& tokenizer,
                         size_t window, int passes, size_t limit) {
  const std::vector<int32_t> before = TokensBefore(tokenizer);
  const auto least = static_cast<size_t>(passes) + 1;
  if (window < least || window <= before.size())
    throw UsageError("--window", fmt::format("{} tokens are no more than the {} passes", window, passes),
                     "as many passes as tokens are the recurrence, whatever the map; use a longer window");
  const std::vector<int32_t> tokens =
      tokenizer.Encode(text, {.add_special_tokens = false, .split_special_tokens = true});
  const size_t room = window - before.size();
  ContractionInput input;
  for (size_t begin = 0; begin < tokens.size() && (limit == 0 || input.texts.size() < limit); begin += room) {
    const size_t count = std::min(room, tokens.size() - begin);
    if (before.size() + count < least) {
      input.tokens_left_out = count;
      break;
    }
    PassText cut{fmt::format("{}, window {}", name, input.texts.size() + 1), before};
    cut.tokens.insert(cut.tokens.end(), tokens.begin() + static_cast<ptrdiff_t>(begin),
                      tokens.begin() + static_cast<ptrdiff_t>(begin + count));
    input.texts.push_back(std::move(cut));
  }
  if (input.texts.empty())
    throw UsageError(name,
                     fmt::format("has {} tokens; {} passes need more than {}", tokens.size() + before.size(),
                                 passes, passes),
                     "give a longer text or fewer --passes");
  return input;
}

ContractionInput SuiteTexts(const TaskData& data, const Tokenizer& tokenizer, int passes) {
  if (data.options.format != Format::kCompletion)
    throw std::logic_error("only completion format is read here");
  const Task task = BuildTask(data, tokenizer, nullptr);
  ContractionInput input;
  size_t longest = 0;
  const std::vector<size_t> rows = AskedRows(data);
  for (size_t i = 0; i < task.questions.size(); ++i) {
    const Question& question = task.questions[i];
    PassText text{fmt::format("{}, item {}", data.suite.name, question.item), {}};
    if (!question.fault.empty())
      throw Error(text.name, question.fault, "use a longer context or other items");
    size_t answer_from = question.prompt.size();
    if (data.suite.ask == Ask::kChoose) {
      const Choice& gold = question.choices.at(static_cast<size_t>(question.gold_choice));
      answer_from = gold.context.size();
      text.tokens = gold.context;
      text.tokens.insert(text.tokens.end(), gold.continuation.begin(), gold.continuation.end());
    } else {
      text.tokens = WithAnswer(tokenizer, question, ShotAnswer(data, data.items[rows[i]]));
    }
    if (answer_from == text.tokens.size()) throw Error(text.name, "its reference answer has no tokens");
    if (data.options.max_context > 0 && text.tokens.size() > static_cast<size_t>(data.options.max_context))
      throw Error(text.name,
                  fmt::format("has {} tokens with its answer; the model's context has {}", text.tokens.size(),
                              data.options.max_context),
                  "use fewer --shots, or --limit to stop before it");
    longest = std::max(longest, text.tokens.size());
    input.items_with_fewer_shots += question.shots_dropped > 0;
    input.answer_from.push_back(answer_from);
    input.texts.push_back(std::move(text));
  }
  if (longest <= static_cast<size_t>(passes))
    throw UsageError(
        "--passes", fmt::format("{} are no fewer than the tokens of the longest item ({})", passes, longest),
        "as many passes as tokens are the recurrence, whatever the map; use fewer, or more --shots");
  return input;
}

}  // namespace fullband
