#include "engine/decode/scheduler.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace fullband {
namespace {

// Places to reserve where `needed` are: some more, so that backends seldom grow.
int WithSlack(int needed) { return needed + needed / 2 + 16; }

}  // namespace

Scheduler::Scheduler(Backend* backend, const SchedulerOptions& options)
    : backend_(backend),
      options_(options),
      page_limit_(std::max<int64_t>(options.kv_memory / std::max<int64_t>(backend->page_bytes(), 1), 1)) {
  places_.page_size = backend->info().page_size;
}

void Scheduler::Add(std::unique_ptr<Sequence> sequence) { waiting_.push_back(std::move(sequence)); }

std::optional<Answer> Scheduler::Next(const std::atomic<bool>* stop) {
  while (answers_.empty()) {
    if (stop != nullptr && *stop) return std::nullopt;
    Admit();
    if (active_.empty()) return std::nullopt;
    RunStep();
    Collect();
  }
  Answer answer = std::move(answers_.front());
  answers_.pop_front();
  return answer;
}

// Every sequence in flight can take all the pages it may come to need, so none ever waits for another.
void Scheduler::Admit() {
  int64_t promised = places_.pages.in_use();
  for (const auto& sequence : active_) promised += sequence->pages_ahead();
  while (!waiting_.empty() && static_cast<int>(active_.size()) < options_.batch) {
    const int64_t pages = waiting_.front()->pages_ahead();
    if (!active_.empty() && promised + pages > page_limit_) return;
    promised += pages;
    active_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

void Scheduler::RunStep() {
  Step step;
  int left = options_.chunk;
  for (const auto& sequence : active_)
    if (!sequence->finished()) left -= sequence->AddTo(left, &step);
  if (step.rows.empty()) return;  // all of them are finished already
  MakeRoom();
  StepResult result;
  const Sequence::Clock::time_point started = Sequence::Clock::now();
  backend_->Run(step, &result);
  const Sequence::Clock::time_point ended = Sequence::Clock::now();
  for (const auto& sequence : active_) sequence->Accept(result, started, ended);
}

void Scheduler::MakeRoom() {
  const int pages = places_.pages.high_water(), states = places_.states.high_water();
  if (pages <= reserved_pages_ && states <= reserved_states_) return;
  if (pages > reserved_pages_)
    reserved_pages_ = std::max(pages, static_cast<int>(std::min<int64_t>(WithSlack(pages), page_limit_)));
  if (states > reserved_states_) reserved_states_ = WithSlack(states);
  backend_->Reserve(reserved_pages_, reserved_states_);
}

void Scheduler::Collect() {
  for (auto& sequence : active_)
    if (sequence->finished()) answers_.push_back(sequence->TakeAnswer());
  std::erase_if(active_, [](const auto& sequence) { return sequence->finished(); });
}

}  // namespace fullband
