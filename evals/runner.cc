#include "evals/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/hash.h"
#include "common/paths.h"
#include "evals/grading.h"
#include "evals/machine.h"
#include "evals/order.h"
#include "evals/requests.h"
#include "evals/sample.h"
#include "evals/sample_thoughts.h"

namespace fullband {
namespace {

using Clock = std::chrono::steady_clock;

// A sample that the engine is at: one request for a completion, one a choice for choices.
struct InFlight {
  Wanted wanted;
  std::vector<Answer> answers;
  size_t submitted = 0, answered = 0;
  std::string fault;  // why not all of it could be asked
};

// Fisher-Yates over a counter-based stream: the same order on every platform.
void Shuffle(std::vector<size_t>* order, uint64_t seed) {
  for (size_t i = order->size(); i > 1; --i) std::swap((*order)[i - 1], (*order)[Mix64(Mix64(seed) + i) % i]);
}

RunRecord DescribeRun(const RunIdentity& identity, const Task& task, int64_t model_id) {
  RunRecord run;
  run.identity = IdentityJson(identity).dump();
  run.key = RunKey(identity);
  run.model_id = model_id;
  run.suite = task.suite.name;
  run.suite_version = task.suite.version;
  run.ask = AskName(task.suite.ask);
  run.format = FormatName(task.format);
  run.shots = task.shots;
  run.setting = identity.setting;
  run.temperature = identity.sampling.temperature;
  run.seed = identity.sampling.seed;
  run.headline = task.suite.graders.front();
  run.items_total = static_cast<int64_t>(task.items_total);
  run.created = UtcNow();
  run.program_version = Version();
  return run;
}

// The work of one process on one run.
class Session {
 public:
  Session(Engine& engine, Store& store, Progress& progress, const RunnerOptions& options, const Task& task,
          const Setting& setting, const Sampling& sampling, const RunRecord& run)
      : engine_(engine),
        store_(store),
        progress_(progress),
        options_(options),
        task_(task),
        setting_(setting),
        sampling_(sampling),
        run_(run),
        name_(fmt::format("{} {}", run.suite, run.setting)),
        lease_(options.store, run.id, fmt::format("run {} ({})", run.key.substr(0, 8), name_), options.lease),
        samples_(task.suite.ask == Ask::kGenerate ? options.samples : 1) {
    RegisterItems();
    session_.run_id = run.id;
    session_.host = HostName();
    session_.machine = fmt::format("{} ({})", ProcessorName(), engine.backend_info().target);
    session_.threads = options.engine.threads > 0 ? options.engine.threads : UsableThreads();
    session_.batch = options.engine.batch;
    session_.chunk = options.engine.chunk;
    session_.started = UtcNow();
    session_.id = store.AddSession(session_);
  }

  // False where it was stopped early.
  bool Work() {
    GradingOptions how = options_.grading;
    how.thoughts = MarkersOfRun(run_);
    GradingThread grading(options_.store, run_.id, JudgesOf(task_.suite, how));
    grading_ = &grading;
    CollectWanted();
    while (!Stopped() && (!wanted_.empty() || !in_flight_.empty())) {
      Fill();
      grading.Check();
      if (in_flight_.empty()) continue;
      if (std::optional<Answer> answer = engine_.Next(options_.stop))
        Take(std::move(*answer));
      else if (!Stopped())
        throw Error("engine", fmt::format("{} requests were never answered", in_flight_.size()),
                    "please report it");
    }
    const bool complete = wanted_.empty() && in_flight_.empty();
    grading.Finish();
    progress_.End(grading.counted(), grading.correct());
    store_.UpdateSession(session_.id, Seconds(), PeakMemoryBytes());
    return complete;
  }

 private:
  // Some times as many as run at once: then the last to begin are short, whatever runs beside them.
  static constexpr size_t kTail = 512;

  bool Stopped() const { return options_.stop && *options_.stop; }
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  void RegisterItems() {
    std::vector<ItemRecord> items;
    for (size_t i = 0; i < task_.questions.size(); ++i) {
      const Question& question = task_.questions[i];
      items.push_back({0, question.item, static_cast<int64_t>(i), question.prompt_text, question.gold,
                       question.shots_dropped, question.groups});
    }
    store_.AddItems(run_.id, items);
    for (const ItemRecord& item : store_.Items(run_.id)) item_ids_[item.item] = item.id;
  }

  void CollectWanted() {
    std::vector<size_t> order(task_.questions.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (options_.shuffle) Shuffle(&order, *options_.shuffle);
    const auto committed = store_.Committed(run_.id);
    std::vector<Wanted> wanted;
    for (const size_t question : order)
      for (int sample = 0; sample < samples_; ++sample)
        if (!committed.contains({task_.questions[question].item, sample}))
          wanted.push_back({question, sample});
    if (task_.suite.ask == Ask::kGenerate && !options_.shuffle)
      LongestFirstAtTail(ExpectedLengths(), kTail, &wanted);
    wanted_.assign(wanted.begin(), wanted.end());
    const auto total = static_cast<int64_t>(order.size()) * samples_;
    progress_.Begin(name_, total, total - static_cast<int64_t>(wanted_.size()));
  }

  // From the suite's samples under other settings or of other models.
  std::vector<ExpectedLength> ExpectedLengths() {
    const std::map<std::string, double> earlier = store_.MeanLengths(run_.suite);
    std::vector<ExpectedLength> lengths;
    for (const Question& question : task_.questions) {
      ExpectedLength& length = lengths.emplace_back();
      length.prompt = question.prompt.size();
      const auto at = earlier.find(question.item);
      if (at != earlier.end()) length.tokens = at->second;
    }
    return lengths;
  }

  // Keeps enough requests waiting that the engine never runs short of one.
  void Fill() {
    while (!Stopped() && !wanted_.empty() && engine_.pending() < engine_.enough()) {
      const Wanted wanted = wanted_.front();
      wanted_.pop_front();
      Ask(wanted);
    }
  }

  void Ask(const Wanted& wanted) {
    const Question& question = task_.questions[wanted.question];
    const uint64_t id = next_id_++;
    InFlight& flight = in_flight_[id];
    flight.wanted = wanted;
    flight.fault = question.fault;
    if (flight.fault.empty()) {
      if (options_.on_ask) options_.on_ask(question.item, wanted.sample);
      try {
        Submit(id, question, &flight);
      } catch (const Error& error) {  // this item cannot be asked; others can
        flight.fault = error.what();
      }
    }
    if (flight.submitted == 0) Commit(id);
  }

  void Submit(uint64_t id, const Question& question, InFlight* flight) {
    if (task_.suite.ask == Ask::kChoose) {
      flight->answers.resize(question.choices.size());
      for (ScoreRequest& request : RequestsOf(question, setting_)) {
        request.id = next_id_++;
        places_[request.id] = {id, flight->submitted};
        engine_.Submit(std::move(request));
        ++flight->submitted;
      }
      return;
    }
    flight->answers.resize(1);
    GenerateRequest request = RequestOf(task_, question, setting_, sampling_, flight->wanted.sample);
    request.id = next_id_++;
    places_[request.id] = {id, 0};
    engine_.Submit(std::move(request));
    flight->submitted = 1;
  }

  void Take(Answer answer) {
    const auto place = places_.find(answer.id);
    if (place == places_.end())
      throw Error("engine", fmt::format("answered request {}, never asked", answer.id));
    const auto [id, index] = place->second;
    places_.erase(place);
    InFlight& flight = in_flight_.at(id);
    flight.answers[index] = std::move(answer);
    if (++flight.answered == flight.submitted) Commit(id);
  }

  void Commit(uint64_t id) {
    const InFlight flight = std::move(in_flight_.at(id));
    in_flight_.erase(id);
    const Question& question = task_.questions[flight.wanted.question];
    SampleRecord sample;
    if (!flight.fault.empty())
      sample.fault = flight.fault;
    else if (task_.suite.ask == Ask::kChoose)
      sample = ChosenSample(question, flight.answers);
    else
      sample = GeneratedSample(flight.answers.front());
    sample.item_id = item_ids_.at(question.item);
    sample.sample = flight.wanted.sample;
    sample.finished = UtcNow();
    session_.seconds = Seconds();
    session_.peak_memory_bytes = PeakMemoryBytes();
    grading_->Push(store_.AddSample(sample, lease_.token(), session_));
    progress_.Advance(1, ProcessedTokens(sample, task_.suite.ask == Ask::kGenerate), grading_->counted(),
                      grading_->correct());
  }

  Engine& engine_;
  Store& store_;
  Progress& progress_;
  const RunnerOptions& options_;
  const Task& task_;
  const Setting& setting_;
  const Sampling& sampling_;
  const RunRecord& run_;
  const std::string name_;
  Lease lease_;
  const int samples_;
  SessionRecord session_;
  GradingThread* grading_ = nullptr;
  const Clock::time_point began_ = Clock::now();
  std::unordered_map<std::string, int64_t> item_ids_;
  std::deque<Wanted> wanted_;
  std::unordered_map<uint64_t, InFlight> in_flight_;
  std::unordered_map<uint64_t, std::pair<uint64_t, size_t>>
      places_;  // request -> sample, index of the answer
  uint64_t next_id_ = 0;
};

}  // namespace

Runner::Runner(Engine& engine, RunModel model, RunnerOptions options, Progress& progress)
    : engine_(engine), model_(std::move(model)), options_(std::move(options)), progress_(progress) {}

RunResult Runner::Run(const Task& task, const Setting& setting, const Sampling& sampling) {
  const std::unique_ptr<Store> store = OpenStore(options_.store, StoreMode::kReadWrite);
  RunResult result;
  const RunIdentity identity = Identify(model_.identity, task, setting, sampling);
  result.run = DescribeRun(identity, task, store->AddModel(model_.record));
  result.run.id = store->AddRun(result.run);
  {
    Session session(engine_, *store, progress_, options_, task, setting, identity.sampling, result.run);
    result.stopped = !session.Work();
  }
  std::set<std::string> items;
  for (const Question& question : task.questions) items.insert(question.item);
  result.summary = Summarize(*store, result.run, model_.record.name, items);
  return result;
}

std::string ModelName(const std::filesystem::path& folder) {
  const std::filesystem::path whole = std::filesystem::absolute(folder).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

RunModel DescribeModel(const Engine& engine, const std::filesystem::path& folder,
                       const std::string& weights_sha256) {
  RunModel model;
  model.identity = IdentifyModel(engine, weights_sha256);
  model.record.weights_sha256 = weights_sha256;
  model.record.name = ModelName(folder);
  model.record.folder = folder.string();
  model.record.architecture = engine.config().architecture;
  model.record.fusion = FusionName(engine.config().fusion);
  model.record.parameters = engine.model() ? engine.model()->parameter_count : 0;
  model.record.dtype = model.identity.weights_dtype;
  model.record.config = model.identity.config.dump();
  return model;
}

}  // namespace fullband
