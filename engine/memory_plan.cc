#include "engine/memory_plan.h"

#include <algorithm>

#include "engine/compute/counting_backend.h"

namespace fullband {
namespace {

// Bytes of the tensors as they are stored: about what the files have.
int64_t MappedBytes(const Weights& w) {
  const auto bytes = [](const Tensor& tensor) {
    return tensor ? tensor.size() * static_cast<int64_t>(DTypeSize(tensor.dtype)) : 0;
  };
  int64_t sum = bytes(w.embedding) + bytes(w.final_norm) + bytes(w.state_proj) + bytes(w.token_gate);
  if (w.head.data != w.embedding.data) sum += bytes(w.head);
  for (const LayerWeights& layer : w.layers)
    for (const Tensor* tensor : {&layer.q, &layer.k, &layer.v, &layer.o, &layer.gate, &layer.up, &layer.down})
      sum += bytes(*tensor);
  return sum;
}

// Traces are to become as long as they may: the engine ends them at the tokenizer's end marker, too.
ModelConfig WithAllEndTokens(ModelConfig config, const Tokenizer* tokenizer) {
  if (tokenizer != nullptr && tokenizer->eos()) config.end_tokens.push_back(*tokenizer->eos());
  return config;
}

}  // namespace

DryRun::DryRun(std::shared_ptr<const Model> model, std::shared_ptr<const Tokenizer> tokenizer,
               const EngineOptions& options, int batch)
    : model_(std::move(model)), options_(options) {
  if (options_.batch == 0) options_.batch = batch;
  const CpuOptions cpu = {.threads = options.threads, .target = options.target};
  const BackendMemory memory = PlanCpuMemory(*model_, cpu, {});
  auto backend = std::make_unique<CountingBackend>(
      WithAllEndTokens(model_->config, tokenizer.get()),
      BackendInfo{.device = "none", .target = "none", .numerics = "none", .page_size = CpuPageSize()},
      memory.page, memory.state);
  backend_ = backend.get();
  engine_ = std::make_unique<Engine>(std::move(backend), std::move(tokenizer), options_);
}

DryRun::~DryRun() = default;

EngineMemory DryRun::Memory() const {
  const CpuOptions cpu = {.threads = options_.threads, .target = options_.target};
  const BackendMemory memory = PlanCpuMemory(*model_, cpu, backend_->largest());
  return {.mapped = MappedBytes(model_->weights),
          .weights = memory.weights,
          .pages = memory.page * backend_->pages(),
          .states = memory.state * backend_->states(),
          .workspace = memory.workspace};
}

}  // namespace fullband
