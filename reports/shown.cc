#include "reports/shown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/error.h"
#include "common/names.h"

namespace fullband {
namespace {

using Json = nlohmann::json;

// The run that differs from `run` in its setting alone.
RunRecord OtherSetting(Store& store, const RunRecord& run, const std::string& setting) {
  if (run.setting == setting) return run;
  Json identity = Json::parse(run.identity);
  identity.erase("setting");
  std::vector<std::string> known;
  for (RunRecord& other : store.Runs()) {
    Json others = Json::parse(other.identity);
    others.erase("setting");
    if (others != identity) continue;
    if (other.setting == setting) return std::move(other);
    known.push_back(other.setting);
  }
  throw UsageError(
      "--setting " + setting,
      fmt::format("no run of {} differs from run {} in that alone", run.suite, run.key.substr(0, 8)),
      DidYouMean(setting, known));
}

std::vector<RunRecord> ChosenRuns(Store& store, const ShowRequest& request) {
  std::vector<RunRecord> runs;
  const auto add = [&](RunRecord run) {
    const bool there =
        std::any_of(runs.begin(), runs.end(), [&](const RunRecord& other) { return other.key == run.key; });
    if (!there) runs.push_back(std::move(run));
  };
  for (const std::string& prefix : request.runs) add(store.FindRun(prefix));
  const RunRecord first = runs.at(0);
  for (const std::string& setting : request.settings) add(OtherSetting(store, first, setting));
  for (const RunRecord& run : runs)
    if (run.suite != first.suite)
      throw UsageError("--run " + run.key.substr(0, 8),
                       fmt::format("is of {}, not of {}", run.suite, first.suite),
                       "runs of one suite can be shown together");
  return runs;
}

ItemRecord FindItem(Store& store, const RunRecord& run, const std::string& name) {
  std::vector<std::string> known;
  for (ItemRecord& item : store.Items(run.id)) {
    if (item.item == name) return std::move(item);
    known.push_back(std::move(item.item));
  }
  const std::vector<std::string> near = NearNames(name, known);
  const std::string examples = known.empty() ? "it has none yet" : "its first is " + known.front();
  throw UsageError("--item " + name, fmt::format("run {} has no such item", run.key.substr(0, 8)),
                   near.empty() ? examples : DidYouMean(name, near));
}

// Each token with the part of the kept text that it ends.
std::vector<ShownToken> TraceOf(const SampleRecord& sample, const std::vector<int32_t>& end_tokens) {
  std::vector<ShownToken> trace;
  size_t begin = 0;
  for (size_t i = 0; i < sample.tokens.size(); ++i) {
    ShownToken& token = trace.emplace_back();
    token.id = sample.tokens[i];
    token.logprob = i < sample.logprobs.size() ? sample.logprobs[i] : 0;
    token.end = std::find(end_tokens.begin(), end_tokens.end(), token.id) != end_tokens.end();
    const size_t full_end = i < sample.text_ends.size() ? static_cast<size_t>(sample.text_ends[i]) : begin;
    const size_t end = std::max(begin, std::min(full_end, sample.text.size()));
    token.text = sample.text.substr(begin, end - begin);
    token.hidden = token.text.empty() || full_end > sample.text.size();
    begin = end;
  }
  return trace;
}

ShownRun ReadRun(Store& store, const RunRecord& run, const std::vector<ModelRecord>& models,
                 const ShowRequest& request) {
  const Json identity = Json::parse(run.identity);
  ShownRun shown{run, "", identity.value("tokenizer", ""), FindItem(store, run, request.item), 0, {}, {}, {}};
  shown.imported = ImportedOf(run);
  for (const ModelRecord& model : models)
    if (model.id == run.model_id) shown.model = model.name;
  std::optional<int64_t> found;
  store.ForEachSample(run.id, false, [&](const SampleRecord& sample) {
    if (sample.item_id != shown.item.id) return;
    ++shown.samples;
    if (sample.sample == request.sample) found = sample.id;
  });
  if (!found && shown.samples > 0)
    throw UsageError(fmt::format("--sample {}", request.sample),
                     fmt::format("item {} of run {} has no such sample", request.item, run.key.substr(0, 8)),
                     fmt::format("it has {}, counted from 0", shown.samples));
  if (!found) return shown;
  shown.sample = store.SampleWithGold(*found).first;
  shown.trace = TraceOf(*shown.sample, identity.value("end_tokens", std::vector<int32_t>{}));
  for (GradeRecord& grade : store.Grades(run.id))
    if (grade.sample_id == *found) shown.grades.push_back(std::move(grade));
  return shown;
}

std::optional<size_t> FirstDifference(const std::vector<ShownRun>& runs) {
  std::vector<const ShownRun*> traces;
  for (const ShownRun& run : runs)
    if (run.sample && run.sample->fault.empty() && run.run.ask == "generate") traces.push_back(&run);
  if (traces.size() < 2) return std::nullopt;
  const auto& first = *traces.front();
  std::optional<size_t> least;
  for (const ShownRun* other : traces) {
    if (other->tokenizer != first.tokenizer) return std::nullopt;
    const auto [a, b] =
        std::mismatch(first.trace.begin(), first.trace.end(), other->trace.begin(), other->trace.end(),
                      [](const ShownToken& x, const ShownToken& y) { return x.id == y.id; });
    if (a == first.trace.end() && b == other->trace.end()) continue;
    const size_t at = static_cast<size_t>(a - first.trace.begin());
    least = std::min(least.value_or(at), at);
  }
  return least;
}

nlohmann::ordered_json SampleAsJson(const ShownRun& shown) {
  const SampleRecord& sample = *shown.sample;
  nlohmann::ordered_json object = {{"fault", sample.fault},
                                   {"text", sample.text},
                                   {"stop_reason", sample.stop_reason},
                                   {"prompt_tokens", sample.prompt_tokens},
                                   {"generated_tokens", sample.generated_tokens},
                                   {"trace_tokens", sample.trace_tokens}};
  for (const ShownToken& token : shown.trace)
    object["tokens"].push_back({{"id", token.id},
                                {"text", token.text},
                                {"hidden", token.hidden},
                                {"end", token.end},
                                {"logprob", token.logprob}});
  for (const ChoiceRecord& choice : sample.choices)
    object["choices"].push_back({{"text", choice.text},
                                 {"logprob", choice.logprob},
                                 {"tokens", choice.tokens},
                                 {"greedy", choice.greedy},
                                 {"gold", choice.gold}});
  return object;
}

}  // namespace

Shown ReadShown(Store& store, const ShowRequest& request) {
  const std::vector<ModelRecord> models = store.Models();
  Shown shown;
  for (const RunRecord& run : ChosenRuns(store, request))
    shown.runs.push_back(ReadRun(store, run, models, request));
  shown.first_difference = FirstDifference(shown.runs);
  return shown;
}

nlohmann::ordered_json ShownAsJson(const Shown& shown) {
  nlohmann::ordered_json object = {{"item", shown.runs.at(0).item.item}, {"first_difference", nullptr}};
  if (shown.first_difference) object["first_difference"] = *shown.first_difference;
  for (const ShownRun& run : shown.runs) {
    nlohmann::ordered_json about = {{"run", run.run.key},
                                    {"model", run.model},
                                    {"suite", run.run.suite},
                                    {"setting", run.run.setting},
                                    {"format", run.run.format},
                                    {"shots", run.run.shots},
                                    {"prompt", run.item.prompt},
                                    {"gold", run.item.gold},
                                    {"shots_dropped", run.item.shots_dropped},
                                    {"samples", run.samples},
                                    {"imported", run.imported.has_value()}};
    about["sample"] = run.sample ? SampleAsJson(run) : nlohmann::ordered_json(nullptr);
    about["grades"] = nlohmann::ordered_json::array();
    for (const GradeRecord& grade : run.grades)
      about["grades"].push_back({{"grader", grade.grader},
                                 {"version", grade.version},
                                 {"outcome", grade.outcome},
                                 {"score", grade.score},
                                 {"extracted", grade.extracted},
                                 {"detail", grade.detail}});
    object["runs"].push_back(std::move(about));
  }
  return object;
}

}  // namespace fullband
