#include "evals/sweep_file.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "common/memory.h"
#include "common/names.h"
#include "common/toml_table.h"

namespace fullband {
namespace {

namespace fs = std::filesystem;

constexpr char kKind[] = "sweep file";
constexpr int64_t kMost = INT32_MAX;

// What a group asks, format and number of shots still as lists.
struct Group {
  SweepRequest request;
  std::vector<Format> formats = {Format::kCompletion};
  std::vector<std::optional<int>> shots = {std::nullopt};
};

class Reader {
 public:
  explicit Reader(const fs::path& file) : folder_(file.parent_path()) {}

  // Takes over what the table says; the rest stays as it is.
  void ReadGroup(TomlTable& table, Group* group) const {
    ReadLists(table, group);
    ReadTask(table, &group->request);
    ReadSampling(table, &group->request);
  }
  RunnerOptions ReadRunner(TomlTable& file) const;
  fs::path Path(const std::string& text) const { return (folder_ / text).lexically_normal(); }

 private:
  void ReadLists(TomlTable& table, Group* group) const;
  void ReadTask(TomlTable& table, SweepRequest* request) const;
  void ReadSampling(TomlTable& table, SweepRequest* request) const;
  static void ReadEngine(TomlTable& table, EngineOptions* engine);

  // Names are left as they are, paths are the file's.
  std::string Suite(const std::string& text) const {
    return text.find('/') != std::string::npos || text.ends_with(".toml") ? Path(text).string() : text;
  }

  fs::path folder_;
};

// Whether the table has `key`, which stands for `option`: then that is where the option is said.
bool Takes(TomlTable& table, const std::string& key, const std::string& option, SweepRequest* request) {
  table.MayHave({key});
  if (!table.Has(key)) return false;
  request->places[option] = table.Place(key);
  return true;
}

std::vector<std::string> SomeTexts(TomlTable& table, const std::string& key) {
  std::vector<std::string> texts = table.Texts(key);
  if (texts.empty()) throw table.Wrong(key, "is empty", "leave it out or name some");
  return texts;
}

void Reader::ReadLists(TomlTable& table, Group* group) const {
  SweepRequest& request = group->request;
  if (Takes(table, "models", "--model", &request)) {
    request.models.clear();
    for (const std::string& text : SomeTexts(table, "models")) request.models.push_back(Path(text).string());
  }
  if (Takes(table, "suites", "--suite", &request)) {
    request.suites.clear();
    for (const std::string& text : SomeTexts(table, "suites")) request.suites.push_back(Suite(text));
  }
  if (Takes(table, "settings", "--setting", &request)) request.settings = SomeTexts(table, "settings");
  if (Takes(table, "formats", "--format", &request)) {
    group->formats.clear();
    for (const std::string& text : SomeTexts(table, "formats")) {
      if (text != FormatName(Format::kCompletion) && text != FormatName(Format::kChat))
        throw table.Wrong("formats", fmt::format("{} is not a prompt format", text),
                          DidYouMean(text, {"completion", "chat"}));
      group->formats.push_back(ParseFormat(text));
    }
  }
  if (Takes(table, "shots", "--shots", &request)) {
    group->shots.clear();
    for (const int64_t shots : table.Integers("shots", 0, kMost))
      group->shots.push_back(static_cast<int>(shots));
    if (group->shots.empty()) throw table.Wrong("shots", "is empty", "leave it out or name some");
  }
}

void Reader::ReadTask(TomlTable& table, SweepRequest* request) const {
  TaskOptions& task = request->task;
  if (Takes(table, "limit", "--limit", request))
    task.limit = static_cast<size_t>(table.Integer("limit", 1, kMost));
  if (Takes(table, "max_new", "--max-new", request))
    task.max_new_tokens = static_cast<int>(table.Integer("max_new", 1, kMost));
  if (Takes(table, "fewshot_seed", "--fewshot-seed", request))
    task.fewshot_seed = static_cast<uint64_t>(table.Integer("fewshot_seed", 0, INT64_MAX));
  if (Takes(table, "data_dir", "--data-dir", request)) task.data_folder = Path(table.Text("data_dir"));
  if (Takes(table, "system", "--system", request)) task.system = table.Text("system");
  if (Takes(table, "stop", "--stop", request)) task.extra_stop_strings = table.Texts("stop");
  if (Takes(table, "think", "--think", request)) request->think = table.Text("think");
  request->grading.unprotected = table.Boolean("unprotected", request->grading.unprotected);
}

void Reader::ReadSampling(TomlTable& table, SweepRequest* request) const {
  Sampling& sampling = request->sampling;
  if (Takes(table, "samples", "--samples", request))
    request->samples = static_cast<int>(table.Integer("samples", 1, kMost));
  if (Takes(table, "temperature", "--temperature", request))
    sampling.temperature = table.Number("temperature");
  if (Takes(table, "top_k", "--top-k", request))
    sampling.top_k = static_cast<int>(table.Integer("top_k", 0, kMost));
  if (Takes(table, "top_p", "--top-p", request)) sampling.top_p = table.Number("top_p");
  if (Takes(table, "seed", "--seed", request))
    sampling.seed = static_cast<uint64_t>(table.Integer("seed", 0, INT64_MAX));
}

void Reader::ReadEngine(TomlTable& table, EngineOptions* engine) {
  table.MayHave({"threads", "batch", "chunk", "prefix_cache", "target", "kv_dtype"});
  if (table.Has("threads")) engine->threads = static_cast<int>(table.Integer("threads", 0, kMost));
  if (table.Has("chunk")) engine->chunk = static_cast<int>(table.Integer("chunk", 1, kMost));
  if (table.IsText("batch")) {
    if (const std::string text = table.Text("batch"); text != "auto")
      throw table.Wrong("batch", fmt::format("is \"{}\"", text),
                        "allowed: a whole number from 1 on, or \"auto\"");
  } else if (table.Has("batch")) {
    engine->batch = static_cast<int>(table.Integer("batch", 1, kMost));
  }
  if (table.Has("prefix_cache")) {
    const std::string text = table.Text("prefix_cache");
    const std::optional<int64_t> bytes = text == "off" ? 0 : ParseSize(text);
    if (!bytes)
      throw table.Wrong("prefix_cache", fmt::format("is \"{}\"", text),
                        "allowed: a size such as \"64M\" or \"2G\", or \"off\"");
    engine->prefix_cache = *bytes;
  }
  if (table.Has("target")) engine->target = table.Text("target");
  if (table.Has("kv_dtype")) engine->kv_dtype = table.Text("kv_dtype");
  table.Finish();
}

RunnerOptions Reader::ReadRunner(TomlTable& file) const {
  RunnerOptions runner;
  runner.store = Path(file.Text("store"));
  file.MayHave({"shuffle"});
  if (file.Has("shuffle")) runner.shuffle = static_cast<uint64_t>(file.Integer("shuffle", 0, INT64_MAX));
  if (std::optional<TomlTable> engine = file.OptionalTable("engine")) ReadEngine(*engine, &runner.engine);
  return runner;
}

void AddRequests(const TomlTable& table, const Group& group, std::vector<SweepRequest>* requests) {
  for (const auto& [key, list] :
       {std::pair("models", &group.request.models), std::pair("suites", &group.request.suites),
        std::pair("settings", &group.request.settings)})
    if (list->empty())
      throw table.Wrong(key, "is missing", "name some here, or above all [[sweep]] for those that name none");
  for (const Format format : group.formats) {
    for (const std::optional<int> shots : group.shots) {
      SweepRequest& request = requests->emplace_back(group.request);
      request.task.format = format;
      request.task.shots = shots;
    }
  }
}

}  // namespace

SweepFile ReadSweepFile(const fs::path& file) {
  const toml::table parsed = ParseTomlFile(file, kKind);
  TomlTable table(parsed, file, kKind);
  const Reader reader(file);
  SweepFile sweep;
  Group shared;
  reader.ReadGroup(table, &shared);
  std::vector<TomlTable> groups = table.Tables("sweep");
  table.MayHave({"store", "report", "shuffle", "engine"});
  table.Finish();
  sweep.runner = reader.ReadRunner(table);
  if (table.Has("report")) sweep.report = reader.Path(table.Text("report"));
  for (TomlTable& one : groups) {
    Group group = shared;
    reader.ReadGroup(one, &group);
    one.Finish();
    AddRequests(one, group, &sweep.requests);
  }
  if (groups.empty()) AddRequests(table, shared, &sweep.requests);
  return sweep;
}

}  // namespace fullband
