#include "evals/rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "common/error.h"
#include "evals/machine.h"
#include "evals/requests.h"

namespace fullband {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kWave = 8;           // items asked at once while prefill is measured
constexpr size_t kMostItems = 32;     // and of all, so that many sequences decode together
constexpr int kMeasuredTokens = 16;   // of each trace
constexpr double kMostSeconds = 1.0;  // of prefill

double SecondsSince(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

// How well an earlier run tells of this one; nothing where it does not.
std::optional<int> Likeness(bool same_key, bool same_suite, bool same_setting, bool same_ask) {
  if (same_key) return 3;
  if (same_suite) return same_setting ? 2 : 1;
  return same_ask ? std::optional(0) : std::nullopt;
}

// What a handful of requests took.
struct Measured {
  double prefill = 0, decode = 0;  // position-forwards
  double seconds = 0;
  size_t items = 0;
};

class Meter {
 public:
  Meter(const SweepRun& run, Engine* engine) : run_(run), engine_(engine) {}

  // Asks the items `first` .. `last` - 1 for traces of at most `tokens`.
  Measured Ask(size_t first, size_t last, int tokens) {
    Measured measured;
    const Clock::time_point began = Clock::now();
    for (size_t i = first; i < last; ++i) measured.items += Submit(run_.task->questions[i], tokens);
    while (const std::optional<Answer> answer = engine_->Next()) {
      measured.prefill += static_cast<double>(answer->cost.prefill_forwards);
      measured.decode += static_cast<double>(answer->cost.decode_forwards);
    }
    measured.seconds = SecondsSince(began);
    return measured;
  }

 private:
  bool Submit(const Question& question, int tokens) {
    if (!question.fault.empty()) return false;
    try {
      if (run_.task->suite.ask == fullband::Ask::kChoose) {
        for (ScoreRequest& request : RequestsOf(question, run_.setting)) engine_->Submit(std::move(request));
      } else {
        GenerateRequest request = RequestOf(*run_.task, question, run_.setting, run_.plan->sampling, 0);
        request.max_new_tokens = std::min(request.max_new_tokens, tokens);
        request.stop_strings.clear();
        engine_->Submit(std::move(request));
      }
    } catch (const Error&) {  // a run makes it a fault of this item
      return false;
    }
    return true;
  }

  const SweepRun& run_;
  Engine* engine_;
};

}  // namespace

EarlierRates::EarlierRates(Store& store) {
  std::map<int64_t, std::string> weights;
  const std::vector<RunRecord> runs = store.Runs();
  for (const ModelRecord& model : store.Models()) weights[model.id] = model.weights_sha256;
  for (const RunRecord& run : runs) {
    Earlier earlier{run.key, weights[run.model_id], run.suite, run.setting, run.ask};
    const std::vector<SessionRecord> sessions = store.Sessions(run.id);
    if (std::any_of(sessions.begin(), sessions.end(),
                    [](const SessionRecord& session) { return session.host != HostName(); }))
      continue;
    for (const SessionRecord& session : sessions) earlier.seconds += session.seconds;
    store.ForEachSample(run.id, false, [&](const SampleRecord& sample) {
      earlier.positions += static_cast<double>(sample.prefill_forwards + sample.decode_forwards);
    });
    if (earlier.seconds > 0 && earlier.positions > 0) earlier_.push_back(std::move(earlier));
  }
}

std::optional<Rate> EarlierRates::For(const SweepRun& run) const {
  int best = -1;
  double positions = 0, seconds = 0;
  for (const Earlier& earlier : earlier_) {
    if (earlier.weights != run.model.weights_sha256) continue;
    const std::optional<int> likeness =
        Likeness(earlier.key == run.key, earlier.suite == run.task->suite.name,
                 earlier.setting == run.setting.Name(), earlier.ask == AskName(run.task->suite.ask));
    if (!likeness || *likeness < best) continue;
    if (*likeness > best) positions = seconds = 0;
    best = *likeness;
    positions += earlier.positions;
    seconds += earlier.seconds;
  }
  if (best < 0) return std::nullopt;
  return Rate{positions / seconds, positions / seconds, "earlier runs"};
}

std::optional<Rate> MeasureRate(const SweepRun& run, Engine* engine) {
  Meter meter(run, engine);
  const size_t most = std::min(kMostItems, run.task->questions.size());
  Measured prompts;
  size_t asked = 0;
  while (asked < most && prompts.seconds < kMostSeconds) {
    const size_t last = std::min(asked + kWave, most);
    const Measured wave = meter.Ask(asked, last, 1);
    prompts.items += wave.items;
    // Scoring has no decoding of its own.
    prompts.prefill += wave.prefill + wave.decode;
    prompts.seconds += wave.seconds;
    asked = last;
  }
  if (prompts.items == 0 || prompts.prefill <= 0) return std::nullopt;
  Rate rate;
  rate.prefill = rate.decode = prompts.prefill / prompts.seconds;
  rate.from = fmt::format("measured now on {} item{}", prompts.items, prompts.items == 1 ? "" : "s");
  if (run.task->suite.ask == Ask::kChoose) return rate;
  const Measured traces = meter.Ask(0, asked, kMeasuredTokens);
  // What was left of the prompts to run is known; at least a tenth of the time is taken for decoding's.
  const double decoding = std::max(traces.seconds - traces.prefill / rate.prefill, traces.seconds / 10);
  if (traces.decode > 0) rate.decode = traces.decode / decoding;
  return rate;
}

}  // namespace fullband
