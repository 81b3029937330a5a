#include "cli/engine_options.h"

#include <fmt/format.h>

#include <charconv>

#include "common/error.h"
#include "common/memory.h"

namespace fullband {

CLI::Validator WholeNumber(int64_t least) {
  const auto check = [least](const std::string& text) -> std::string {
    uint64_t unsigned_value = 0;  // seeds have 64 bits
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), unsigned_value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (whole && (least <= 0 || unsigned_value >= static_cast<uint64_t>(least))) return "";
    return fmt::format("{} is not a whole number from {} on", text, least);
  };
  return CLI::Validator([check](std::string& text) { return check(text); }, "");
}

namespace {

int ParseBatch(const std::string& text) {
  if (text == "auto") return 0;
  int batch = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), batch);
  if (error == std::errc() && end == text.data() + text.size() && batch > 0) return batch;
  throw CLI::ValidationError("--batch", fmt::format("{} is neither a whole number from 1 on nor auto", text));
}

int64_t ParsePrefixCache(const std::string& text) {
  if (text == "off") return 0;
  if (const std::optional<int64_t> bytes = ParseSize(text)) return *bytes;
  throw CLI::ValidationError(
      "--prefix-cache",
      fmt::format("{} is neither a size such as 64M or 2G (K, M, G: 1024 each) nor off", text));
}

}  // namespace

void AddModelOption(CLI::App& command, std::filesystem::path* folder) {
  command.add_option("--model", *folder, "checkpoint folder")->required()->type_name("DIR");
}

void AddSettingOption(CLI::App& command, std::string* setting) {
  command
      .add_option("--setting", *setting,
                  "standard, latent, parallel (scoring only); with @P or @exact, and a :control")
      ->required()
      ->type_name("NAME");
}

void AddEngineOptions(CLI::App& command, EngineOptions* options) {
  command.add_option("--device", options->device, "where the model runs: cpu")
      ->capture_default_str()
      ->type_name("NAME");
  command.add_option("--threads", options->threads, "threads; 0: as many as the process may use")
      ->check(WholeNumber(0))
      ->capture_default_str()
      ->type_name("N");
  command
      .add_option_function<std::string>(
          "--batch", [options](const std::string& text) { options->batch = ParseBatch(text); },
          "sequences in flight at most; auto: as many as memory allows and speed repays; never changes a "
          "result")
      ->default_str("auto")
      ->type_name("N|auto");
  command.add_option("--chunk", options->chunk, "prompt positions a step at most; never changes a result")
      ->check(WholeNumber(1))
      ->capture_default_str()
      ->type_name("N");
  command
      .add_option_function<std::string>(
          "--prefix-cache",
          [options](const std::string& text) { options->prefix_cache = ParsePrefixCache(text); },
          "memory for beginnings of prompts that are run once for all, e.g. 512M; never changes a result")
      ->default_str("1G")
      ->type_name("SIZE|off");
  command
      .add_option("--target", options->target, "instruction set to use, e.g. AVX2; default: the best here")
      ->type_name("NAME");
  command
      .add_option("--kv-dtype", options->kv_dtype,
                  "what keys and values are kept in: f32, or bf16, which halves their memory and rounds them")
      ->capture_default_str()
      ->type_name("NAME");
}

void AddItemOptions(CLI::App& command, TaskOptions* task) {
  command.add_option("--limit", task->limit, "ask the first N items only")
      ->check(WholeNumber(1))
      ->type_name("N");
  command.add_option("--shots", task->shots, "solved examples in the prompt; default: the suite's")
      ->check(WholeNumber(0))
      ->type_name("N");
  command.add_option("--max-new", task->max_new_tokens, "tokens to generate at most; default: the suite's")
      ->check(WholeNumber(1))
      ->type_name("N");
  command.add_option("--data-dir", task->data_folder, "where the suites' data files are")->type_name("DIR");
}

void AddSamplingOptions(CLI::App& command, Sampling* sampling) {
  command.add_option("--temperature", sampling->temperature, "0 is greedy")
      ->capture_default_str()
      ->type_name("T");
  command.add_option("--top-k", sampling->top_k, "draw from the K best tokens; 0: from all")
      ->check(WholeNumber(0))
      ->capture_default_str()
      ->type_name("K");
  command.add_option("--top-p", sampling->top_p, "draw from the fewest tokens that have this probability")
      ->capture_default_str()
      ->type_name("P");
  command.add_option("--seed", sampling->seed, "seed of the draws")
      ->check(WholeNumber(0))
      ->capture_default_str()
      ->type_name("S");
}

void AddStopOption(CLI::App& command, std::vector<std::string>* stop_strings) {
  // One text an option: a stop string may hold anything, commas included.
  command.add_option("--stop", *stop_strings, "end the trace at this text; may be given several times")
      ->type_name("TEXT")
      ->allow_extra_args(false);
}

std::vector<int32_t> ParseTokens(const std::string& option, const std::string& text) {
  std::vector<int32_t> tokens;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int32_t token = 0;
    const auto [next, error] = std::from_chars(at, end, token);
    if (error != std::errc() || token < 0 || (next != end && *next != ','))
      throw UsageError(option, "'" + text + "' is not a list of token ids",
                       "write ids with commas, e.g. 1,2,3");
    tokens.push_back(token);
    if (next == end) return tokens;
    at = next + 1;
  }
}

const Tokenizer& TokenizerOf(const Engine& engine, const std::string& tokens_option) {
  if (!engine.tokenizer())
    throw UsageError("tokenizer.json", "is not in the model's folder, so text cannot be read",
                     "give token ids with " + tokens_option);
  return *engine.tokenizer();
}

void CheckSeen(const Tokenizer& tokenizer, const std::string& option, const std::string& text) {
  if (const auto at = tokenizer.FirstByteWithoutToken(text))
    throw Error(option,
                fmt::format("the tokenizer has no token for byte 0x{:02X} at offset {}",
                            static_cast<unsigned char>(text[*at]), *at),
                "leave the character out; the model would not see it");
}

}  // namespace fullband
