// `fullband contraction`: whether feedback, iterated pass after pass, tends to the exact recurrence.
#include "evals/contraction.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/engine_options.h"
#include "common/error.h"
#include "evals/progress.h"

namespace fullband {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDefaultWindow = 512;

struct ContractionOptions {
  std::filesystem::path model, text;
  std::string suite, control;
  bool has_text = false;
  int passes = 16;
  int window = 0;  // 0: the default
  size_t limit = 0;
  TaskOptions task;
  EngineOptions engine;
  bool json = false, quiet = false;
};

// What runs: the texts, and what they were made from.
struct Source {
  ContractionInput input;
  Json about;
  std::string name;
};

// Without feedback there is no map. Said before the weights are loaded.
ModelConfig ReadConfig(const std::filesystem::path& folder) {
  CheckModelFolder(folder);
  ModelConfig config = ReadModelConfig(folder);
  if (config.fusion == Fusion::kNone)
    throw UsageError(
        folder.string(),
        "has no latent feedback, so there is no map: config.json has no 'latent_feedback', and the "
        "tensors latent_feedback.state_proj.weight and latent_feedback.token_gate.weight (glu) are "
        "missing",
        "give a checkpoint trained with latent feedback");
  if (!Tokenizer::Exists(folder))
    throw Error((folder / "tokenizer.json").string(), "is missing, and texts are to be read",
                "add the model's tokenizer files");
  return config;
}

Control ParseControl(const std::string& name, Fusion fusion) {
  if (name.empty()) return Control::kNone;
  const Setting setting = Setting::Parse("latent@exact:" + name);
  CheckSetting(setting, fusion);
  return setting.control;
}

Source ReadText(const ContractionOptions& options, const std::string& text, const Engine& engine) {
  const int window = options.window > 0 ? options.window : std::min(engine.max_context(), kDefaultWindow);
  Source source;
  source.name = options.text.filename().string();
  source.input = CutText(options.text.string(), text, *engine.tokenizer(), static_cast<size_t>(window),
                         options.passes, options.limit);
  source.about = {
      {"text", options.text.string()}, {"window", window}, {"tokens_left_out", source.input.tokens_left_out}};
  return source;
}

Source ReadSuite(const ContractionOptions& options, const TaskData& data, const Engine& engine) {
  Source source;
  source.name = data.suite.name;
  source.input = SuiteTexts(data, *engine.tokenizer(), options.passes);
  source.about = {{"suite", data.suite.name},
                  {"version", data.suite.version},
                  {"shots", data.options.shots.value_or(data.suite.shots)},
                  {"fewshot_seed", data.options.fewshot_seed},
                  {"items_with_fewer_shots", source.input.items_with_fewer_shots}};
  return source;
}

Json OrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json LossJson(const TokenLoss& loss) {
  return {{"nats_per_token", loss.nats_per_token}, {"bits_per_byte", OrNull(loss.bits_per_byte)}};
}

void AddLosses(const PassFigures& figures, Json* object) {
  object->update(LossJson(figures.loss));
  if (!figures.answer) return;
  (*object)["answer"] = LossJson(*figures.answer);
  (*object)["answer"]["greedy_share"] = OrNull(figures.greedy_share);
}

Json ToJson(const ContractionOptions& options, const std::string& weights, const Source& source,
            const Contraction& result) {
  Json object = {{"model", options.model.string()},
                 {"weights_sha256", weights},
                 {"source", source.about},
                 {"control", options.control.empty() ? Json(nullptr) : Json(options.control)},
                 {"texts", source.input.texts.size()},
                 {"positions", result.positions},
                 {"scored_tokens", result.scored_tokens},
                 {"scored_bytes", result.scored_bytes},
                 {"answer_tokens", result.answer_tokens},
                 {"answer_bytes", result.answer_bytes}};
  for (size_t i = 0; i < result.passes.size(); ++i) {
    const PassFigures& figures = result.passes[i];
    Json pass = {{"pass", i + 1},
                 {"residual", OrNull(figures.residual)},
                 {"open_residual", OrNull(figures.open_residual)},
                 {"distance", figures.distance},
                 {"open_distance", OrNull(figures.open_distance)}};
    AddLosses(figures, &pass);
    object["passes"].push_back(pass);
  }
  object["recurrence"] = Json::object();
  AddLosses(result.recurrence, &object["recurrence"]);
  object["verdict"] = MapVerdictName(result.judgement.verdict);
  object["rate"] = OrNull(result.judgement.rate);
  object["reason"] = result.judgement.reason;
  return object;
}

std::string Cell(const std::optional<double>& value) { return value ? fmt::format("{:.3g}", *value) : "-"; }

void PrintRow(const std::string& pass, const PassFigures& figures) {
  fmt::print("{:>6} {:>10} {:>10} {:>10} {:>11.4f} {:>10}", pass, Cell(figures.residual),
             Cell(figures.open_residual), fmt::format("{:.3g}", figures.distance),
             figures.loss.nats_per_token,
             figures.loss.bits_per_byte ? fmt::format("{:.4f}", *figures.loss.bits_per_byte) : "-");
  if (figures.answer)
    fmt::print(" {:>12.4f} {:>12} {:>8.1f}", figures.answer->nats_per_token,
               figures.answer->bits_per_byte ? fmt::format("{:.4f}", *figures.answer->bits_per_byte) : "-",
               100 * figures.greedy_share.value_or(0));
  fmt::print("\n");
}

void PrintReadably(const Source& source, const Contraction& result) {
  fmt::print("{:>6} {:>10} {:>10} {:>10} {:>11} {:>10}", "pass", "residual", "open", "distance", "nats/token",
             "bits/byte");
  if (result.recurrence.answer) fmt::print(" {:>12} {:>12} {:>8}", "answer nats", "answer bits", "greedy %");
  fmt::print("\n");
  for (size_t i = 0; i < result.passes.size(); ++i) PrintRow(std::to_string(i + 1), result.passes[i]);
  PrintRow("exact", result.recurrence);
  fmt::print("-- {}: {} texts, {} positions", source.name, source.input.texts.size(), result.positions);
  if (source.input.tokens_left_out > 0)
    fmt::print("; the last {} tokens are too few for a text", source.input.tokens_left_out);
  if (source.input.items_with_fewer_shots > 0)
    fmt::print("; {} items with fewer shots, to fit the context", source.input.items_with_fewer_shots);
  fmt::print("\n-- {}: {}\n", MapVerdictName(result.judgement.verdict), result.judgement.reason);
}

ExitCode Measure(ContractionOptions options) {
  const ModelConfig config = ReadConfig(options.model);
  const Control control = ParseControl(options.control, config.fusion);
  if (options.window > config.max_positions)
    throw UsageError("--window",
                     fmt::format("is {}; the model's context has {}", options.window, config.max_positions));
  options.task.max_context = config.max_positions;
  options.task.limit = options.limit;
  std::string text;
  std::optional<TaskData> data;
  if (options.has_text)
    text = ReadTextFile(options.text);
  else
    data = LoadTaskData(LoadSuite(options.suite), options.task);
  Engine engine(options.model, options.engine);
  const Source source = data ? ReadSuite(options, *data, engine) : ReadText(options, text, engine);
  Progress progress(stderr, isatty(STDERR_FILENO) == 1, options.quiet);
  progress.Begin(source.name + " positions", PassRows(source.input.texts, options.passes), 0);
  const Contraction result = MeasureContraction(engine, source.input, options.passes, control,
                                                [&](int64_t rows) { progress.Advance(rows, rows, 0, 0); });
  progress.End(0, 0);
  if (options.json)
    fmt::print("{}\n", ToJson(options, WeightsSha256(*engine.model()), source, result).dump());
  else
    PrintReadably(source, result);
  return ExitCode::kDone;
}

void AddSourceOptions(CLI::App& command, ContractionOptions* options) {
  CLI::Option_group* source = command.add_option_group("source");
  CLI::Option* text = source->add_option("--text", options->text, "a text file, cut into windows");
  text->type_name("FILE");
  CLI::Option* suite =
      source->add_option("--suite", options->suite,
                         "a suite's items, each with its reference answer: a name, or a path to a TOML file");
  suite->type_name("NAME");
  source->require_option(1);
  command
      .add_option("--window", options->window,
                  "tokens of a window; default: 512, or the context where shorter")
      ->check(WholeNumber(1))
      ->excludes(suite)
      ->type_name("N");
  command.add_option("--limit", options->limit, "the first N items or windows only")
      ->check(WholeNumber(1))
      ->type_name("N");
  command.add_option("--shots", options->task.shots, "solved examples in the prompt; default: the suite's")
      ->check(WholeNumber(0))
      ->excludes(text)
      ->type_name("N");
  command.add_option("--fewshot-seed", options->task.fewshot_seed, "seed of the draw of the examples")
      ->check(WholeNumber(0))
      ->excludes(text)
      ->capture_default_str()
      ->type_name("S");
  command.add_option("--data-dir", options->task.data_folder, "where the suite's data files are")
      ->excludes(text)
      ->type_name("DIR");
}

}  // namespace

void AddContraction(CLI::App& app, Action* action) {
  auto options = std::make_shared<ContractionOptions>();
  CLI::App* command = app.add_subcommand(
      "contraction", "Residual and loss of each prefill pass, and whether the passes tend to the recurrence");
  AddModelOption(*command, &options->model);
  AddSourceOptions(*command, options.get());
  command->add_option("--passes", options->passes, "passes K to run, from 2 on")
      ->check(WholeNumber(2))
      ->capture_default_str()
      ->type_name("K");
  command
      ->add_option("--control", options->control,
                   "spoil the feedback: zero, stale, reversed or constant_gate, in passes and recurrence")
      ->type_name("NAME");
  AddEngineOptions(*command, &options->engine);
  command->add_flag("--json", options->json, "print one JSON object (its keys: docs/decoding.md)");
  command->add_flag("--quiet", options->quiet, "show no progress");
  CLI::Option* text = command->get_option("--text");
  command->callback([options, action, text] {
    options->has_text = text->count() > 0;
    *action = [options] { return Measure(*options); };
  });
}

}  // namespace fullband
