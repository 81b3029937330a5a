#include "tests/reports/synthetic_store.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/hash.h"

namespace fullband {

namespace {

int64_t AddModel(Store& store, const std::string& name) {
  ModelRecord model;
  model.weights_sha256 = name == "toy-1m" ? std::string(64, 'c') : Sha256Hex(name);
  model.name = name;
  model.folder = "models/" + name;
  model.architecture = "FullBandwidthLlamaForCausalLM";
  model.fusion = "glu";
  model.parameters = 1'048'576;
  model.dtype = "bfloat16";
  model.config = "{}";
  return store.AddModel(model);
}

std::vector<ItemRecord> MakeItems(const SyntheticRun& run) {
  std::vector<ItemRecord> items;
  const auto add = [&](const std::string& name, const std::string& groups) {
    items.push_back({0, name, static_cast<int64_t>(items.size()), "Question", "7", 0, groups});
  };
  for (const SyntheticSample& sample : run.samples)
    if (items.empty() || items.back().item != sample.item) add(sample.item, sample.groups);
  for (const std::string& item : run.open_items) add(item, "{}");
  return items;
}

RunRecord MakeRun(const SyntheticRun& run, int64_t model_id) {
  RunRecord record;
  nlohmann::json identity = {
      {"setting", run.setting}, {"suite", run.suite}, {"max_new_tokens", run.max_new_tokens}};
  if (run.model != "toy-1m") identity["weights"] = run.model;
  if (!run.chat_template.empty()) {
    identity["chat_template"] = run.chat_template;
    identity["system"] = run.system;
  }
  record.identity = identity.dump();
  record.key = Sha256HexOfJson(identity);
  record.model_id = model_id;
  record.suite = run.suite;
  record.ask = run.choose ? "choose" : "generate";
  record.format = run.chat_template.empty() ? "completion" : "chat";
  record.shots = 5;
  record.setting = run.setting;
  record.headline = run.choose ? "acc" : "number";
  record.items_total = run.items_total > 0 ? run.items_total : static_cast<int64_t>(MakeItems(run).size());
  record.created = "2026-01-31T12:00:00.000Z";
  record.program_version = "0.1.0";
  return record;
}

SampleRecord MakeSample(const SyntheticSample& sample, int64_t item_id) {
  SampleRecord record;
  record.item_id = item_id;
  record.fault = sample.outcome == "fault" ? "a state is not finite" : "";
  record.stop_reason = sample.stop_reason;
  record.prompt_tokens = 100;
  record.prefill_forwards = 60;
  record.saved_forwards = 40;
  record.finished = "2026-01-31T12:00:01.000Z";
  if (!record.fault.empty()) return record;
  if (sample.logprob) {
    ChoiceRecord choice;
    choice.text = " word";
    choice.tokens = choice.characters = choice.bytes = 1;
    choice.logprob = *sample.logprob;
    choice.logprobs = {static_cast<float>(*sample.logprob)};
    choice.gold = true;
    record.choices = {choice};
  }
  // An end token stands behind the trace.
  record.generated_tokens = sample.length + (sample.stop_reason == "end" ? 1 : 0);
  record.trace_tokens = sample.length;
  record.decode_forwards = record.generated_tokens - 1;
  record.decode_seconds = 0.5;
  record.tokens.resize(static_cast<size_t>(record.generated_tokens));
  std::iota(record.tokens.begin(), record.tokens.end(), 0);
  for (std::vector<int32_t>* values : {&record.text_ends, &record.runner_ups}) *values = record.tokens;
  for (std::vector<float>* values : {&record.logprobs, &record.runner_up_logprobs})
    values->resize(record.tokens.size());
  return record;
}

GradeRecord MakeGrade(int64_t sample_id, const std::string& grader, const std::string& outcome,
                      const std::string& extracted) {
  return {sample_id, grader, 1, outcome, outcome == "correct" ? 1.0 : 0.0, extracted, ""};
}

}  // namespace

int64_t AddSyntheticRun(Store& store, const SyntheticRun& run) {
  const int64_t run_id = store.AddRun(MakeRun(run, AddModel(store, run.model)));
  store.AddItems(run_id, MakeItems(run));
  store.ReplaceLease(run_id, "", {"host", 1, "process", "token", UtcNow()});
  SessionRecord session;
  session.run_id = run_id;
  session.host = "host";
  session.machine = "processor, AVX2";
  session.started = "2026-01-31T12:00:00.000Z";
  session.id = store.AddSession(session);
  const std::vector<ItemRecord> items = store.Items(run_id);
  std::vector<GradeRecord> grades;
  std::map<std::string, int> asked;  // item -> samples so far
  for (const SyntheticSample& sample : run.samples) {
    const auto item = std::find_if(items.begin(), items.end(),
                                   [&](const ItemRecord& record) { return record.item == sample.item; });
    SampleRecord record = MakeSample(sample, item->id);
    record.sample = asked[sample.item]++;
    const int64_t id = store.AddSample(record, "token", session);
    if (sample.outcome != "" && sample.outcome != "fault")
      grades.push_back(MakeGrade(id, run.choose ? "acc" : "number", sample.outcome, sample.extracted));
    if (!sample.strict.empty())
      grades.push_back(MakeGrade(id, run.choose ? "acc_norm" : "lmeval_strict", sample.strict, "7"));
  }
  store.AddGrades(grades);
  store.UpdateSession(session.id, 8, int64_t{64} << 20);
  store.ReleaseLease(run_id, "token");
  return run_id;
}

}  // namespace fullband
