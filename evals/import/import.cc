#include "evals/import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "common/error.h"
#include "common/hash.h"
#include "common/paths.h"
#include "engine/decode/setting.h"
#include "engine/tokenizer/tokenizer.h"
#include "evals/choose.h"
#include "evals/grading.h"
#include "evals/import/imported_sample.h"
#include "evals/import/kept_text.h"
#include "evals/import/sample_file.h"
#include "evals/lease.h"
#include "evals/regrade.h"
#include "evals/sample_thoughts.h"
#include "evals/store/imported.h"

namespace fullband {
namespace {

using nlohmann::json;

constexpr size_t kLongestName = 200;
constexpr size_t kMostNamed = 5;  // items that a note names
constexpr char kOther[] = "other:";

void CheckName(const std::string& option, const std::string& name) {
  if (name.empty()) throw UsageError(option, "is empty", "give a name for the reports");
  if (name.size() > kLongestName)
    throw UsageError(option, fmt::format("has {} bytes", name.size()),
                     fmt::format("at most {}", kLongestName));
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      throw UsageError(option, "holds a control character", "write it on one line");
}

std::string SettingName(const std::string& text) {
  if (text.starts_with(kOther)) {
    CheckName("--setting " + text, text.substr(std::string(kOther).size()));
    return text;
  }
  try {
    return Setting::Parse(text).Name();
  } catch (const Error& error) {
    throw UsageError(error.subject(), error.why(),
                     error.remedy() + "; a mode that is none of ours is written other:NAME");
  }
}

void CheckRequest(const ImportRequest& request) {
  CheckName("--model-name", request.model_name);
  if (!(request.temperature >= 0)) throw UsageError("--temperature", "must be 0 or more");
  if (!(request.wall_seconds >= 0)) throw UsageError("--wall-seconds", "must be 0 or more");
  if (!request.tokenizer.empty() && !Tokenizer::Exists(request.tokenizer))
    throw UsageError("--tokenizer " + request.tokenizer.string(), "holds no tokenizer.json",
                     "name the model's folder");
}

// What graders of the suite need that the file does not have.
void CheckGradable(const Suite& suite, const SampleFile& file, const std::filesystem::path& path) {
  if (file.fields.contains("tokens") && !file.fields.contains("completion") &&
      !file.fields.contains("verdict"))
    throw Error(path.string(), "has token ids without their text", "add --tokenizer DIR, or \"completion\"");
  if (!file.fields.contains("logprobs")) return;
  for (const std::string& name : suite.graders)
    if (FindChoiceMetric(name).greedy && !file.fields.contains("greedy"))
      throw Error(path.string(), fmt::format("has no \"greedy\", by which {} is graded", suite.name),
                  "add it: whether each token was the arg max");
  if (FindChoiceMetric(suite.graders.front()).norm == ChoiceNorm::kTokens &&
      !file.fields.contains("choice_tokens"))
    throw Error(
        path.string(),
        fmt::format("has no \"choice_tokens\", and {} is graded by {}", suite.name, suite.graders.front()),
        "add them");
}

std::string Named(const std::vector<std::string>& items) {
  const std::span<const std::string> first(items.data(), std::min(items.size(), kMostNamed));
  return fmt::format("{}{}", fmt::join(first, ", "), items.size() > kMostNamed ? ", ..." : "");
}

// The items that no line is about, in data order.
std::vector<std::string> MissingItems(const SampleFile& file, const TaskData& data) {
  std::set<size_t> rows;
  for (const ImportedLine& line : file.lines) rows.insert(line.row);
  std::vector<std::string> missing;
  for (size_t row = 0; row < data.items.size(); ++row)
    if (!rows.contains(row)) missing.push_back(data.items[row].id);
  return missing;
}

// The work of one import.
class Importer {
 public:
  Importer(const ImportRequest& request, Progress& progress)
      : request_(request),
        progress_(progress),
        setting_(SettingName(request.setting)),
        suite_(LoadSuite(request.suite)),
        data_(LoadItems()) {
    if (!request.think.empty()) thoughts_ = ParseMarkers(request.think, "--think");
    if (!request.tokenizer.empty()) {
      tokenizer_ = Tokenizer::Load(request.tokenizer);
      if (request.think.empty()) thoughts_ = MarkersOfModel(MarkersInFolder(request.tokenizer), *tokenizer_);
    }
    file_ = ReadSampleFile(request.file, data_);
    if (tokenizer_) DecodeTokens();
    CheckGradable(suite_, file_, request.file);
    CheckItems();
    gradable_ = file_.fields.contains("completion") || file_.fields.contains("logprobs");
    // What cannot be graded on this machine is refused before anything is stored.
    if (gradable_ && request.grade) JudgesOf(suite_, request.grading);
    result_.run = DescribeRun();
  }

  ImportResult Work() {
    {
      const std::unique_ptr<Store> store = OpenStore(request_.store, StoreMode::kReadWrite);
      store->Together([&] { Put(*store); });
    }
    if (gradable_ && request_.grade) Grade();
    Conclude(*OpenStore(request_.store, StoreMode::kReadOnly));
    return std::move(result_);
  }

 private:
  // All of the suite's: the items that its shots are drawn from may have been answered, too.
  TaskData LoadItems() const {
    TaskOptions options = request_.task;
    options.shots = 0;
    return LoadTaskData(suite_, options);
  }

  void DecodeTokens() {
    if (!file_.fields.contains("tokens"))
      throw UsageError("--tokenizer", fmt::format("{} has no \"tokens\"", request_.file.string()),
                       "leave it out");
    for (const ImportedLine& line : file_.lines)
      if (line.tokens) CheckTokens(line, *tokenizer_, request_.file);
    file_.fields.insert({"completion", "trace_tokens", "text_ends"});
  }

  void CheckItems() {
    const std::vector<std::string> missing = MissingItems(file_, data_);
    if (missing.empty()) return;
    const std::string what = fmt::format("{} of the suite's {} items are not in {}: {}", missing.size(),
                                         data_.items.size(), request_.file.string(), Named(missing));
    if (!request_.partial)
      throw Error(request_.file.string(),
                  fmt::format("lacks {} of the {} items of {}: {}", missing.size(), data_.items.size(),
                              suite_.name, Named(missing)),
                  "add --partial to import those that are there");
    result_.notes.push_back(what);
  }

  json Identity() const {
    json json = {
        {"imported",
         {{"model", request_.model_name},
          {"file_sha256", file_.sha256},
          {"layout", file_.layout},
          {"fields", file_.fields}}},
        {"suite", {{"name", suite_.name}, {"version", suite_.version}, {"definition", suite_.definition}}},
        {"data", data_.data_sha256},
        {"shots", {{"count", Shots()}}},
        {"format", FormatName(request_.task.format)},
        {"system", request_.task.system},
        {"stop_strings", Stops()},
        {"setting", setting_},
        {"sampling", {{"temperature", request_.temperature}}},
        // Ids mean the same for the same tokenizer; without one, for the same model.
        {"tokenizer", tokenizer_ ? tokenizer_->sha256() : "imported:" + request_.model_name},
    };
    if (auto thoughts = MarkersJson(thoughts_); !thoughts.is_null()) json["thoughts"] = std::move(thoughts);
    return json;
  }

  int Shots() const { return request_.task.shots.value_or(suite_.shots); }
  std::vector<std::string> Stops() const {
    if (suite_.ask != Ask::kGenerate) return {};
    return StopStrings(suite_, request_.task.format, request_.task.extra_stop_strings);
  }

  RunRecord DescribeRun() const {
    const json identity = Identity();
    RunRecord run;
    run.identity = identity.dump();
    run.key = Sha256HexOfJson(identity);
    run.suite = suite_.name;
    run.suite_version = suite_.version;
    run.ask = AskName(suite_.ask);
    run.format = FormatName(request_.task.format);
    run.shots = Shots();
    run.setting = setting_;
    run.temperature = request_.temperature;
    run.headline = gradable_ ? suite_.graders.front() : kImportedGrader;
    run.items_total = static_cast<int64_t>(data_.items.size());
    run.created = UtcNow();
    run.program_version = Version();
    return run;
  }

  ModelRecord DescribeModel() const {
    ModelRecord model;
    model.name = request_.model_name;
    model.config = json{{"imported", request_.model_name}}.dump();
    return model;
  }

  // One transaction of the store.
  void Put(Store& store) {
    RunRecord& run = result_.run;
    for (const RunRecord& other : store.Runs()) {
      if (other.key == run.key) {
        run = other;
        result_.there_already = true;
      }
    }
    if (result_.there_already) return;
    NoteOthers(store);
    run.model_id = store.AddModel(DescribeModel());
    run.id = store.AddRun(run);
    store.AddItems(run.id, Items());
    PutSamples(store);
  }

  void NoteOthers(Store& store) {
    for (const RunRecord& other : store.Runs()) {
      const std::optional<ImportedRun> imported = ImportedOf(other);
      if (imported && imported->model == request_.model_name && other.suite == suite_.name &&
          other.setting == setting_)
        result_.notes.push_back(
            fmt::format("the store has another run of {} under {}, imported from another file or otherwise "
                        "(run {}): reports show both",
                        request_.model_name, setting_, other.key.substr(0, 8)));
    }
  }

  std::vector<ItemRecord> Items() const {
    std::vector<ItemRecord> items;
    std::set<size_t> seen;
    for (const ImportedLine& line : file_.lines) {
      if (!seen.insert(line.row).second) continue;
      const Item& item = data_.items[line.row];
      items.push_back({0, item.id, static_cast<int64_t>(line.row), line.prompt, GoldText(data_, item), 0,
                       GroupsText(suite_, item)});
    }
    return items;
  }

  void PutSamples(Store& store) {
    const int64_t run_id = result_.run.id;
    std::map<int64_t, int64_t> ids;  // of items, by position
    for (const ItemRecord& item : store.Items(run_id)) ids[item.position] = item.id;
    const LeaseRecord lease = ThisProcess();
    store.ReplaceLease(run_id, "", lease);
    SessionRecord session;
    session.run_id = run_id;
    session.seconds = request_.wall_seconds;
    session.id = store.AddSession(session);
    const std::vector<std::string> stops = Stops();
    std::vector<GradeRecord> grades;
    for (const ImportedLine& line : file_.lines) {
      SampleRecord sample = SampleOfLine(line, data_, stops, tokenizer_.get());
      sample.item_id = ids.at(static_cast<int64_t>(line.row));
      const int64_t id = store.AddSample(sample, lease.token, session);
      for (const auto& [grader, outcome] : line.verdicts)
        grades.push_back({id, grader, 1, outcome, outcome == "correct" ? 1.0 : 0.0, ChosenText(line), ""});
    }
    store.AddGrades(grades);
    store.ReleaseLease(run_id, lease.token);
  }

  std::string ChosenText(const ImportedLine& line) const {
    return line.chosen ? ChoiceTexts(data_.items[line.row]).at(static_cast<size_t>(*line.chosen)) : "";
  }

  void Grade() {
    RegradeRequest request;
    request.store = request_.store;
    request.suite = request_.suite;
    request.run = result_.run.key;
    request.missing = true;
    request.grading = request_.grading;
    request.stop = request_.stop;
    const RegradeResult graded = Regrade(request, progress_);
    result_.notes.insert(result_.notes.end(), graded.notes.begin(), graded.notes.end());
    result_.stopped = graded.stopped;
    result_.ungraded = graded.stopped || graded.faults;
  }

  void Conclude(Store& store) {
    std::set<std::string> items;
    for (const SampleRecord& sample : store.Samples(result_.run.id)) {
      items.insert(sample.item);
      ++result_.samples;
      result_.faults += !sample.fault.empty();
    }
    result_.items = static_cast<int64_t>(items.size());
    for (const GradeRecord& grade : store.Grades(result_.run.id)) {
      if (grade.grader != result_.run.headline || grade.outcome == "fault") continue;
      ++result_.counted;
      result_.correct += grade.outcome == "correct";
    }
  }

  const ImportRequest& request_;
  Progress& progress_;
  const std::string setting_;
  const Suite suite_;
  const TaskData data_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  ThoughtMarkers thoughts_;
  SampleFile file_;
  bool gradable_ = false;
  ImportResult result_;
};

}  // namespace

ImportResult Import(const ImportRequest& request, Progress& progress) {
  CheckRequest(request);
  return Importer(request, progress).Work();
}

}  // namespace fullband
