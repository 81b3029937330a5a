// Stores of a run with known texts, made without a model.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "evals/store/store.h"
#include "tasks/suite.h"

namespace fullband {

// Its tokens are the text's bytes and, where it ended so, an end token.
struct GradedSample {
  std::string item, gold, text;
  std::string fault = {};
  std::string stop_reason = "end";
};

inline void AddTokens(const std::string& stop_reason, SampleRecord* record) {
  record->stop_reason = stop_reason;
  for (const char c : record->text) {
    record->tokens.push_back(static_cast<unsigned char>(c));
    record->text_ends.push_back(static_cast<int32_t>(record->tokens.size()));
  }
  record->trace_tokens = static_cast<int64_t>(record->tokens.size());
  if (stop_reason == "end") {
    record->tokens.push_back(256);
    record->text_ends.push_back(static_cast<int32_t>(record->text.size()));
  }
  record->generated_tokens = static_cast<int64_t>(record->tokens.size());
}

// Adds a run of the suite in this setting, as `fullband run` would; nothing is graded. Further samples of an
// item stand behind its first. Returns its id.
inline int64_t AddUngradedRun(Store& store, const Suite& suite, const std::string& setting,
                              const std::vector<GradedSample>& samples, const nlohmann::json& more = {}) {
  ModelRecord model;
  model.name = "made";
  RunRecord run;
  nlohmann::json identity = {
      {"suite", {{"name", suite.name}, {"version", suite.version}, {"definition", suite.definition}}},
      {"setting", setting}};
  if (more.is_object()) identity.update(more);
  run.identity = identity.dump();
  run.key = setting + "-" + suite.name;
  run.model_id = store.AddModel(model);
  run.suite = suite.name;
  run.suite_version = suite.version;
  run.ask = AskName(suite.ask);
  run.format = "completion";
  run.setting = setting;
  run.headline = suite.graders.front();
  run.id = store.AddRun(run);
  std::vector<ItemRecord> items;
  for (const GradedSample& sample : samples)
    if (items.empty() || items.back().item != sample.item)
      items.push_back({0, sample.item, static_cast<int64_t>(items.size()), "Question", sample.gold, 0, "{}"});
  store.AddItems(run.id, items);
  items = store.Items(run.id);
  store.ReplaceLease(run.id, "", {"host", 1, "process", "token", UtcNow()});
  SessionRecord session;
  session.run_id = run.id;
  session.id = store.AddSession(session);
  size_t item = 0;
  int index = 0;
  for (size_t i = 0; i < samples.size(); ++i, ++index) {
    if (i > 0 && samples[i].item != samples[i - 1].item) {
      ++item;
      index = 0;
    }
    SampleRecord record;
    record.item_id = items.at(item).id;
    record.sample = index;
    record.fault = samples[i].fault;
    record.text = samples[i].text;
    if (record.fault.empty()) AddTokens(samples[i].stop_reason, &record);
    record.finished = UtcNow();
    store.AddSample(record, "token", session);
  }
  store.ReleaseLease(run.id, "token");
  return run.id;
}

}  // namespace fullband
