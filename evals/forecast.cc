#include "evals/forecast.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "engine/decode/batch_size.h"
#include "evals/grading.h"
#include "evals/rates.h"

namespace fullband {
namespace {

// Bytes of rows with their entries in indexes, as stores of runs have them: of a sample beside its blobs and
// its text, a grade, a choice beside text and log-probabilities, an item beside prompt and gold, a run.
constexpr double kSampleBytes = 175, kGradeBytes = 31, kChoiceBytes = 25, kItemBytes = 55, kRunBytes = 2000;
// Of a generated token: five numbers of 4 bytes, and its text.
constexpr double kTokenBytes = 5 * 4 + 2;
// What pages leave free beside small rows.
constexpr double kPageWaste = 1.15;

// Rows do not share what a page has left where it is less than a row: few long prompts fill many pages.
double PagedBytes(double row) {
  constexpr double kPage = 4096, kUsable = 4060;
  const double rows = std::floor(kUsable / row);
  return rows >= 1 ? kPage / rows : kPage * std::ceil(row / kUsable);
}

// So many items of a suite tell how long the traces of its others will be.
constexpr size_t kTellingItems = 8;

// What is known of the lengths of a suite's traces.
struct Lengths {
  std::map<std::string, double> of_items;  // as Store::MeanLengths
  std::optional<double> mean;              // of these, where they are enough

  Lengths() = default;
  explicit Lengths(std::map<std::string, double> known) : of_items(std::move(known)) {
    if (of_items.size() < kTellingItems) return;
    double sum = 0;
    for (const auto& [item, length] : of_items) sum += length;
    mean = sum / static_cast<double>(of_items.size());
  }
  std::optional<double> Of(const std::string& item) const {
    const auto known = of_items.find(item);
    return known != of_items.end() ? known->second : mean;
  }
};

// What the store has of a run.
struct Stored {
  std::optional<RunRecord> record;
  std::set<std::string> items;
  std::set<std::pair<std::string, int>> committed;
};

class Forecaster {
 public:
  Forecaster(const RunnerOptions& options, Store* store) : options_(options), store_(store) {
    if (store_ == nullptr) return;
    rates_ = EarlierRates(*store_);
    for (const RunRecord& run : store_->Runs()) records_[run.key] = run;
  }

  ModelForecast Of(SweepModel* model);

 private:
  // Nothing else of the sweep asks for the samples that are wanted.
  struct Open {
    std::vector<Wanted> wanted;
    std::vector<size_t> new_items;  // questions that the store does not have in this run
    bool is_new = false;            // the run itself
  };

  // What is still to be generated.
  struct Traces {
    double tokens = 0, decode = 0;  // decode: position-forwards
  };

  Stored StoredOf(const SweepRun& run);
  Open OpenOf(const SweepRun& run, const Stored& stored, RunForecast* forecast);
  bool Graded(const SweepRun& run, const Stored& stored);
  void AddMemory(const SweepRuns& runs, const std::vector<Open>& open, ModelForecast* forecast);
  Traces AddTraces(const SweepRun& run, const Open& open, RunForecast* forecast);
  static void AddBytes(const SweepRun& run, const Open& open, const Traces& traces, RunForecast* forecast);
  void AddTime(const SweepModel& model, const SweepRuns& runs, const std::vector<Traces>& traces,
               ModelForecast* forecast);
  std::vector<RunSummary> SummariesOf(const SweepRuns& runs, const std::string& name);

  const RunnerOptions& options_;
  Store* store_;
  EarlierRates rates_;
  std::map<std::string, RunRecord> records_;
  // By key: what earlier runs of this sweep will have asked.
  std::map<std::string, std::set<std::pair<size_t, int>>> asked_;
  std::map<std::string, Lengths> lengths_;  // by suite
  std::shared_ptr<const Model> mapped_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

Stored Forecaster::StoredOf(const SweepRun& run) {
  Stored stored;
  if (const auto found = records_.find(run.key); found != records_.end()) {
    stored.record = found->second;
    for (const ItemRecord& item : store_->Items(found->second.id)) stored.items.insert(item.item);
    stored.committed = store_->Committed(found->second.id);
  }
  return stored;
}

Forecaster::Open Forecaster::OpenOf(const SweepRun& run, const Stored& stored, RunForecast* forecast) {
  Open open;
  auto& asked = asked_[run.key];
  open.is_new = !stored.record && asked.empty();
  for (size_t question = 0; question < run.task->questions.size(); ++question) {
    const std::string& item = run.task->questions[question].item;
    const auto earlier = asked.lower_bound({question, 0});
    const bool asked_before = earlier != asked.end() && earlier->first == question;
    if (!asked_before && !stored.items.contains(item)) open.new_items.push_back(question);
    for (int sample = 0; sample < run.samples; ++sample) {
      if (!asked.emplace(question, sample).second) continue;
      ++forecast->samples;
      if (stored.committed.contains({item, sample}))
        ++forecast->done;
      else
        open.wanted.push_back({question, sample});
    }
  }
  return open;
}

bool Forecaster::Graded(const SweepRun& run, const Stored& stored) {
  const std::vector<Judge> judges = JudgesOf(run.task->suite, run.plan->grading);
  return std::all_of(judges.begin(), judges.end(), [&](const Judge& judge) {
    return store_->Ungraded(stored.record->id, judge.name, judge.version).empty();
  });
}

// The positions of a run's traces: as many as are expected.
Forecaster::Traces Forecaster::AddTraces(const SweepRun& run, const Open& open, RunForecast* forecast) {
  const Task& task = *run.task;
  Traces traces;
  if (task.suite.ask == Ask::kChoose) return traces;
  if (store_ != nullptr && !lengths_.contains(task.suite.name))
    lengths_[task.suite.name] = Lengths(store_->MeanLengths(task.suite.name));
  const Lengths& lengths = lengths_[task.suite.name];
  for (const Wanted& wanted : open.wanted) {
    const Question& question = task.questions[wanted.question];
    if (!question.fault.empty()) continue;
    const std::optional<double> length = lengths.Of(question.item);
    forecast->at_most |= !length;
    const double tokens = std::min<double>(length.value_or(task.max_new_tokens), task.max_new_tokens);
    traces.tokens += tokens;
    traces.decode += std::max(tokens - 1, 0.0);  // the first comes of the prefill
  }
  forecast->positions += static_cast<int64_t>(traces.decode);
  return traces;
}

void Forecaster::AddBytes(const SweepRun& run, const Open& open, const Traces& traces,
                          RunForecast* forecast) {
  const Task& task = *run.task;
  const auto count = static_cast<double>(open.wanted.size());
  double rows = count * (kSampleBytes + kGradeBytes * static_cast<double>(task.suite.graders.size())) +
                traces.tokens * kTokenBytes;
  for (const Wanted& wanted : open.wanted)
    for (const Choice& choice : task.questions[wanted.question].choices)
      rows += kChoiceBytes + static_cast<double>(choice.text.size()) +
              4 * static_cast<double>(choice.continuation.size());
  double bytes = rows * kPageWaste + (open.is_new ? kRunBytes : 0);
  for (const size_t i : open.new_items) {
    const Question& question = task.questions[i];
    bytes += PagedBytes(kItemBytes + static_cast<double>(question.prompt_text.size() + question.gold.size()));
  }
  forecast->bytes = static_cast<int64_t>(bytes);
}

// Also counts the positions of prefill and scoring, which the engine's own scheduling tells.
void Forecaster::AddMemory(const SweepRuns& runs, const std::vector<Open>& open, ModelForecast* forecast) {
  std::vector<int> batches = {options_.engine.batch};
  if (options_.engine.batch == 0) batches = {BatchSize::kFirst, BatchSize::kMost};
  for (const int batch : batches) {
    DryRun dry(mapped_, tokenizer_, options_.engine, batch);
    for (size_t i = 0; i < runs.runs.size(); ++i) {
      const int64_t positions = AskDry(runs.runs[i], open[i].wanted, &dry.engine());
      if (batch == batches.front()) forecast->runs[i].positions = positions;
    }
    forecast->memory.push_back(MemoryOf(dry, batch));
  }
}

void Forecaster::AddTime(const SweepModel& model, const SweepRuns& runs, const std::vector<Traces>& traces,
                         ModelForecast* forecast) {
  std::unique_ptr<Engine> engine;               // only where something must be measured
  std::map<Ask, std::optional<Rate>> measured;  // a model's, by what it is asked for
  for (size_t i = 0; i < runs.runs.size(); ++i) {
    RunForecast& run = forecast->runs[i];
    if (run.done == run.samples) continue;
    std::optional<Rate> rate = rates_.For(runs.runs[i]);
    if (!rate) {
      const Ask ask = runs.runs[i].task->suite.ask;
      if (!measured.contains(ask)) {
        if (!engine) engine = std::make_unique<Engine>(model.folder, options_.engine);
        measured[ask] = MeasureRate(runs.runs[i], engine.get());
      }
      rate = measured[ask];
    }
    if (!rate) continue;
    const double decode = traces[i].decode;
    run.seconds = (static_cast<double>(run.positions) - decode) / rate->prefill + decode / rate->decode;
    run.rate = rate->from;
  }
}

std::vector<RunSummary> Forecaster::SummariesOf(const SweepRuns& runs, const std::string& name) {
  std::vector<RunSummary> summaries;
  for (const SweepRun& run : runs.runs) {
    std::set<std::string> items;
    for (const Question& question : run.task->questions) items.insert(question.item);
    summaries.push_back(Summarize(*store_, records_.at(run.key), name, items));
  }
  return summaries;
}

ModelForecast Forecaster::Of(SweepModel* model) {
  mapped_ = LoadModel(model->folder);
  tokenizer_ = Tokenizer::Load(model->folder);
  ModelIdentity identity;
  {
    DryRun dry(mapped_, tokenizer_, options_.engine, BatchSize::kFirst);
    identity = IdentifyModel(dry.engine(), WeightsSha256(*mapped_));
    identity.weights_dtype = WeightsDtype(*mapped_);
  }
  const SweepRuns runs = RunsOf(*model, identity, *tokenizer_, mapped_->config.max_positions);
  ModelForecast forecast;
  forecast.name = ModelName(model->folder);
  forecast.runs.resize(runs.runs.size());
  std::vector<Open> open;
  bool finished = true;
  for (size_t i = 0; i < runs.runs.size(); ++i) {
    const SweepRun& run = runs.runs[i];
    RunForecast& of = forecast.runs[i];
    of.suite = run.task->suite.name;
    of.setting = run.setting.Name();
    of.key = run.key;
    of.format = FormatName(run.task->format);
    of.shots = run.task->shots;
    const Stored stored = StoredOf(run);
    open.push_back(OpenOf(run, stored, &of));
    finished = finished && open.back().wanted.empty() && stored.record && Graded(run, stored);
  }
  if (finished) {
    model->finished = SummariesOf(runs, forecast.name);
    return forecast;
  }
  AddMemory(runs, open, &forecast);
  std::vector<Traces> traces;
  for (size_t i = 0; i < runs.runs.size(); ++i) {
    traces.push_back(AddTraces(runs.runs[i], open[i], &forecast.runs[i]));
    AddBytes(runs.runs[i], open[i], traces.back(), &forecast.runs[i]);
  }
  mapped_ = nullptr;  // before it is loaded
  AddTime(*model, runs, traces, &forecast);
  return forecast;
}

}  // namespace

int64_t Forecast::to_do() const {
  int64_t open = 0;
  for (const ModelForecast& model : models)
    for (const RunForecast& run : model.runs) open += run.samples - run.done;
  return open;
}

Forecast MakeForecast(const RunnerOptions& options, std::vector<SweepModel>* models) {
  std::unique_ptr<Store> store;
  if (std::filesystem::exists(options.store)) store = OpenStore(options.store, StoreMode::kReadOnly);
  Forecaster forecaster(options, store.get());
  Forecast forecast;
  for (SweepModel& model : *models) forecast.models.push_back(forecaster.Of(&model));
  return forecast;
}

}  // namespace fullband
