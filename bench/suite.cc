#include "bench/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <variant>

#include "common/error.h"
#include "engine/compute/forwarding_backend.h"
#include "evals/requests.h"

namespace fullband {
namespace {

// Another backend, whose steps are counted and timed.
class TimedBackend : public ForwardingBackend {
 public:
  TimedBackend(Backend* backend, const BenchClock* now, SuiteFigure* figure)
      : ForwardingBackend(backend), now_(now), figure_(figure) {}

  void Run(const Step& step, StepResult* result) override {
    const double began = (*now_)();
    ForwardingBackend::Run(step, result);
    const double seconds = (*now_)() - began;
    // Rows that nothing is asked of are a prompt's.
    const auto about_row = [](const Query& query) { return query.state == kNoSlot; };
    const auto rows = static_cast<double>(step.rows.size());
    const auto asked =
        static_cast<double>(std::count_if(step.queries.begin(), step.queries.end(), about_row));
    const double decode = rows > 0 ? seconds * asked / rows : seconds;
    figure_->decode_seconds += decode;
    figure_->prefill_seconds += seconds - decode;
    figure_->rows += static_cast<int64_t>(step.rows.size());
    ++figure_->steps;
  }

 private:
  const BenchClock* now_;
  SuiteFigure* figure_;
};

using Request = std::variant<GenerateRequest, ScoreRequest>;

std::deque<Request> Requests(const Task& task, const Setting& setting, SuiteFigure* figure) {
  std::deque<Request> requests;
  for (const Question& question : task.questions) {
    if (!question.fault.empty()) {
      ++figure->not_asked;
      continue;
    }
    ++figure->items;
    if (task.suite.ask == Ask::kGenerate)
      requests.emplace_back(RequestOf(task, question, setting, Sampling(), 0));
    for (ScoreRequest& request : RequestsOf(question, setting)) requests.emplace_back(std::move(request));
  }
  return requests;
}

void Take(const Answer& answer, const Task& task, SuiteFigure* figure) {
  if (!answer.fault.empty())
    throw Error(task.suite.name, answer.fault, "the weights give no valid result for this suite");
  figure->prompt_tokens += answer.cost.prompt_tokens;
  figure->saved_rows += answer.cost.saved_forwards;
  figure->decoded_tokens += static_cast<int64_t>(answer.tokens.size() + answer.logprobs.size());
}

}  // namespace

SuiteFigure MeasureSuite(Backend* backend, const std::shared_ptr<const Tokenizer>& tokenizer,
                         const EngineOptions& options, const Task& task, const Setting& setting,
                         const BenchClock& now, const std::atomic<bool>* stop) {
  SuiteFigure figure;
  figure.suite = task.suite.name;
  figure.setting = setting.Name();
  std::deque<Request> requests = Requests(task, setting, &figure);
  if (requests.empty()) throw Error(task.suite.name, "has no item that can be asked of this model");
  Engine engine(std::make_unique<TimedBackend>(backend, &now, &figure), tokenizer, options);
  const double began = now();
  while (!requests.empty() || engine.pending() > 0) {
    for (; !requests.empty() && engine.pending() < engine.enough(); requests.pop_front())
      std::visit([&](auto& request) { engine.Submit(std::move(request)); }, requests.front());
    const std::optional<Answer> answer = engine.Next(stop);
    if (!answer) throw BenchStopped();
    Take(*answer, task, &figure);
  }
  figure.seconds = now() - began;
  return figure;
}

}  // namespace fullband
