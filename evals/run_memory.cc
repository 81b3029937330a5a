#include "evals/run_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
    while (engine_.pending() >= engine_.enough()) engine_.Next();
    request.id = next_id_++;
    engine_.Submit(std::move(request));
  }
  void Finish() {
    while (engine_.Next()) {
    }
  }

 private:
  Engine& engine_;
  uint64_t next_id_ = 0;
};

void AskTask(const Task& task, const Setting& setting, const Plan& plan, Engine* engine) {
  Asker asker(*engine);
  for (const Question& question : task.questions) {
    if (!question.fault.empty()) continue;
    if (task.suite.ask == Ask::kChoose) {
      for (ScoreRequest& request : RequestsOf(question, setting)) asker.Ask(std::move(request));
      continue;
    }
    for (int sample = 0; sample < plan.samples; ++sample) {
      GenerateRequest request = RequestOf(task, question, setting, plan.sampling, sample);
      request.stop_strings.clear();
      asker.Ask(std::move(request));
    }
  }
  asker.Finish();
}

RunMemory MemoryOf(const DryRun& dry, int batch) {
  RunMemory memory;
  memory.batch = batch;
  memory.engine = dry.Memory();
  memory.program = ProgramBytes(memory.engine.mapped);
  return memory;
}

}  // namespace

RunMemory PlanRunMemory(const Plan& plan, const std::shared_ptr<const Model>& model,
                        const EngineOptions& options, int batch) {
  const PlannedModel& planned = plan.models.front();
  const std::shared_ptr<const Tokenizer> tokenizer = Tokenizer::Load(planned.folder);
  std::vector<Task> tasks;
  for (TaskData data : plan.suites) {
    data.options.max_context = model->config.max_positions;
    tasks.push_back(BuildTask(data, *tokenizer, planned.chat.get()));
  }
  DryRun dry(model, tokenizer, options, batch);
  for (const Task& task : tasks)
    for (const Setting& setting : plan.settings) AskTask(task, setting, plan, &dry.engine());
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
