#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <utility>

#include "common/error.h"
#include "common/memory.h"
#include "engine/decode/scheduler.h"

namespace fullband {
namespace {

// Half of the memory that the system says is available: the other half is for states, results and the rest of
// the machine.
int64_t DefaultKvMemory() {
  constexpr int64_t kFallback = int64_t{1} << 30;
  const int64_t available = AvailableBytes();
  return available > 0 ? available / 2 : kFallback;
}

void CheckOptions(const EngineOptions& options) {
  if (options.device != "cpu")
    throw UsageError("device '" + options.device + "'", "this build has the device cpu only",
                     "use --device cpu");
  if (options.batch < 0) throw UsageError("--batch", "must not be negative", "0 is auto");
  if (options.chunk < 1) throw UsageError("--chunk", "must be at least 1");
  if (options.threads < 0)
    throw UsageError("--threads", "must not be negative", "0 takes as many as there are");
  // Beyond what threads a system gives, OpenMP ends the process instead of failing.
  constexpr int kMaxThreads = 1024;
  if (options.threads > kMaxThreads)
    throw UsageError("--threads",
                     "is " + std::to_string(options.threads) + ", more than " + std::to_string(kMaxThreads),
                     "0 takes as many as there are");
  KvDtypeNamed(options.kv_dtype);
  if (options.kv_memory < 0) throw UsageError("key/value memory", "must not be negative");
  if (options.prefix_cache < EngineOptions::kAuto) throw UsageError("--prefix-cache", "must not be negative");
}

SchedulerOptions PlanMemory(const EngineOptions& options) {
  // For beginnings kept for later prompts: a suite's shots and the prompts in flight fit many times.
  constexpr int64_t kPrefixBytes = int64_t{1} << 30;
  SchedulerOptions plan{.batch = options.batch, .chunk = options.chunk};
  plan.kv_memory = options.kv_memory > 0 ? options.kv_memory : DefaultKvMemory();
  plan.prefix_cache = options.prefix_cache == EngineOptions::kAuto
                          ? std::min(kPrefixBytes, plan.kv_memory / 2)
                          : options.prefix_cache;
  return plan;
}

std::vector<int32_t> EndTokens(const ModelConfig& config, const Tokenizer* tokenizer) {
  std::vector<int32_t> tokens = config.end_tokens;
  if (tokenizer != nullptr && tokenizer->eos()) tokens.push_back(*tokenizer->eos());
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

}  // namespace

const char* StopReasonName(StopReason reason) {
  switch (reason) {
    case StopReason::kEnd:
      return "end";
    case StopReason::kStopString:
      return "stop_string";
    case StopReason::kLength:
      return "length";
    case StopReason::kContext:
      return "context";
  }
  return "";
}

struct Engine::Impl {
  Impl(std::shared_ptr<const Model> its_model, std::unique_ptr<Backend> its_backend,
       std::shared_ptr<const Tokenizer> its_tokenizer, const EngineOptions& options)
      : model(std::move(its_model)),
        backend(std::move(its_backend)),
        tokenizer(std::move(its_tokenizer)),
        end_tokens(EndTokens(backend->config(), tokenizer.get())),
        scheduler(backend.get(), PlanMemory(options)) {
    CheckOptions(options);
  }

  void CheckTokens(const std::vector<int32_t>& tokens, const char* what) const;
  void CheckGenerate(const GenerateRequest& request) const;
  void CheckScore(const ScoreRequest& request) const;
  void CheckText(const PassText& text) const;

  std::shared_ptr<const Model> model;
  std::unique_ptr<Backend> backend;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<int32_t> end_tokens;
  Scheduler scheduler;
};

void Engine::Impl::CheckTokens(const std::vector<int32_t>& tokens, const char* what) const {
  const int vocab_size = backend->config().vocab_size;
  for (int32_t token : tokens)
    if (token < 0 || token >= vocab_size)
      throw UsageError(std::string(what) + ": token " + std::to_string(token),
                       "is not in the model's vocabulary of " + std::to_string(vocab_size));
}

void Engine::Impl::CheckGenerate(const GenerateRequest& request) const {
  CheckSetting(request.setting, backend->config().fusion);
  if (request.setting.mode == Mode::kParallel)
    throw UsageError("setting '" + request.setting.Name() + "'", "is for scoring only",
                     "decode with standard or latent, with as many prefill passes as you like");
  if (request.prompt.empty())
    throw UsageError("prompt", "is empty, so there is no state to decode from",
                     "give at least the BOS token");
  CheckTokens(request.prompt, "prompt");
  const size_t most = static_cast<size_t>(backend->config().max_positions);
  if (request.prompt.size() > most)
    throw Error("prompt",
                "has " + std::to_string(request.prompt.size()) + " tokens; the model's context has " +
                    std::to_string(most),
                "use fewer shots or a shorter prompt");
  if (request.max_new_tokens < 0) throw UsageError("--max-new", "must not be negative");
  if (request.top < 0) throw UsageError("--top", "must not be negative");
  const Sampling& sampling = request.sampling;
  if (!(sampling.temperature >= 0) || !std::isfinite(sampling.temperature))
    throw UsageError("--temperature", "must be a number from 0 on", "0 is greedy");
  if (!(sampling.top_p > 0 && sampling.top_p <= 1))
    throw UsageError("--top-p", "must be above 0 and at most 1");
  if (sampling.top_k < 0) throw UsageError("--top-k", "must not be negative", "0 keeps all tokens");
  if (!request.stop_strings.empty() && !tokenizer)
    throw UsageError("--stop", "needs a tokenizer, and the model has none", "leave the stop strings out");
  for (const std::string& stop : request.stop_strings)
    if (stop.empty()) throw UsageError("--stop", "is empty", "every text holds the empty string");
}

void Engine::Impl::CheckScore(const ScoreRequest& request) const {
  CheckSetting(request.setting, backend->config().fusion);
  if (request.context.empty())
    throw UsageError("context", "is empty, so there is no state to score from",
                     "give at least the BOS token");
  if (request.continuation.empty()) throw UsageError("continuation", "is empty: there is nothing to score");
  CheckTokens(request.context, "context");
  CheckTokens(request.continuation, "continuation");
  // The last token is asked about, not run.
  const size_t run = request.context.size() + request.continuation.size() - 1;
  const size_t most = static_cast<size_t>(backend->config().max_positions);
  if (run > most)
    throw Error("context and continuation",
                "take " + std::to_string(run) + " positions; the model's context has " + std::to_string(most),
                "use fewer shots or shorter texts");
}

void Engine::Impl::CheckText(const PassText& text) const {
  const size_t most = static_cast<size_t>(backend->config().max_positions);
  if (text.tokens.size() < 2)
    throw Error(text.name,
                fmt::format("has {} tokens, so no token that could be predicted", text.tokens.size()),
                "give a longer text");
  if (text.tokens.size() > most)
    throw Error(text.name, fmt::format("has {} tokens; the model's context has {}", text.tokens.size(), most),
                "use fewer shots or shorter texts");
  CheckTokens(text.tokens, text.name.c_str());
}

Engine::Engine(const std::filesystem::path& folder, const EngineOptions& options) {
  CheckOptions(options);
  // Reading the tokenizer takes one thread about as long as weights take all: side by side. Where both are at
  // fault, the weights' error is the one that is told.
  auto tokenizer = std::async(std::launch::async, [&folder]() -> std::shared_ptr<const Tokenizer> {
    return Tokenizer::Exists(folder) ? Tokenizer::Load(folder) : nullptr;
  });
  std::shared_ptr<const Model> model = LoadModel(folder);
  std::unique_ptr<Backend> backend = MakeCpuBackend(
      model,
      {.threads = options.threads, .target = options.target, .kv_dtype = KvDtypeNamed(options.kv_dtype)});
  impl_ = std::make_unique<Impl>(std::move(model), std::move(backend), tokenizer.get(), options);
  ReleaseFreedMemory();
}

Engine::Engine(std::unique_ptr<Backend> backend, std::shared_ptr<const Tokenizer> tokenizer,
               const EngineOptions& options)
    : impl_(std::make_unique<Impl>(nullptr, std::move(backend), std::move(tokenizer), options)) {}

Engine::~Engine() = default;

void Engine::Submit(GenerateRequest request) {
  impl_->CheckGenerate(request);
  const GenerateLimits limits{&impl_->end_tokens, impl_->tokenizer.get(), max_context()};
  impl_->scheduler.Add(MakeSequence(std::move(request), limits, impl_->scheduler.memory()));
}

void Engine::Submit(ScoreRequest request) {
  impl_->CheckScore(request);
  impl_->scheduler.Add(MakeSequence(std::move(request), impl_->scheduler.memory()));
}

std::optional<Answer> Engine::Next(const std::atomic<bool>* stop) { return impl_->scheduler.Next(stop); }
size_t Engine::pending() const { return impl_->scheduler.pending(); }
size_t Engine::enough() const { return impl_->scheduler.enough(); }

void Engine::RunPasses(std::span<const PassText> texts, int passes, Control control,
                       const PassListener& listener) {
  Setting setting;
  setting.mode = Mode::kLatent;
  setting.exact = true;  // what the passes are compared with
  setting.control = control;
  CheckSetting(setting, impl_->backend->config().fusion);
  if (passes < 2)
    throw UsageError("--passes", "must be at least 2", "a pass is compared with the one before it");
  for (const PassText& text : texts) impl_->CheckText(text);
  const SchedulerOptions& options = impl_->scheduler.options();
  fullband::RunPasses(impl_->backend.get(), impl_->scheduler.memory().places, texts,
                      {.passes = passes,
                       .control = control,
                       .batch = options.batch > 0 ? options.batch : BatchSize::kFirst,
                       .chunk = options.chunk,
                       .memory = options.kv_memory},
                      listener);
}

const ModelConfig& Engine::config() const { return impl_->backend->config(); }
const BackendInfo& Engine::backend_info() const { return impl_->backend->info(); }
const std::shared_ptr<const Tokenizer>& Engine::tokenizer() const { return impl_->tokenizer; }
const std::shared_ptr<const Model>& Engine::model() const { return impl_->model; }
int Engine::max_context() const { return impl_->backend->config().max_positions; }
const std::vector<int32_t>& Engine::end_tokens() const { return impl_->end_tokens; }

}  // namespace fullband
