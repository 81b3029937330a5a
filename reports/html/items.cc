#include "reports/html/items.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>

#include "reports/html/divergence.h"
#include "reports/html/encode.h"
#include "reports/results.h"

namespace fullband {
namespace {

using Json = nlohmann::json;

constexpr size_t kLongestGold = 120;  // bytes of a reference that the index shows

std::string AskedAs(const RunRecord& run) {
  std::string text = fmt::format("{}, {} shot{}", run.format, run.shots, run.shots == 1 ? "" : "s");
  if (run.temperature > 0) text += fmt::format(", T {:g}", run.temperature);
  return text;
}

char OutcomeLetter(const std::string& outcome) {
  if (outcome == "correct" || outcome == "incorrect" || outcome == "no_answer" || outcome == "timeout")
    return outcome[0];
  return outcome.empty() ? 'u' : 'f';
}

bool Truncated(const SampleRecord& sample) {
  return sample.stop_reason == "length" || sample.stop_reason == "context";
}

// At most `bytes` of the text's beginning, no character broken.
std::string_view Beginning(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (text[bytes] & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

std::string_view Ending(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  size_t begin = text.size() - bytes;
  while (begin < text.size() && (text[begin] & 0xC0) == 0x80) ++begin;
  return text.substr(begin);
}

double Rounded(double logprob) { return std::round(logprob * 1e4) / 1e4; }

// UTF-16 units of the text that each token ends.
Json TokenLengths(const SampleRecord& sample) {
  Json lengths = Json::array();
  Utf16Units units(sample.text);
  size_t before = 0;
  for (const int32_t end : sample.text_ends) {
    const size_t at = units.Of(std::min(static_cast<size_t>(std::max(end, 0)), sample.text.size()));
    lengths.push_back(at - before);
    before = at;
  }
  return lengths;
}

// What the model took at token `at`, and what it would have taken next.
Json TokenAt(const SampleRecord& sample, size_t at, const std::vector<int32_t>& end_tokens) {
  const auto number = [&](const std::vector<float>& values) {
    return at < values.size() ? Json(Rounded(values[at])) : Json(nullptr);
  };
  const int32_t id = sample.tokens[at];
  const bool end = std::find(end_tokens.begin(), end_tokens.end(), id) != end_tokens.end();
  return {id, number(sample.logprobs),
          at < sample.runner_ups.size() ? Json(sample.runner_ups[at]) : Json(nullptr),
          number(sample.runner_up_logprobs), end};
}

}  // namespace

// Each text once, in order of appearance, so that what is alike stands close together and packs well.
class HtmlItems::Texts {
 public:
  explicit Texts(size_t longest) : longest_(longest) {}
  size_t Place(const std::string& text) {
    const auto [found, is_new] = places_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(Shown(text));
    return found->second;
  }
  Json Take() { return std::move(texts_); }

 private:
  Json Shown(const std::string& text) const {
    if (text.size() <= longest_) return ValidUtf8(text);
    const std::string_view begin = Beginning(text, longest_ - longest_ / 4);
    const std::string_view end = Ending(text, longest_ / 4);
    const std::string_view between =
        std::string_view(text).substr(begin.size(), text.size() - begin.size() - end.size());
    return {ValidUtf8(begin), Utf16Units(between).Of(between.size()), ValidUtf8(end)};
  }
  size_t longest_;
  Json texts_ = Json::array();
  std::unordered_map<std::string, size_t> places_;
};

HtmlItems::HtmlItems(Store& store, const HtmlItemsOptions& options) : store_(store), options_(options) {
  ReadRuns();
  size_t block = 0;
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (suites_.empty() || suites_.back().name != runs_[i].record.suite) {
      suites_.emplace_back();
      suites_.back().name = runs_[i].record.suite;
      suites_.back().first_run = i;
    }
    ++suites_.back().runs;
  }
  for (Suite& suite : suites_) {
    ReadItems(&suite);
    for (size_t i = 0; i < suite.runs; ++i) ReadSamples(&runs_[suite.first_run + i]);
    suite.first_block = block;
    block += (suite.items.size() + options_.items_in_block - 1) / options_.items_in_block;
  }
  PlaceColumns();
}

// Sorted as reports sort them: suite, model, format, shots, setting, age.
void HtmlItems::ReadRuns() {
  std::map<int64_t, ModelRecord> models;
  std::vector<RunRecord> records = store_.Runs();
  for (ModelRecord& model : store_.Models()) models[model.id] = std::move(model);
  for (RunRecord& record : records) {
    Run run;
    run.imported = ImportedOf(record);
    run.model = models.at(record.model_id).name + (run.imported ? " (imported)" : "");
    run.asked = AskedAs(record);
    const Json identity = Json::parse(record.identity, nullptr, false);
    if (identity.is_object()) {
      run.tokenizer = identity.value("tokenizer", "");
      run.end_tokens = identity.value("end_tokens", std::vector<int32_t>{});
    }
    if (run.tokenizer.empty()) run.tokenizer = fmt::format("of model {}", record.model_id);
    run.record = std::move(record);
    runs_.push_back(std::move(run));
  }
  std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) {
    const auto place = [](const Run& run) {
      return std::tie(run.record.suite, run.model, run.record.model_id, run.record.format, run.record.shots);
    };
    if (place(a) != place(b)) return place(a) < place(b);
    if (a.record.setting != b.record.setting) return SettingBefore(a.record.setting, b.record.setting);
    return a.record.id < b.record.id;
  });
}

// The items that any of a suite's runs was asked, in data order.
void HtmlItems::ReadItems(Suite* suite) {
  struct Place {
    int64_t position = 0;
    std::string gold;
    std::vector<int64_t> ids;  // by run
  };
  std::map<std::string, Place> found;
  for (size_t i = 0; i < suite->runs; ++i) {
    for (ItemRecord& item : store_.Items(runs_[suite->first_run + i].record.id)) {
      const auto [place, is_new] = found.try_emplace(std::move(item.item));
      if (is_new) place->second = {item.position, item.gold, std::vector<int64_t>(suite->runs)};
      place->second.ids[i] = item.id;
    }
  }
  std::vector<std::map<std::string, Place>::const_iterator> order;
  for (auto place = found.cbegin(); place != found.cend(); ++place) order.push_back(place);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a->second.position < b->second.position; });
  for (const auto& place : order) {
    suite->items.push_back(place->first);
    suite->golds.emplace_back(Beginning(place->second.gold, kLongestGold));
    for (size_t i = 0; i < suite->runs; ++i)
      runs_[suite->first_run + i].item_ids.push_back(place->second.ids[i]);
  }
}

void HtmlItems::ReadSamples(Run* run) {
  struct Row {
    int64_t id;
    char outcome;
    int64_t tokens;
  };
  std::unordered_map<int64_t, std::vector<Row>> rows;  // by item id
  std::unordered_map<int64_t, char> verdicts;          // by sample id
  for (const GradeRecord& grade : store_.Grades(run->record.id))
    if (grade.grader == run->record.headline) verdicts[grade.sample_id] = OutcomeLetter(grade.outcome);
  const bool lengths = run->record.ask == "generate" && run->Knows("trace_tokens");
  store_.ForEachSample(run->record.id, false, [&](const SampleRecord& sample) {
    const auto verdict = verdicts.find(sample.id);
    char outcome = verdict == verdicts.end() ? 'u' : verdict->second;
    if (!sample.fault.empty()) outcome = 'f';
    if (Truncated(sample)) outcome = static_cast<char>(outcome - 'a' + 'A');
    std::vector<Row>& there = rows[sample.item_id];
    there.push_back({sample.id, outcome, lengths && sample.fault.empty() ? sample.trace_tokens : -1});
    run->samples = std::max(run->samples, there.size());
  });
  for (const int64_t id : run->item_ids) {
    const auto there = rows.find(id);
    for (size_t i = 0; i < run->samples; ++i) {
      const bool has = there != rows.end() && i < there->second.size();
      run->sample_ids.push_back(has ? there->second[i].id : 0);
      run->outcomes += has ? there->second[i].outcome : '-';
      run->trace_tokens.push_back(has ? there->second[i].tokens : -1);
    }
  }
}

// Runs of one model and setting share a column over all suites; where a suite has several such runs, the
// first ones do, the second ones, and so on.
void HtmlItems::PlaceColumns() {
  std::map<std::tuple<std::string, int64_t, std::string, size_t>, size_t> columns;
  for (const Suite& suite : suites_) {
    std::map<std::pair<int64_t, std::string>, size_t> seen;
    for (size_t i = suite.first_run; i < suite.first_run + suite.runs; ++i) {
      const RunRecord& run = runs_[i].record;
      const size_t again = seen[{run.model_id, run.setting}]++;
      columns.try_emplace({runs_[i].model, run.model_id, run.setting, again});
      runs_[i].column = again;  // until all columns are known
    }
  }
  std::vector<std::tuple<std::string, int64_t, std::string, size_t>> order;
  for (const auto& [column, place] : columns) order.push_back(column);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    const auto model = [](const auto& column) { return std::tie(std::get<0>(column), std::get<1>(column)); };
    if (model(a) != model(b)) return model(a) < model(b);
    if (std::get<2>(a) != std::get<2>(b)) return SettingBefore(std::get<2>(a), std::get<2>(b));
    return std::get<3>(a) < std::get<3>(b);
  });
  for (const auto& column : order) {
    columns[column] = columns_.size();
    columns_.push_back({std::get<0>(column), std::get<2>(column)});
  }
  for (Run& run : runs_)
    run.column = columns.at({run.model, run.record.model_id, run.record.setting, run.column});
}

size_t HtmlItems::size() const {
  size_t items = 0;
  for (const Suite& suite : suites_) items += suite.items.size();
  return items;
}

size_t HtmlItems::blocks() const {
  if (suites_.empty()) return 0;
  const Suite& last = suites_.back();
  return last.first_block + (last.items.size() + options_.items_in_block - 1) / options_.items_in_block;
}

Json HtmlItems::Index() const {
  Json index = {{"block", options_.items_in_block}};
  for (const char* list : {"columns", "suites", "runs"}) index[list] = Json::array();
  for (const Column& column : columns_)
    index["columns"].push_back({{"model", ValidUtf8(column.model)}, {"setting", ValidUtf8(column.setting)}});
  for (const Suite& suite : suites_) {
    Json entry = {{"name", ValidUtf8(suite.name)}, {"first", suite.first_block}};
    for (const char* list : {"runs", "items", "golds"}) entry[list] = Json::array();
    for (size_t i = 0; i < suite.runs; ++i) entry["runs"].push_back(suite.first_run + i);
    for (const std::string& item : suite.items) entry["items"].push_back(ValidUtf8(item));
    for (const std::string& gold : suite.golds) entry["golds"].push_back(ValidUtf8(gold));
    const size_t place = index["suites"].size();
    for (size_t i = suite.first_run; i < suite.first_run + suite.runs; ++i) {
      const Run& run = runs_[i];
      const bool lengths = run.record.ask == "generate" && run.Knows("trace_tokens");
      index["runs"].push_back({{"suite", place},
                               {"column", run.column},
                               {"key", run.record.key.substr(0, 8)},
                               {"asked", ValidUtf8(run.asked)},
                               {"ask", run.record.ask},
                               {"headline", ValidUtf8(run.record.headline)},
                               {"samples", run.samples},
                               {"stops", run.record.ask == "generate" && run.Knows("stop_reason")},
                               {"outcomes", run.outcomes},
                               {"tokens", lengths ? Json(run.trace_tokens) : Json(nullptr)}});
    }
    index["suites"].push_back(std::move(entry));
  }
  return index;
}

Json HtmlItems::Block(size_t i) const {
  const auto after =
      std::upper_bound(suites_.begin(), suites_.end(), i,
                       [](size_t block, const Suite& suite) { return block < suite.first_block; });
  // Of suites without items, which have no blocks, the last one stands before `after`, and starts there too.
  const Suite& suite = *std::prev(after);
  const size_t begin = (i - suite.first_block) * options_.items_in_block;
  const size_t end = std::min(begin + options_.items_in_block, suite.items.size());
  Texts texts(options_.longest_text);
  Json items = Json::array();
  for (size_t item = begin; item < end; ++item) items.push_back(Item(suite, item, &texts));
  return {{"i", std::move(items)}, {"t", texts.Take()}};
}

Json HtmlItems::Item(const Suite& suite, size_t item, Texts* texts) const {
  struct Traced {
    size_t run, place;
    SampleRecord sample;
  };
  std::map<std::string, std::vector<Traced>> traced;  // by what their ids mean
  Json runs = Json::array();
  for (size_t i = 0; i < suite.runs; ++i) {
    const Run& run = runs_[suite.first_run + i];
    if (run.item_ids[item] == 0) {
      runs.push_back(nullptr);
      continue;
    }
    const ItemRecord record = store_.Item(run.item_ids[item]);
    Json entry = {{"p", texts->Place(record.prompt)}, {"g", texts->Place(record.gold)}, {"s", Json::array()}};
    if (record.shots_dropped > 0) entry["d"] = record.shots_dropped;
    for (size_t j = 0; j < run.samples; ++j) {
      const int64_t id = run.sample_ids[item * run.samples + j];
      if (id == 0) continue;
      SampleRecord sample = store_.SampleWithGold(id).first;
      entry["s"].push_back(Sample(run, sample, texts));
      if (sample.fault.empty() && run.record.ask == "generate" && run.Knows("tokens"))
        traced[run.tokenizer].push_back({i, entry["s"].size() - 1, std::move(sample)});
    }
    runs.push_back(std::move(entry));
  }
  Json shared = Json::array();
  for (const auto& [tokenizer, samples] : traced) {
    std::vector<std::span<const int32_t>> traces;
    for (const Traced& trace : samples) traces.emplace_back(trace.sample.tokens);
    const SharedBeginnings beginnings = ShareBeginnings(traces);
    Json members = Json::array(), lengths = Json::array();
    for (size_t place = 0; place < traces.size(); ++place) {
      const Traced& trace = samples[beginnings.order[place]];
      members.push_back({trace.run, trace.place});
      lengths.push_back(trace.sample.tokens.size());
      Json& entry = runs[trace.run]["s"][trace.place];
      for (const size_t at : Partings(beginnings, place, traces))
        if (at < trace.sample.tokens.size())
          entry["e"][std::to_string(at)] =
              TokenAt(trace.sample, at, runs_[suite.first_run + trace.run].end_tokens);
    }
    shared.push_back({{"m", std::move(members)}, {"n", std::move(lengths)}, {"p", beginnings.shared}});
  }
  return {{"r", std::move(runs)}, {"l", std::move(shared)}};
}

Json HtmlItems::Sample(const Run& run, const SampleRecord& sample, Texts* texts) const {
  Json entry = {{"n", sample.sample}};
  const std::vector<GradeRecord> all = store_.GradesOfSample(sample.id);
  for (size_t i = 0; i < all.size(); ++i) {
    if (i + 1 < all.size() && all[i + 1].grader == all[i].grader) continue;  // a newer version follows
    entry["v"].push_back({texts->Place(all[i].grader), all[i].outcome, texts->Place(all[i].extracted),
                          texts->Place(all[i].detail)});
  }
  if (!sample.fault.empty()) {
    entry["f"] = texts->Place(sample.fault);
    return entry;
  }
  for (const ChoiceRecord& choice : sample.choices)
    entry["c"].push_back({texts->Place(choice.text), Rounded(choice.logprob),
                          run.Knows("choice_tokens") ? Json(choice.tokens) : Json(nullptr), choice.greedy,
                          choice.gold});
  const auto known = [&](const char* field, int64_t count) {
    return run.Knows(field) ? Json(count) : Json(nullptr);
  };
  if (run.record.ask != "generate") {
    entry["k"] = {known("prompt_tokens", sample.prompt_tokens), nullptr, nullptr};
    return entry;
  }
  entry["k"] = {known("prompt_tokens", sample.prompt_tokens),
                known("generated_tokens", sample.generated_tokens),
                known("trace_tokens", sample.trace_tokens)};
  if (run.Knows("stop_reason")) entry["s"] = sample.stop_reason;
  if (run.Knows("completion") || !sample.text.empty()) entry["x"] = texts->Place(sample.text);
  if (run.Knows("text_ends") && !sample.text_ends.empty()) entry["w"] = TokenLengths(sample);
  return entry;
}

}  // namespace fullband
