#include "reports/lm_eval/results_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/hash.h"
#include "common/paths.h"
#include "reports/figures.h"

namespace fullband::lm_eval {
namespace {

constexpr char kUnknown[] = "N/A";  // the harness's word where there is no standard error

Json OrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json IdentityOf(const RunResults& run) {
  Json identity = Json::parse(run.run.identity, nullptr, false);
  return identity.is_object() ? identity : Json::object();
}

bool Generates(const RunResults& run) { return run.run.ask == "generate"; }

const char* OutputType(const RunResults& run) {
  if (Generates(run)) return "generate_until";
  return run.run.headline == "greedy" ? "loglikelihood" : "multiple_choice";
}

// The items' scores by a grader, those that count.
std::vector<double> ScoresOf(const RunResults& run, const std::string& grader) {
  std::vector<double> scores;
  for (const ItemResult& item : run.items)
    if (const std::optional<double> score = ItemScore(item, grader)) scores.push_back(*score);
  return scores;
}

// As many items as the metric that counts most of them.
size_t SampleLength(const RunResults& run) {
  size_t most = 0;
  for (const Metric& metric : MetricsOf(run)) most = std::max(most, ScoresOf(run, metric.grader).size());
  return most;
}

Json TaskResults(const RunResults& run) {
  const RunFigures figures = Figures(run);
  Json results{{"name", run.run.suite}, {"alias", run.run.suite}, {"sample_len", SampleLength(run)}};
  for (const Metric& metric : MetricsOf(run)) {
    const auto accuracy = std::find_if(figures.graders.begin(), figures.graders.end(),
                                       [&](const Accuracy& one) { return one.grader == metric.grader; });
    if (accuracy == figures.graders.end() || !accuracy->share) continue;
    results[metric.Key()] = *accuracy->share;
    const std::optional<double> error = StandardError(ScoresOf(run, metric.grader));
    results[metric.ErrorKey()] = error ? Json(*error) : Json(kUnknown);
  }
  if (figures.perplexity.value) {
    results["perplexity,none"] = *figures.perplexity.value;
    results["perplexity_stderr,none"] = kUnknown;
  }
  return results;
}

Json Directions(const RunResults& run) {
  Json directions = Json::object();
  for (const Metric& metric : MetricsOf(run)) directions[metric.name] = true;
  if (run.run.headline == "greedy") directions["perplexity"] = false;
  return directions;
}

Json TaskConfig(const RunResults& run) {
  const Json identity = IdentityOf(run);
  Json config{{"task", run.run.suite},
              {"output_type", OutputType(run)},
              {"num_fewshot", run.run.shots},
              {"metric_list", Json::array()},
              {"repeats", run.samples_per_item}};
  const Json directions = Directions(run);
  for (const auto& [name, up] : directions.items())
    config["metric_list"].push_back({{"metric", name},
                                     {"aggregation", name == "perplexity" ? "perplexity" : "mean"},
                                     {"higher_is_better", up}});
  if (Generates(run)) config["generation_kwargs"] = GenerationOptions(identity, run.run);
  config["metadata"] = {{"version", run.run.suite_version}};
  return config;
}

// What is not the harness's to say.
Json Ours(const RunResults& run) {
  const Json identity = IdentityOf(run);
  const RunFigures figures = Figures(run);
  return {{"run", run.run.key},
          {"setting", run.run.setting},
          {"headline", run.run.headline},
          {"data_sha256", identity.value("data", "")},
          {"created", run.run.created},
          {"faults", figures.headline.faults},
          {"ungraded", figures.headline.ungraded},
          {"items_open", figures.items_open},
          {"truncated", run.Knows("stop_reason") ? Json(figures.lengths.truncated) : Json(nullptr)},
          {"mean_trace_tokens", OrNull(figures.lengths.mean)},
          {"machines", run.machines},
          {"program_version", run.run.program_version}};
}

Json Config(const Bundle& bundle) {
  const RunResults& first = *bundle.runs.front();
  const ModelRecord& model = first.model;
  const auto same_limit = [&](const RunResults* run) {
    return run->items.size() == first.items.size() ||
           run->items.size() == static_cast<size_t>(run->run.items_total);
  };
  const bool limited = first.items.size() < static_cast<size_t>(first.run.items_total) &&
                       std::all_of(bundle.runs.begin(), bundle.runs.end(), same_limit);
  Json config{{"model", "fullband"},
              {"model_args", {{"pretrained", model.folder}, {"setting", first.run.setting}}}};
  if (model.parameters > 0) config["model_num_parameters"] = model.parameters;
  if (!model.dtype.empty()) config["model_dtype"] = model.dtype;
  if (!model.weights_sha256.empty()) config["model_sha"] = model.weights_sha256;
  config.update(Json{{"batch_size", "auto"},
                     {"batch_sizes", Json::array()},
                     {"device", first.imported ? Json(nullptr) : Json("cpu")},
                     {"use_cache", nullptr},
                     {"limit", limited ? Json(static_cast<double>(first.items.size())) : Json(nullptr)},
                     {"bootstrap_iters", 0},
                     {"gen_kwargs", nullptr},
                     {"random_seed", first.run.seed},
                     {"numpy_seed", nullptr},
                     {"torch_seed", nullptr},
                     {"fewshot_seed", nullptr}});
  return config;
}

// What the harness says of the model, the chat and the time.
Json Setup(const Bundle& bundle) {
  const RunResults& first = *bundle.runs.front();
  const Json identity = IdentityOf(first);
  const std::string system = identity.value("system", ""), chat = identity.value("chat_template", "");
  const bool chats = first.run.format == "chat";
  double seconds = 0;
  for (const RunResults* run : bundle.runs) seconds += run->cost.wall_seconds;
  return {{"model_source", "fullband"},
          {"model_name", bundle.model_name},
          {"model_name_sanitized", FolderName(bundle.model_name)},
          {"system_instruction", system.empty() ? Json(nullptr) : Json(system)},
          {"system_instruction_sha", system.empty() ? Json(nullptr) : Json(Sha256Hex(system))},
          {"fewshot_as_multiturn", chats},
          {"chat_template", nullptr},
          {"chat_template_sha", chat.empty() ? Json(nullptr) : Json(chat)},
          {"total_evaluation_time_seconds", fmt::format("{}", seconds)}};
}

}  // namespace

Json GenerationOptions(const Json& identity, const RunRecord& run) {
  Json options{{"until", Json::array()}};
  if (identity.contains("stop_strings")) options["until"] = identity["stop_strings"];
  if (identity.contains("max_new_tokens")) options["max_gen_toks"] = identity["max_new_tokens"];
  options["do_sample"] = run.temperature > 0;
  options["temperature"] = run.temperature;
  if (run.temperature <= 0 || !identity.contains("sampling")) return options;
  for (const char* name : {"top_k", "top_p"})
    if (identity["sampling"].contains(name)) options[name] = identity["sampling"][name];
  return options;
}

std::string FolderName(const std::string& model_name) {
  constexpr std::string_view kReplaced = "\"<>:/|\\?*[]";
  std::string name;
  bool replaced = false;
  for (const char c : model_name) {
    const bool bad = kReplaced.find(c) != std::string_view::npos;
    if (!bad)
      name += c;
    else if (!replaced)
      name += "__";
    replaced = bad;
  }
  return name;
}

Json ResultsJson(const Bundle& bundle, const std::map<std::string, std::string>& hashes) {
  Json json;
  for (const char* part :
       {"results", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better", "n-samples"})
    json[part] = Json::object();
  Json ours = Json::object();
  for (const RunResults* run : bundle.runs) {
    const std::string& suite = run->run.suite;
    json["results"][suite] = TaskResults(*run);
    json["group_subtasks"][suite] = Json::array();
    json["configs"][suite] = TaskConfig(*run);
    json["versions"][suite] = run->run.suite_version;
    json["n-shot"][suite] = run->run.shots;
    json["higher_is_better"][suite] = Directions(*run);
    json["n-samples"][suite] = {{"original", run->run.items_total}, {"effective", SampleLength(*run)}};
    ours[suite] = Ours(*run);
  }
  json["config"] = Config(bundle);
  json["git_hash"] = nullptr;
  json["date"] = bundle.seconds;
  json["pretty_env_info"] = "fullband " + Version();
  json["task_hashes"] = hashes;
  json.update(Setup(bundle));
  json["fullband"] = {{"version", Version()}, {"runs", std::move(ours)}};
  return json;
}

}  // namespace fullband::lm_eval
