#include "evals/run_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/memory.h"
#include "evals/requests.h"

namespace fullband {
namespace {

// What a run has beside what this process has by now: the store's cache, the graders' and the kernels'
// threads, the samples on their way.
constexpr int64_t kRunsOwn = int64_t{4} << 20;

// Resident bytes of this process without the pages of mapped files other than the program's own.
int64_t ProgramBytes(int64_t mapped) {
  ReleaseFreedMemory();
  return std::max<int64_t>(ResidentBytes() - mapped, 0) + kRunsOwn;
}

// Hands the engine requests as a run does, as many as it wants at a time.
class Asker {
 public:
  explicit Asker(Engine& engine) : engine_(engine) {}
  template <class Request>
  void Ask(Request request) {
    while (engine_.pending() >= engine_.enough()) Next();
    request.id = next_id_++;
    engine_.Submit(std::move(request));
  }
  void Finish() {
    while (Next()) {
    }
  }
  const Cost& cost() const { return cost_; }

 private:
  bool Next() {
    const std::optional<Answer> answer = engine_.Next();
    if (!answer) return false;
    cost_.prefill_forwards += answer->cost.prefill_forwards;
    cost_.decode_forwards += answer->cost.decode_forwards;
    return true;
  }

  Engine& engine_;
  uint64_t next_id_ = 0;
  Cost cost_;  // of what was answered
};

void AskSample(const SweepRun& run, const Wanted& wanted, Asker* asker) {
  const Question& question = run.task->questions[wanted.question];
  if (!question.fault.empty()) return;
  if (run.task->suite.ask == Ask::kChoose) {
    for (ScoreRequest& request : RequestsOf(question, run.setting)) asker->Ask(std::move(request));
    return;
  }
  GenerateRequest request = RequestOf(*run.task, question, run.setting, run.plan->sampling, wanted.sample);
  request.stop_strings.clear();
  asker->Ask(std::move(request));
}

std::vector<Wanted> AllOf(const SweepRun& run) {
  std::vector<Wanted> all;
  for (size_t question = 0; question < run.task->questions.size(); ++question)
    for (int sample = 0; sample < run.samples; ++sample) all.push_back({question, sample});
  return all;
}

}  // namespace

RunMemory MemoryOf(const DryRun& dry, int batch) {
  RunMemory memory;
  memory.batch = batch;
  memory.engine = dry.Memory();
  memory.program = ProgramBytes(memory.engine.mapped);
  return memory;
}

int64_t AskDry(const SweepRun& run, std::span<const Wanted> wanted, Engine* engine) {
  Asker asker(*engine);
  for (const Wanted& one : wanted) {
    try {
      AskSample(run, one, &asker);
    } catch (const Error&) {  // a run makes it a fault of this item
    }
  }
  asker.Finish();
  const bool generates = run.task->suite.ask == Ask::kGenerate;
  return asker.cost().prefill_forwards + (generates ? 0 : asker.cost().decode_forwards);
}

RunMemory PlanRunMemory(const Plan& plan, const std::shared_ptr<const Model>& model,
                        const EngineOptions& options, int batch) {
  const std::shared_ptr<const Tokenizer> tokenizer = Tokenizer::Load(model->folder);
  DryRun dry(model, tokenizer, options, batch);
  const std::vector<SweepModel> models = ModelsOf({&plan, 1});
  const SweepRuns runs =
      RunsOf(models.front(), IdentifyModel(dry.engine(), ""), *tokenizer, model->config.max_positions);
  for (const SweepRun& run : runs.runs) AskDry(run, AllOf(run), &dry.engine());
  return MemoryOf(dry, options.batch > 0 ? options.batch : batch);
}

RunMemory PlanContextMemory(const std::shared_ptr<const Model>& model, const std::vector<Setting>& settings,
                            int context, const EngineOptions& options, int batch) {
  const int in_flight = options.batch > 0 ? options.batch : batch;
  DryRun dry(model, nullptr, options, batch);
  const int vocab_size = model->config.vocab_size;
  const int prompt = (context + 1) / 2, rest = std::max(context - prompt, 1);
  for (const Setting& setting : settings) {
    Asker asker(dry.engine());
    for (int i = 0; i < in_flight; ++i) {
      std::vector<int32_t> tokens;  // no two share a beginning
      for (int t = 0; t < prompt; ++t) tokens.push_back((t == 0 ? i : t) % vocab_size);
      if (setting.mode == Mode::kParallel) {
        ScoreRequest request;
        request.context = std::move(tokens);
        request.continuation.resize(static_cast<size_t>(rest));
        request.setting = setting;
        asker.Ask(std::move(request));
      } else {
        GenerateRequest request;
        request.prompt = std::move(tokens);
        request.setting = setting;
        request.max_new_tokens = rest;
        asker.Ask(std::move(request));
      }
    }
    asker.Finish();
  }
  return MemoryOf(dry, in_flight);
}

}  // namespace fullband
