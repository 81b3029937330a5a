#include "evals/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "common/names.h"
#include "evals/grading.h"
#include "evals/sample_thoughts.h"
#include "tasks/groups.h"

namespace fullband {
namespace {

namespace fs = std::filesystem;

// "add --top-k" -> "add top_k".
std::string WithKeys(const std::string& text) {
  std::string words;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool option = text.compare(i, 2, "--") == 0 && (i == 0 || text[i - 1] == ' ');
    if (!option) {
      words += text[i];
      continue;
    }
    for (i += 2; i < text.size() && text[i] != ' '; ++i) words += text[i] == '-' ? '_' : text[i];
    if (i < text.size()) words += text[i];
  }
  return words;
}

// What `part` finds wrong with what `option` says is said of the place where that stands.
template <typename Part>
auto Placed(const SweepRequest& request, const std::string& option, const Part& part) {
  try {
    return part();
  } catch (const Error& error) {
    if (request.places.empty()) throw;
    const bool named = request.places.contains(error.subject());
    const auto place = request.places.find(named ? error.subject() : option);
    if (place == request.places.end()) throw;
    throw Error(place->second, named ? error.why() : error.subject() + ": " + error.why(),
                WithKeys(error.remedy()), error.code());
  }
}

// Folders beside `folder`, to look for near names in.
std::vector<std::string> Siblings(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  const fs::path parent = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(parent, ignored))
    if (entry.is_directory(ignored))
      names.push_back((folder.parent_path() / entry.path().filename()).string());
  return names;
}

void CheckFolder(const fs::path& folder) {
  if (fs::is_directory(folder)) return;
  if (fs::exists(folder))
    throw UsageError(folder.string(), "is a file; a model is a folder",
                     "name the folder that holds config.json");
  const std::vector<std::string> near = NearNames(folder.string(), Siblings(folder));
  throw UsageError(folder.string(), "no such model folder",
                   near.empty() ? "name a folder that holds config.json" : DidYouMean(folder.string(), near));
}

PlannedModel PlanModel(const std::string& name, Format format) {
  fs::path folder(name);
  if (!folder.has_filename() && folder.has_parent_path())
    folder = folder.parent_path();  // a slash at its end
  CheckFolder(folder);
  PlannedModel model{name, ReadModelConfig(folder), nullptr, {}};
  if (!Tokenizer::Exists(folder))
    throw Error((folder / "tokenizer.json").string(), "is missing, and suites are text",
                "add the model's tokenizer files");
  if (format == Format::kChat) model.chat = std::make_shared<ChatTemplate>(folder);
  return model;
}

std::vector<PlannedModel> PlanModels(const SweepRequest& request) {
  if (request.models.empty()) throw UsageError("--model", "names no model");
  std::vector<PlannedModel> models;
  for (const std::string& name : request.models) {
    models.push_back(PlanModel(name, request.task.format));
    models.back().thoughts = request.think.empty() ? MarkersInFolder(models.back().folder)
                                                   : ParseMarkers(request.think, "--think");
    for (size_t i = 0; i + 1 < models.size(); ++i)
      if (fs::equivalent(models[i].folder, models.back().folder))
        throw UsageError("--model", fmt::format("names {} twice", name));
  }
  return models;
}

std::vector<Setting> PlanSettings(const SweepRequest& request) {
  if (request.settings.empty()) throw UsageError("--setting", "names no setting", "e.g. standard,latent");
  std::vector<Setting> settings;
  for (const std::string& text : request.settings) {
    const Setting setting = Setting::Parse(text);
    if (std::find(settings.begin(), settings.end(), setting) != settings.end() ||
        std::any_of(settings.begin(), settings.end(),
                    [&](const Setting& other) { return other.Name() == setting.Name(); }))
      throw UsageError("--setting", text == setting.Name() ? fmt::format("names {} twice", text)
                                                           : fmt::format("names {} twice ({} means the same)",
                                                                         setting.Name(), text));
    settings.push_back(setting);
  }
  return settings;
}

std::vector<TaskData> PlanSuites(const SweepRequest& request) {
  if (request.suites.empty()) throw UsageError("--suite", "names no suite", "fullband suites lists them");
  std::vector<Suite> suites;
  for (const std::string& name : ExpandGroups(request.suites)) {
    suites.push_back(LoadSuite(name));
    JudgesOf(suites.back(), request.grading);
    for (size_t i = 0; i + 1 < suites.size(); ++i)
      if (suites[i].name == suites.back().name)
        throw UsageError("--suite", fmt::format("names {} twice", suites[i].name));
  }
  std::vector<TaskData> data;
  for (const Suite& suite : suites) data.push_back(LoadTaskData(suite, request.task));
  return data;
}

void CheckSampling(const SweepRequest& request) {
  const Sampling& sampling = request.sampling;
  if (!std::isfinite(sampling.temperature) || sampling.temperature < 0)
    throw UsageError("--temperature", "must be 0 or more");
  if (sampling.top_k < 0) throw UsageError("--top-k", "must be 0 (all tokens) or more");
  if (!(sampling.top_p > 0 && sampling.top_p <= 1))
    throw UsageError("--top-p", "must be above 0 and at most 1");
  if (request.samples < 1) throw UsageError("--samples", "must be 1 or more");
  if (sampling.temperature > 0) return;
  if (request.samples > 1)
    throw UsageError("--samples", fmt::format("{} greedy samples would all be the same", request.samples),
                     "add --temperature");
  if (sampling.top_k != 0 || sampling.top_p != 1)
    throw UsageError(sampling.top_k != 0 ? "--top-k" : "--top-p", "changes nothing without a temperature",
                     "add --temperature");
}

void CheckTogether(const Plan& plan) {
  for (const Setting& setting : plan.settings) {
    for (const PlannedModel& model : plan.models) {
      try {
        CheckSetting(setting, model.config.fusion);
      } catch (const Error& error) {
        throw Error(fmt::format("{}, {}", model.folder.string(), error.subject()), error.why(),
                    error.remedy(), error.code());
      }
    }
    if (setting.mode != Mode::kParallel) continue;
    for (const TaskData& data : plan.suites)
      if (data.suite.ask == Ask::kGenerate)
        throw UsageError(setting.Name(),
                         fmt::format("is for scoring only, and {} generates", data.suite.name),
                         "use standard or latent[@P] for it");
  }
}

}  // namespace

Plan MakePlan(const SweepRequest& request) {
  Placed(request, "--temperature", [&] { CheckSampling(request); });
  Placed(request, "--system", [&] {
    if (!request.task.system.empty() && request.task.format != Format::kChat)
      throw UsageError("--system", "needs the chat format", "add --format chat");
  });
  Plan plan;
  plan.sampling = request.sampling;
  plan.samples = request.samples;
  plan.grading = request.grading;
  plan.settings = Placed(request, "--setting", [&] { return PlanSettings(request); });
  plan.models = Placed(request, "--model", [&] { return PlanModels(request); });
  plan.suites = Placed(request, "--suite", [&] { return PlanSuites(request); });
  Placed(request, "--setting", [&] { CheckTogether(plan); });
  return plan;
}

}  // namespace fullband
