// `fullband score`: the log-probabilities of one continuation under one setting.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/engine_options.h"
#include "tasks/pair.h"

namespace fullband {
namespace {

using Json = nlohmann::ordered_json;

struct ScoreOptions {
  std::filesystem::path model;
  std::string context, continuation, context_tokens, continuation_tokens, setting;
  bool has_tokens = false;
  bool json = false;
  EngineOptions engine;
};

TokenPair ReadPair(const ScoreOptions& options, const Engine& engine) {
  if (options.has_tokens) {
    TokenPair pair;
    if (!options.context_tokens.empty())
      pair.context = ParseTokens("--context-tokens", options.context_tokens);
    if (!options.continuation_tokens.empty())
      pair.continuation = ParseTokens("--continuation-tokens", options.continuation_tokens);
    return pair;
  }
  if (options.context.empty())
    throw UsageError("--context", "is empty, so there is no state to score from",
                     "give some text before the continuation");
  const Tokenizer& tokenizer = TokenizerOf(engine, "--context-tokens and --continuation-tokens");
  TokenPair pair = EncodePair(tokenizer, options.context, options.continuation, {});
  CheckSeen(tokenizer, "--context", options.context);
  CheckSeen(tokenizer, "--continuation", options.continuation);
  return pair;
}

double Sum(const std::vector<float>& values) {
  double sum = 0;
  for (float value : values) sum += value;
  return sum;
}

void Print(const ScoreOptions& options, const TokenPair& pair, const Answer& answer) {
  if (options.json) {
    const Json object = {{"logprobs", answer.logprobs},
                         {"sum", Sum(answer.logprobs)},
                         {"greedy", answer.greedy},
                         {"continuation_tokens", pair.continuation},
                         {"boundary_merge", pair.boundary_merge}};
    fmt::print("{}\n", object.dump());
    return;
  }
  for (size_t i = 0; i < answer.logprobs.size(); ++i)
    fmt::print("{:>8} {:>12.6f}{}\n", pair.continuation[i], answer.logprobs[i],
               answer.greedy[i] ? "  greedy" : "");
  fmt::print("-- {} tokens, sum {:.6f}{}\n", answer.logprobs.size(), Sum(answer.logprobs),
             pair.boundary_merge ? "; a token spans the join of context and continuation" : "");
}

ExitCode Score(const ScoreOptions& options) {
  ScoreRequest request;
  request.setting = Setting::Parse(options.setting);
  Engine engine(options.model, options.engine);
  const TokenPair pair = ReadPair(options, engine);
  request.context = pair.context;
  request.continuation = pair.continuation;
  engine.Submit(request);
  const std::optional<Answer> answer = engine.Next();
  if (!answer->fault.empty())
    throw Error(options.model.string(), answer->fault, "the weights give no valid result for this text");
  Print(options, pair, *answer);
  return ExitCode::kDone;
}

}  // namespace

void AddScore(CLI::App& app, Action* action) {
  auto options = std::make_shared<ScoreOptions>();
  CLI::App* command = app.add_subcommand("score", "Log-probabilities of one continuation under one setting");
  AddModelOption(*command, &options->model);
  CLI::Option* context = command->add_option("--context", options->context, "what comes before, as text");
  CLI::Option* continuation =
      command->add_option("--continuation", options->continuation, "what is scored, as text");
  CLI::Option* context_tokens =
      command->add_option("--context-tokens", options->context_tokens, "what comes before, as token ids");
  CLI::Option* continuation_tokens = command->add_option(
      "--continuation-tokens", options->continuation_tokens, "what is scored, as token ids");
  for (CLI::Option* text : {context, continuation}) text->type_name("TEXT");
  for (CLI::Option* ids : {context_tokens, continuation_tokens})
    ids->type_name("IDS")->excludes(context)->excludes(continuation);
  AddSettingOption(*command, &options->setting);
  AddEngineOptions(*command, &options->engine);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([=] {
    const bool text = context->count() > 0 && continuation->count() > 0;
    options->has_tokens = context_tokens->count() > 0 && continuation_tokens->count() > 0;
    if (!text && !options->has_tokens)
      throw UsageError("score", "needs what comes before and what is scored",
                       "give --context and --continuation, or --context-tokens and --continuation-tokens");
    *action = [options] { return Score(*options); };
  });
}

}  // namespace fullband
