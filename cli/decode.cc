// `fullband decode`: one prompt under one setting.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/engine_options.h"

namespace fullband {
namespace {

using Json = nlohmann::ordered_json;

struct DecodeOptions {
  std::filesystem::path model;
  std::string prompt, tokens, setting;
  bool has_tokens = false;
  int max_new = 0;
  int top = 0;
  bool json = false;
  std::vector<std::string> stop_strings;
  Sampling sampling;
  EngineOptions engine;
};

Json TopOf(const GeneratedToken& token, int top) {
  Json list = Json::array();
  for (int i = 0; i < top && i < static_cast<int>(token.top.size()); ++i)
    list.push_back({token.top[i].token, token.top[i].logprob});
  return list;
}

Json ToJson(const DecodeOptions& options, const GenerateRequest& request, const Answer& answer,
            bool has_text) {
  Json ids = Json::array(), logprobs = Json::array(), top = Json::array();
  for (const GeneratedToken& token : answer.tokens) {
    ids.push_back(token.id);
    logprobs.push_back(token.logprob);
    top.push_back(TopOf(token, options.top));
  }
  Json object = {{"prompt_tokens", request.prompt},
                 {"tokens", ids},
                 {"text", has_text ? Json(answer.text) : Json(nullptr)},
                 {"stop_reason", StopReasonName(answer.stop_reason)},
                 {"logprobs", logprobs},
                 {"setting", request.setting.Name()}};
  if (options.top > 0) object["top"] = top;
  return object;
}

void PrintReadably(const DecodeOptions& options, const Answer& answer, bool has_text) {
  if (has_text) fmt::print("{}\n", answer.text);
  if (!has_text || options.top > 0) {
    for (const GeneratedToken& token : answer.tokens) {
      fmt::print("{:>8} {:>12.6f}", token.id, token.logprob);
      for (int i = 0; i < options.top && i < static_cast<int>(token.top.size()); ++i)
        fmt::print("  {}:{:.4f}", token.top[i].token, token.top[i].logprob);
      fmt::print("\n");
    }
  }
  fmt::print(
      "-- {} tokens ({} of text), stopped by {}; {} + {} forward positions; prefill {:.3f} s, decode {:.3f} "
      "s\n",
      answer.tokens.size(), answer.trace_tokens, StopReasonName(answer.stop_reason),
      answer.cost.prefill_forwards, answer.cost.decode_forwards, answer.cost.prefill_seconds,
      answer.cost.decode_seconds);
}

ExitCode Decode(const DecodeOptions& options) {
  GenerateRequest request;
  request.setting = Setting::Parse(options.setting);
  if (options.has_tokens) request.prompt = ParseTokens("--tokens", options.tokens);
  Engine engine(options.model, options.engine);
  if (!options.has_tokens) {
    const Tokenizer& tokenizer = TokenizerOf(engine, "--tokens");
    request.prompt = tokenizer.Encode(options.prompt);
    CheckSeen(tokenizer, "--prompt", options.prompt);
  }
  request.sampling = options.sampling;
  request.max_new_tokens = options.max_new;
  request.stop_strings = options.stop_strings;
  // The engine keeps the lists only where more than its default of two is asked for.
  request.top = options.top > 0 ? std::max(options.top, 3) : 2;
  engine.Submit(request);
  const std::optional<Answer> answer = engine.Next();
  if (!answer->fault.empty())
    throw Error(options.model.string(), answer->fault, "the weights give no valid result for this prompt");
  const bool has_text = engine.tokenizer() != nullptr;
  if (options.json) {
    fmt::print("{}\n", ToJson(options, request, *answer, has_text).dump());
  } else {
    PrintReadably(options, *answer, has_text);
  }
  return ExitCode::kDone;
}

}  // namespace

void AddDecode(CLI::App& app, Action* action) {
  auto options = std::make_shared<DecodeOptions>();
  CLI::App* command = app.add_subcommand("decode", "Continue one prompt under one setting");
  AddModelOption(*command, &options->model);
  CLI::Option_group* prompt = command->add_option_group("prompt");
  prompt->add_option("--prompt", options->prompt, "the prompt as text")->type_name("TEXT");
  CLI::Option* tokens =
      prompt->add_option("--tokens", options->tokens, "the prompt as token ids, e.g. 1,2,3");
  tokens->type_name("IDS");
  prompt->require_option(1);
  AddSettingOption(*command, &options->setting);
  command->add_option("--max-new", options->max_new, "tokens to generate at most")
      ->required()
      ->check(WholeNumber(0))
      ->type_name("N");
  command->add_option("--top", options->top, "list the N best tokens of every step")
      ->check(WholeNumber(0))
      ->type_name("N");
  AddStopOption(*command, &options->stop_strings);
  AddSamplingOptions(*command, &options->sampling);
  AddEngineOptions(*command, &options->engine);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, action, tokens] {
    options->has_tokens = tokens->count() > 0;
    *action = [options] { return Decode(*options); };
  });
}

}  // namespace fullband
