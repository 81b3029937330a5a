// `fullband bench`: how fast a model runs here, and how near that is to what the machine can do.
#include "bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "bench/machine.h"
#include "bench/random_weights.h"
#include "bench/report.h"
#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/stop_signals.h"
#include "common/memory.h"
#include "engine/compute/cpu/kernels.h"
#include "evals/machine.h"
#include "tasks/groups.h"

namespace fullband {
namespace {

struct BenchOptions {
  std::filesystem::path model;
  std::string random_model;
  std::optional<uint64_t> random_feedback;
  BenchRequest request;
  std::vector<std::string> suites;
  std::vector<size_t> limits;
  TaskOptions task;
  EngineOptions engine;
  bool no_steps = false, profile = false, json = false, quiet = false;
};

constexpr uint64_t kRandomModelSeed = 1;

// Its config alone, so that what cannot be measured is said before weights are read or drawn.
ModelConfig ConfigOf(const BenchOptions& options) {
  if (options.model.empty() == options.random_model.empty())
    throw UsageError("bench", "needs one model", "give --model DIR, or --random-model SHAPE");
  ModelConfig config;
  if (options.random_model.empty()) {
    CheckModelFolder(options.model);
    config = ReadModelConfig(options.model);
  } else {
    config = RandomShape::Parse(options.random_model).config;
  }
  if (!options.random_feedback) return config;
  if (config.fusion != Fusion::kNone)
    throw UsageError("--random-feedback", "this model has latent feedback of its own",
                     "leave the option out");
  config.fusion = Fusion::kGlu;
  return config;
}

std::shared_ptr<const Model> ModelOf(const BenchOptions& options) {
  std::shared_ptr<const Model> model =
      options.random_model.empty() ? LoadModel(options.model)
                                   : DrawModel(RandomShape::Parse(options.random_model), kRandomModelSeed);
  return options.random_feedback ? WithRandomFeedback(std::move(model), *options.random_feedback) : model;
}

SuiteWork SuitesOf(const BenchOptions& options) {
  SuiteWork work;
  work.limits = options.limits;
  work.engine = options.engine;
  if (options.suites.empty()) return work;
  if (options.model.empty())
    throw UsageError("--suite", "a random model has no tokenizer, and suites are text", "give --model DIR");
  for (const std::string& name : ExpandGroups(options.suites))
    work.suites.push_back(LoadTaskData(LoadSuite(name), options.task));
  if (!Tokenizer::Exists(options.model))
    throw Error((options.model / "tokenizer.json").string(), "is missing, and suites are text",
                "add the model's tokenizer files");
  work.tokenizer = Tokenizer::Load(options.model);
  return work;
}

void Say(const std::string& what) { fmt::print(stderr, "fullband: {}\n", what); }

// Before the model is there, so that the probes' buffers do not add to its peak.
MachineFigures DescribeMachine(const EngineOptions& engine, bool quiet) {
  MachineFigures machine;
  machine.processor = ProcessorName();
  machine.target = KernelsFor(engine.target).target;
  if (!quiet) Say("memory and multiply-add probes");
  machine.caches = ReadCaches();
  machine.probe_bytes = ProbeBytes(machine.caches);
  machine.bounds = ProbeMachine({.threads = engine.threads, .buffer_bytes = machine.probe_bytes});
  machine.threads = machine.bounds->threads;
  return machine;
}

BenchReport Measure(const BenchOptions& options, const BenchPlan& plan, const SuiteWork& suites,
                    const Model& model, Backend* backend, CpuProfile* profile, BenchReport report) {
  BenchSurroundings around;
  around.profile = options.profile ? profile : nullptr;
  around.stop = &StopAsked();
  around.page_memory = AvailableBytes() / 2;
  if (!options.quiet) around.say = Say;
  report.left_out = plan.left_out;
  const StepWork work(model, *backend);
  StepRunner runner(backend, &work, around.stop);
  try {
    if (!options.no_steps) MeasureSteps(&runner, plan, around, &report);
    MeasureSuites(backend, plan, suites, around, &report);
  } catch (const BenchStopped&) {
    report.stopped = true;
  }
  report.memory = {.resident = ResidentBytes(),
                   .peak = PeakMemoryBytes(),
                   .weights = static_cast<int64_t>(work.weight_bytes()),
                   .pages = runner.reserved_pages() * backend->page_bytes()};
  return report;
}

ExitCode Bench(const BenchOptions& options) {
  const BenchPlan plan = MakeBenchPlan(options.request, ConfigOf(options));
  const SuiteWork suites = SuitesOf(options);
  if (options.no_steps && suites.suites.empty())
    throw UsageError("--no-steps", "leaves nothing to measure", "name suites with --suite");
  CatchStopSignals();
  BenchReport report;
  report.machine = DescribeMachine(options.engine, options.quiet);
  if (!options.model.empty() && !options.no_steps) {
    BenchSurroundings around{.stop = &StopAsked()};
    if (!options.quiet) around.say = Say;
    MeasureLoading(options.model, options.engine, plan, around, &report);
  }
  const std::shared_ptr<const Model> model = ModelOf(options);
  CpuProfile profile;
  const std::unique_ptr<Backend> backend =
      MakeCpuBackend(model, {.threads = options.engine.threads,
                             .target = options.engine.target,
                             .kv_dtype = KvDtypeNamed(options.engine.kv_dtype),
                             .profile = options.profile ? &profile : nullptr});
  report = Measure(options, plan, suites, *model, backend.get(), &profile, std::move(report));
  const BenchSubject subject{.name = options.model.empty() ? options.random_model : options.model.string(),
                             .model = model.get(),
                             .random_feedback = options.random_feedback,
                             .random_model = options.model.empty(),
                             .engine = options.engine};
  if (options.json)
    fmt::print("{}\n", BenchJson(report, plan, subject).dump(2));
  else
    fmt::print("{}", BenchText(report, subject));
  if (report.stopped) {
    fmt::print(stderr, "fullband: stopped: what was measured until then is above\n");
    EndBySignal();
  }
  return ExitCode::kDone;
}

template <class T>
CLI::Option* AddSizes(CLI::App& command, const char* name, std::vector<T>* sizes, const char* help) {
  return command.add_option(name, *sizes, help)
      ->check(WholeNumber(1))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N,...");
}

void AddWhat(CLI::App& command, BenchOptions* options) {
  BenchRequest& request = options->request;
  command
      .add_option(
          "--setting", request.settings,
          "settings to measure; default: standard, and latent and latent@2 where the model has feedback")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  AddSizes(command, "--prompt-lengths", &request.prompt_lengths, "prompts to prefill; default: 128,512,2048");
  AddSizes(command, "--chunks", &request.chunks, "rows a prefill step at most; default: 128,512,2048");
  AddSizes(command, "--batches", &request.batches, "sequences that decode; default: 1,2,4,8,16,32,64");
  AddSizes(command, "--contexts", &request.contexts, "positions that they see; default: 128,1024,2048");
  command.add_option("--repeats", request.repeats, "times that each is measured; default: 5, quick 3")
      ->check(WholeNumber(1))
      ->type_name("N");
  command.add_flag("--quick", request.quick, "smaller default lists: a minute or two");
  command.add_flag("--profile", options->profile, "say where the time of a step goes, part by part");
  command.add_flag("--no-steps", options->no_steps, "measure the suites alone");
}

void AddSuiteOptions(CLI::App& command, BenchOptions* options) {
  command.add_option("--suite", options->suites, "suites to run, without a store and without grading")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  AddSizes(command, "--limit", &options->limits, "the first N items only; several: each in turn");
  command.add_option("--shots", options->task.shots, "solved examples in the prompt; default: the suite's")
      ->check(WholeNumber(0))
      ->type_name("N");
  command
      .add_option("--max-new", options->task.max_new_tokens,
                  "tokens to generate at most; default: the suite's")
      ->check(WholeNumber(1))
      ->type_name("N");
  command.add_option("--data-dir", options->task.data_folder, "where the suites' data files are")
      ->type_name("DIR");
}

}  // namespace

void AddBench(CLI::App& app, Action* action) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Measure how fast a model runs on this machine");
  command->add_option("--model", options->model, "checkpoint folder")->type_name("DIR");
  command
      ->add_option("--random-model", options->random_model,
                   "random weights of a shape, e.g. width=512,layers=8 (heads, kv_heads, inner, vocabulary, "
                   "context, dtype)")
      ->type_name("SHAPE");
  command
      ->add_option("--random-feedback", options->random_feedback,
                   "give a model without latent feedback a random one, to time what such settings cost")
      ->check(WholeNumber(0))
      ->type_name("SEED");
  AddWhat(*command, options.get());
  AddSuiteOptions(*command, options.get());
  AddEngineOptions(*command, &options->engine);
  command->add_flag("--json", options->json, "print one JSON object");
  command->add_flag("--quiet", options->quiet, "do not say what is being measured");
  command->callback([=] { *action = [options] { return Bench(*options); }; });
}

}  // namespace fullband
