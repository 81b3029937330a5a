#include "engine/memory_plan.h"

#include <algorithm>

#include "engine/compute/counting_backend.h"
#include "engine/compute/cpu/cpu_info.h"

namespace fullband {
namespace {

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
  const CpuOptions cpu = {
      .threads = options.threads, .target = options.target, .kv_dtype = KvDtypeNamed(options.kv_dtype)};
  const BackendMemory memory = PlanCpuMemory(*model_, cpu, {});
  auto backend = std::make_unique<CountingBackend>(WithAllEndTokens(model_->config, tokenizer.get()),
                                                   CpuInfo(cpu), memory.page, memory.state);
  backend_ = backend.get();
  engine_ = std::make_unique<Engine>(std::move(backend), std::move(tokenizer), options_);
}

DryRun::~DryRun() = default;

EngineMemory DryRun::Memory() const {
  const CpuOptions cpu = {
      .threads = options_.threads, .target = options_.target, .kv_dtype = KvDtypeNamed(options_.kv_dtype)};
  const BackendMemory memory = PlanCpuMemory(*model_, cpu, backend_->largest());
  return {.mapped = memory.mapped,
          .loading = memory.loading,
          .weights = memory.weights,
          .pages = backend_->bytes_of_pages(),
          .states = backend_->bytes_of_states(),
          .workspace = memory.workspace};
}

}  // namespace fullband
