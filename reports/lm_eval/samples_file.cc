#include "reports/lm_eval/samples_file.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/hash.h"
#include "reports/figures.h"
#include "reports/lm_eval/results_file.h"

namespace fullband::lm_eval {
namespace {

// What the harness writes where a filter finds no answer.
constexpr char kNoAnswer[] = "[invalid]";

std::string Dump(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// Whether the suite's questions have the choices in them (partial evaluation), as its definition says.
bool AsksContexts(const Json& identity, const std::string& format) {
  const Json::json_pointer place("/suite/definition/" + format + "/question");
  if (!identity.is_object() || !identity.contains(place) || !identity.at(place).is_string()) return false;
  return identity.at(place).get<std::string>().find("{choice}") != std::string::npos;
}

// The samples of one item, with what each grader extracted.
struct Answers {
  std::vector<SampleRecord> samples;
  std::vector<std::map<std::string, std::string>> extracted;
};

class Writer {
 public:
  Writer(const RunResults& run, Store& store, std::ostream& out)
      : run_(run),
        store_(store),
        out_(out),
        identity_(Json::parse(run.run.identity, nullptr, false)),
        metrics_(MetricsOf(run)),
        filters_(FiltersOf(metrics_)),
        generates_(run.run.ask == "generate"),
        contexts_(AsksContexts(identity_, run.run.format)) {}

  std::string Write() {
    for (ItemRecord& item : store_.Items(run_.run.id)) items_[item.id] = std::move(item);
    for (const ItemResult& item : run_.items) results_[item.item] = &item;
    for (GradeRecord& grade : store_.Grades(run_.run.id))
      extracted_[grade.sample_id][grade.grader] =
          grade.outcome == "no_answer" ? std::string(kNoAnswer) : std::move(grade.extracted);
    int64_t current = -1;
    Answers answers;
    store_.ForEachSample(run_.run.id, !generates_, [&](const SampleRecord& sample) {
      if (sample.item_id != current) WriteItem(current, answers);
      if (sample.item_id != current) answers = {};
      current = sample.item_id;
      if (!sample.fault.empty()) return;
      answers.samples.push_back(sample);
      answers.extracted.push_back(extracted_[sample.id]);
    });
    WriteItem(current, answers);
    return Sha256Hex(hashes_);
  }

 private:
  void WriteItem(int64_t id, const Answers& answers) {
    if (id < 0 || answers.samples.empty()) return;
    const ItemRecord& item = items_.at(id);
    const auto result = results_.find(item.item);
    if (result == results_.end()) return;  // added since the results were read
    const Json common = Common(item, answers);
    for (const std::string& filter : filters_) {
      Json line = common;
      line["filtered_resps"] = Filtered(answers, filter);
      line["filter"] = filter;
      Json names = Json::array(), values = Json::object();
      for (const Metric& metric : metrics_) {
        if (metric.filter != filter) continue;
        const std::optional<double> score = ItemScore(*result->second, metric.grader);
        if (!score) continue;
        names.push_back(metric.name);
        values[metric.name] = *score;
      }
      if (names.empty()) continue;
      if (const SampleRecord& first = answers.samples.front();
          run_.run.headline == "greedy" && !first.choices.empty()) {
        names.push_back("perplexity");
        values["perplexity"] = first.choices.front().logprob;
      }
      line["metrics"] = names;
      AddHashes(common, &line);
      line.update(values);
      out_ << Dump(line) << '\n';
    }
  }

  Json Common(const ItemRecord& item, const Answers& answers) const {
    Json line;
    line["doc_id"] = item.position;
    line["doc"] = {{"item", item.item},
                   {"suite", run_.run.suite},
                   {"data_sha256", identity_.value("data", "")},
                   {"prompt", item.prompt},
                   {"gold", item.gold}};
    const Json groups = Json::parse(item.groups, nullptr, false);
    for (const auto& [field, value] : groups.items()) line["doc"][field] = value;
    line["target"] = item.gold;
    line["arguments"] = Arguments(item, answers.samples.front());
    line["resps"] = Json::array();
    if (generates_) {
      Json texts = Json::array();
      for (const SampleRecord& sample : answers.samples) texts.push_back(sample.text);
      line["resps"].push_back(texts);
    } else {
      for (const ChoiceRecord& choice : answers.samples.front().choices)
        line["resps"].push_back(Json::array({Score(choice)}));
    }
    return line;
  }

  // The harness writes numbers out here.
  static Json Score(const ChoiceRecord& choice) {
    return Json::array({fmt::format("{}", choice.logprob), choice.greedy ? "True" : "False"});
  }

  Json Arguments(const ItemRecord& item, const SampleRecord& sample) const {
    Json arguments = Json::object();
    if (generates_) {
      arguments["gen_args_0"] = {{"arg_0", item.prompt}, {"arg_1", GenerationOptions(identity_, run_.run)}};
      return arguments;
    }
    for (size_t i = 0; i < sample.choices.size(); ++i) {
      const auto [context, continuation] = Scored(item.prompt, sample.choices, i);
      arguments[fmt::format("gen_args_{}", i)] = {{"arg_0", context}, {"arg_1", continuation}};
    }
    return arguments;
  }

  // What was scored of a choice, and after what. Where the contexts differ, the prompt is the first one's,
  // and the continuation, which all share, is not kept.
  std::pair<std::string, std::string> Scored(const std::string& prompt,
                                             const std::vector<ChoiceRecord>& choices, size_t i) const {
    const std::string& first = choices.front().text;
    if (!contexts_ || !prompt.ends_with(first)) return {prompt, choices[i].text};
    return {prompt.substr(0, prompt.size() - first.size()) + choices[i].text, ""};
  }

  Json Filtered(const Answers& answers, const std::string& filter) const {
    if (!generates_) {
      Json scores = Json::array();
      for (const ChoiceRecord& choice : answers.samples.front().choices) scores.push_back(Score(choice));
      return scores;
    }
    std::string grader;
    for (const Metric& metric : metrics_)
      if (grader.empty() && metric.filter == filter) grader = metric.grader;
    Json found = Json::array();
    for (const auto& extracted : answers.extracted) {
      const auto text = extracted.find(grader);
      found.push_back(text == extracted.end() ? std::string() : text->second);
    }
    return found.size() == 1 ? found : Json::array({found});
  }

  // As the harness hashes: the document's own text with an indent of two, the first prompt, the target.
  void AddHashes(const Json& common, Json* line) {
    const std::string doc = Sha256Hex(Dump(common.at("doc"), 2));
    const std::string prompt = Sha256Hex(common.at("doc").at("prompt").get<std::string>());
    const std::string target = Sha256Hex(common.at("target").get<std::string>());
    (*line)["doc_hash"] = doc;
    (*line)["prompt_hash"] = prompt;
    (*line)["target_hash"] = target;
    hashes_ += doc + prompt + target;
  }

  const RunResults& run_;
  Store& store_;
  std::ostream& out_;
  const Json identity_;
  const std::vector<Metric> metrics_;
  const std::vector<std::string> filters_;
  const bool generates_, contexts_;
  std::map<int64_t, ItemRecord> items_;
  std::map<std::string, const ItemResult*> results_;
  std::map<int64_t, std::map<std::string, std::string>> extracted_;  // by sample
  std::string hashes_;
};

}  // namespace

bool HasSamples(const RunResults& run) { return run.Knows("completion") || run.Knows("logprobs"); }

std::string WriteSamples(const RunResults& run, Store& store, std::ostream& out) {
  return Writer(run, store, out).Write();
}

}  // namespace fullband::lm_eval
