// `fullband inspect`: what a checkpoint folder holds and what it takes to run it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/command.h"
#include "cli/engine_options.h"
#include "common/memory.h"
#include "engine/checkpoint/layout.h"
#include "engine/checkpoint/model.h"
#include "engine/decode/batch_size.h"
#include "evals/identity.h"
#include "evals/run_memory.h"

namespace fullband {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kExamplePositions = 2048;  // the sequence that the report gives as an example of memory

struct InspectOptions {
  std::filesystem::path model;
  EngineOptions engine;
  SweepRequest sweep;  // what a run would ask; may name no suite
  int context = 0;     // else the length of its sequences; 0: kExamplePositions, as far as the model goes
  bool json = false;
};

struct Memory {
  int64_t weights = 0;          // as stored
  int64_t kv_per_position = 0;  // keys and values of all layers in one prefill pass, float32
  int64_t state = 0;            // one kept top-layer state, float32
};

// Bytes by dtype.
std::map<std::string, int64_t> DTypes(const Model& model) {
  std::map<std::string, int64_t> bytes;
  Weights places = model.weights;
  for (const TensorSlot& slot : TensorSlots(model.config, &places))
    bytes[DTypeName(slot.tensor->dtype)] +=
        slot.tensor->size() * static_cast<int64_t>(DTypeSize(slot.tensor->dtype));
  return bytes;
}

Memory MemoryOf(const Model& model) {
  const ModelConfig& c = model.config;
  constexpr int64_t kActivation = sizeof(float);
  Memory memory;
  for (const auto& [dtype, bytes] : DTypes(model)) memory.weights += bytes;
  memory.kv_per_position = int64_t{2} * c.layers * c.kv_heads * c.head_dim * kActivation;
  memory.state = c.hidden_size * kActivation;
  return memory;
}

Json RopeJson(const RopeConfig& rope) {
  Json out = {{"type", rope.type == RopeType::kLinear   ? "linear"
                       : rope.type == RopeType::kLlama3 ? "llama3"
                                                        : "default"},
              {"theta", rope.theta}};
  if (rope.type != RopeType::kDefault) out["factor"] = rope.factor;
  if (rope.type == RopeType::kLlama3) {
    out["low_freq_factor"] = rope.low_freq_factor;
    out["high_freq_factor"] = rope.high_freq_factor;
    out["original_max_positions"] = rope.original_max_positions;
  }
  return out;
}

Json Describe(const Model& model) {
  const ModelConfig& c = model.config;
  const Memory memory = MemoryOf(model);
  Json out = {{"model", model.folder.string()},
              {"family", c.architecture},
              {"parameters", model.parameter_count},
              {"dtypes", DTypes(model)},
              {"hidden_size", c.hidden_size},
              {"layers", c.layers},
              {"heads", c.heads},
              {"kv_heads", c.kv_heads},
              {"head_dim", c.head_dim},
              {"intermediate_size", c.intermediate_size},
              {"vocab_size", c.vocab_size},
              {"max_positions", c.max_positions},
              {"rms_norm_eps", c.rms_norm_eps},
              {"tied_embeddings", c.tied_embeddings},
              {"qkv_bias", c.qkv_bias},
              {"output_bias", c.output_bias},
              {"mlp_bias", c.mlp_bias},
              {"qk_norm", c.qk_norm},
              {"rope", RopeJson(c.rope)},
              {"latent_feedback", nullptr},
              {"end_tokens", c.end_tokens},
              {"weights_sha256", WeightsSha256(model)}};
  if (c.fusion != Fusion::kNone) out["latent_feedback"] = {{"fusion", FusionName(c.fusion)}};
  out["memory"] = {{"weights_bytes", memory.weights},
                   {"kv_bytes_per_position", memory.kv_per_position},
                   {"sequence_positions", kExamplePositions},
                   {"sequence_bytes", memory.kv_per_position * kExamplePositions},
                   {"state_bytes", memory.state}};
  return out;
}

std::string RopeText(const Json& rope) {
  std::string text =
      fmt::format("{}, theta {}", rope["type"].get<std::string>(), rope["theta"].get<double>());
  for (const auto& [key, value] : rope.items())
    if (key != "type" && key != "theta") text += fmt::format(", {} {}", key, value.dump());
  return text;
}

std::string FeatureText(const ModelConfig& c) {
  std::vector<std::string> features;
  if (c.tied_embeddings) features.push_back("tied embeddings");
  if (c.qkv_bias) features.push_back("q/k/v bias");
  if (c.output_bias) features.push_back("output bias");
  if (c.mlp_bias) features.push_back("MLP bias");
  if (c.qk_norm) features.push_back("q/k norm");
  return features.empty() ? "plain" : fmt::format("{}", fmt::join(features, ", "));
}

// What a run takes; of --batch auto, which measures how far to grow, with the smallest and the largest batch.
std::vector<RunMemory> RunMemories(const InspectOptions& options, const std::shared_ptr<const Model>& model) {
  std::vector<int> batches = {options.engine.batch};
  if (options.engine.batch == 0) batches = {BatchSize::kFirst, BatchSize::kMost};
  std::vector<RunMemory> memories;
  for (const int batch : batches) {
    SweepRequest sweep = options.sweep;
    sweep.models = {options.model.string()};
    if (sweep.suites.empty()) {
      std::vector<Setting> settings;
      for (const std::string& name : sweep.settings) settings.push_back(Setting::Parse(name));
      const int most = std::min<int>(kExamplePositions, model->config.max_positions);
      const int context = options.context > 0 ? options.context : most;
      memories.push_back(PlanContextMemory(model, settings, context, options.engine, batch));
    } else {
      memories.push_back(PlanRunMemory(MakePlan(sweep), model, options.engine, batch));
    }
  }
  return memories;
}

Json RunJson(const RunMemory& run) {
  return {{"batch", run.batch},
          {"program_bytes", run.program},
          {"loading_bytes", run.engine.loading},
          {"packed_bytes", run.engine.weights},
          {"page_bytes", run.engine.pages},
          {"state_bytes", run.engine.states},
          {"workspace_bytes", run.engine.workspace},
          {"peak_bytes", run.total()}};
}

std::string RunText(const RunMemory& run) {
  return fmt::format(
      "{} with batch {}: program {}, {} while weights are loaded, then weights {}, pages {}, states {}, "
      "workspace {}",
      SizeText(run.total()), run.batch, SizeText(run.program), SizeText(run.engine.loading),
      SizeText(run.engine.weights), SizeText(run.engine.pages), SizeText(run.engine.states),
      SizeText(run.engine.workspace));
}

void PrintReadably(const Model& model, const std::vector<RunMemory>& runs) {
  const ModelConfig& c = model.config;
  const Json about = Describe(model);
  const Memory memory = MemoryOf(model);
  const auto line = [](const char* name, const std::string& value) { fmt::print("{:<17}{}\n", name, value); };
  line("model", model.folder.string());
  line("family", c.architecture);
  line("parameters", fmt::format("{} ({:.1f} M)", model.parameter_count, model.parameter_count / 1e6));
  std::vector<std::string> dtypes;
  for (const auto& [dtype, bytes] : DTypes(model))
    dtypes.push_back(fmt::format("{} {}", dtype, SizeText(bytes)));
  line("weights", fmt::format("{}", fmt::join(dtypes, ", ")));
  line("sizes", fmt::format("{} layers, width {}, inner width {}, vocabulary {}, {} positions", c.layers,
                            c.hidden_size, c.intermediate_size, c.vocab_size, c.max_positions));
  line("attention",
       fmt::format("{} query heads on {} key/value heads of width {}", c.heads, c.kv_heads, c.head_dim));
  line("rope", RopeText(about["rope"]));
  line("features", FeatureText(c));
  line("latent feedback", c.fusion == Fusion::kNone ? "none: latent settings need a model trained with it"
                                                    : fmt::format("{} fusion", FusionName(c.fusion)));
  line("end tokens", c.end_tokens.empty() ? "none" : fmt::format("{}", fmt::join(c.end_tokens, ", ")));
  line("weights SHA-256", about["weights_sha256"]);
  line("memory",
       fmt::format("{} weights; keys and values {} a position, {} for {} positions, in every prefill pass; "
                   "{} a kept state",
                   SizeText(memory.weights), SizeText(memory.kv_per_position),
                   SizeText(memory.kv_per_position * kExamplePositions), kExamplePositions,
                   SizeText(memory.state)));
  for (const RunMemory& run : runs) line("peak of a run", RunText(run));
}

ExitCode Inspect(const InspectOptions& options) {
  if (options.engine.device != "cpu")
    throw UsageError("--device", options.engine.device + " is not a device here", "the known device is cpu");
  const std::shared_ptr<const Model> model = LoadModel(options.model);
  const std::vector<RunMemory> runs = RunMemories(options, model);
  if (options.json) {
    Json about = Describe(*model);
    for (const RunMemory& run : runs) about["runs"].push_back(RunJson(run));
    fmt::print("{}\n", about.dump(2));
  } else {
    PrintReadably(*model, runs);
  }
  return ExitCode::kDone;
}

}  // namespace

void AddInspect(CLI::App& app, Action* action) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a model is and the memory it needs");
  AddModelOption(*command, &options->model);
  AddEngineOptions(*command, &options->engine);
  options->sweep.settings = {"standard"};
  command->add_option("--setting", options->sweep.settings, "settings of the run whose memory is stated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("standard")
      ->type_name("NAME,...");
  CLI::Option* suite =
      command->add_option("--suite", options->sweep.suites, "what that run asks; default: --context alone")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->type_name("NAME,...");
  command->add_option("--context", options->context, "positions of each of its sequences")
      ->check(WholeNumber(1))
      ->excludes(suite)
      ->type_name("N");
  AddItemOptions(*command, &options->sweep.task);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([=] { *action = [options] { return Inspect(*options); }; });
}

}  // namespace fullband
