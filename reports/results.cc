#include "reports/results.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>

#include "common/error.h"
#include "common/hash.h"

namespace fullband {

namespace {

Result ParseResult(const std::string& outcome) {
  if (outcome == "correct") return Result::kCorrect;
  if (outcome == "incorrect") return Result::kIncorrect;
  if (outcome == "no_answer") return Result::kNoAnswer;
  if (outcome == "timeout") return Result::kTimeout;
  return Result::kFault;
}

std::string TokensSha256(const std::vector<int32_t>& tokens) {
  return Sha256Hex({reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(int32_t)});
}

SampleResult ReadSample(const SampleRecord& record) {
  SampleResult sample;
  sample.sample = record.sample;
  sample.fault = !record.fault.empty();
  sample.truncated = record.stop_reason == "length" || record.stop_reason == "context";
  sample.trace_tokens = record.trace_tokens;
  sample.tokens_sha256 = TokensSha256(record.tokens);
  if (record.choices.size() == 1) sample.only_logprob = record.choices[0].logprob;
  return sample;
}

void AddCost(const SampleRecord& record, SummedCost* cost) {
  cost->generated_tokens += record.generated_tokens;
  cost->prefill_forwards += record.prefill_forwards;
  cost->saved_forwards += record.saved_forwards;
  cost->decode_forwards += record.decode_forwards;
  cost->decode_seconds += record.decode_seconds;
}

void ReadSessions(Store& store, RunResults* results) {
  for (const SessionRecord& session : store.Sessions(results->run.id)) {
    results->cost.wall_seconds += session.seconds;
    results->cost.peak_memory_bytes = std::max(results->cost.peak_memory_bytes, session.peak_memory_bytes);
    if (results->imported) continue;  // what it ran on is not known
    const std::string machine = session.host + ": " + session.machine;
    std::vector<std::string>& machines = results->machines;
    if (std::find(machines.begin(), machines.end(), machine) == machines.end()) machines.push_back(machine);
  }
}

std::vector<GroupValue> ReadGroups(const Store& store, const ItemRecord& item) {
  const auto groups = nlohmann::ordered_json::parse(item.groups, nullptr, false);
  if (!groups.is_object())
    throw Error(store.path().string(), "the groups of item " + item.item + " are not a JSON object",
                "restore a copy");
  std::vector<GroupValue> values;
  for (const auto& [field, value] : groups.items()) {
    GroupValue& group = values.emplace_back();
    group.field = field;
    group.text = value.is_string() ? value.get<std::string>() : value.dump();
    if (value.is_number_integer()) group.number = value.get<int64_t>();
  }
  return values;
}

// The samples of an item with their verdicts by the headline grader.
struct Answered {
  std::vector<size_t> samples;  // places in ItemResult::samples
  std::vector<GradeRecord> grades;
};

// Where items have several samples: gives those of each item the numbers of their answers.
void NumberAnswers(const ReadOptions& options, const std::vector<Answered>& answered, RunResults* results) {
  if (!options.answers || results->samples_per_item < 2) return;
  for (size_t i = 0; i < answered.size(); ++i) {
    const std::optional<std::vector<int>> numbers = options.answers(results->run, answered[i].grades);
    if (!numbers) return;
    results->compares_answers = true;
    for (size_t j = 0; j < numbers->size(); ++j)
      results->items[i].samples[answered[i].samples[j]].answer = (*numbers)[j];
  }
}

RunResults ReadRun(Store& store, const RunRecord& run, const ModelRecord& model, const ReadOptions& options) {
  RunResults results;
  results.run = run;
  results.model = model;
  results.imported = ImportedOf(run);
  if (results.imported) results.model.name += " (imported)";
  std::unordered_map<int64_t, std::map<std::string, GradeResult>> grades;  // by sample id
  std::unordered_map<int64_t, GradeRecord> headlines;
  for (GradeRecord& grade : store.Grades(run.id)) {
    grades[grade.sample_id][grade.grader] = {ParseResult(grade.outcome), grade.version};
    if (grade.grader == run.headline) headlines[grade.sample_id] = std::move(grade);
  }
  std::unordered_map<int64_t, size_t> places;  // by item id
  for (const ItemRecord& item : store.Items(run.id)) {
    places[item.id] = results.items.size();
    results.items.push_back({item.item, {}, ReadGroups(store, item)});
    results.shots_dropped += item.shots_dropped > 0;
  }
  std::vector<Answered> answered(results.items.size());
  std::function<ThoughtTokens(const SampleRecord&)> count_thoughts;
  if (options.thoughts && run.ask == "generate" && results.Knows("text_ends"))
    count_thoughts = options.thoughts(run);
  store.ForEachSample(run.id, true, [&](const SampleRecord& record) {
    const auto place = places.find(record.item_id);
    if (place == places.end()) return;  // a run at work has just added it
    std::vector<SampleResult>& samples = results.items[place->second].samples;
    samples.push_back(ReadSample(record));
    if (count_thoughts && record.fault.empty()) {
      const ThoughtTokens thoughts = count_thoughts(record);
      samples.back().thought_tokens = thoughts.tokens;
      samples.back().ends_in_thought = thoughts.unfinished;
    }
    if (const auto found = grades.find(record.id); found != grades.end())
      samples.back().grades = found->second;
    if (const auto found = headlines.find(record.id); found != headlines.end()) {
      answered[place->second].samples.push_back(samples.size() - 1);
      answered[place->second].grades.push_back(std::move(found->second));
    }
    results.samples_per_item = std::max(results.samples_per_item, static_cast<int>(samples.size()));
    AddCost(record, &results.cost);
  });
  NumberAnswers(options, answered, &results);
  ReadSessions(store, &results);
  return results;
}

// Mode, passes, control: a setting's name is mode[@passes][:control].
std::tuple<int, long, std::string, std::string> SettingRank(const std::string& name) {
  const std::string mode = name.substr(0, name.find_first_of("@:"));
  const size_t colon = name.find(':');
  const std::string control = colon == std::string::npos ? "" : name.substr(colon + 1);
  const size_t at = name.find('@');
  long passes = 1;
  if (at != std::string::npos) {
    const std::string text = name.substr(at + 1, colon == std::string::npos ? colon : colon - at - 1);
    passes = text == "exact" ? std::numeric_limits<long>::max() : std::strtol(text.c_str(), nullptr, 10);
  }
  const int order = mode == "standard" ? 0 : mode == "latent" ? 1 : mode == "parallel" ? 2 : 3;
  return {order, passes, control, name};
}

bool RunBefore(const RunResults& a, const RunResults& b) {
  const auto place = [](const RunResults& r) {
    return std::tie(r.run.suite, r.model.name, r.model.weights_sha256, r.model.id, r.run.format, r.run.shots);
  };
  if (place(a) != place(b)) return place(a) < place(b);
  if (a.run.setting != b.run.setting) return SettingBefore(a.run.setting, b.run.setting);
  return a.run.id < b.run.id;
}

}  // namespace

Result SampleResult::Of(const std::string& grader) const {
  if (fault) return Result::kFault;
  const auto found = grades.find(grader);
  return found == grades.end() ? Result::kUngraded : found->second.result;
}

bool SettingBefore(const std::string& a, const std::string& b) { return SettingRank(a) < SettingRank(b); }

std::vector<RunResults> ReadResults(Store& store, const ReadOptions& options) {
  const std::vector<RunRecord> runs = store.Runs();
  // After the runs, so that none lacks its model where another process adds both in between.
  std::map<int64_t, ModelRecord> models;
  for (const ModelRecord& model : store.Models()) models[model.id] = model;
  std::vector<RunResults> all;
  for (const RunRecord& run : runs) {
    if (!options.wanted || options.wanted(run))
      all.push_back(ReadRun(store, run, models.at(run.model_id), options));
  }
  std::sort(all.begin(), all.end(), RunBefore);
  return all;
}

}  // namespace fullband
