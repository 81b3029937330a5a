#include "engine/decode/scheduler.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace fullband {
namespace {

// Places to reserve where `needed` are: some more, so that backends seldom grow.
int WithSlack(int needed) { return needed + needed / 2 + 16; }

// Bytes of a page together with the states of its positions.
int64_t PageBytes(const Backend& backend) {
  return std::max<int64_t>(backend.page_bytes() + backend.info().page_size * backend.state_bytes(), 1);
}

// For beginnings kept for later prompts: a suite's shots and the prompts in flight fit many times.
constexpr int64_t kPrefixBytes = int64_t{1} << 30;

}  // namespace

Scheduler::Scheduler(Backend* backend, const SchedulerOptions& options)
    : backend_(backend),
      options_(options),
      page_limit_(std::max<int64_t>(options.kv_memory / PageBytes(*backend), 1)) {
  places_.page_size = backend->info().page_size;
  const int64_t most = std::min(page_limit_ / 2, kPrefixBytes / PageBytes(*backend));
  if (options.prefix_cache) prefixes_.emplace(&places_, static_cast<int>(most));
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

// Every sequence in flight can take all the pages it may come to need, so none ever waits for another's.
int64_t Scheduler::PromisedPages() const {
  int64_t pages = places_.pages.in_use();
  for (const auto& sequence : active_) pages += sequence->pages_ahead();
  return pages;
}

void Scheduler::Admit() {
  while (!waiting_.empty() && static_cast<int>(active_.size()) < options_.batch) {
    const int64_t pages = waiting_.front()->pages_ahead();
    while (PromisedPages() + pages > page_limit_ && prefixes_ && prefixes_->Evict()) {
    }
    if (!active_.empty() && PromisedPages() + pages > page_limit_) return;
    active_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

// A sequence whose beginning another one is about to have run waits for it; the earlier never waits for the
// later.
bool Scheduler::MayBegin(size_t index) const {
  return std::none_of(active_.begin(), active_.begin() + static_cast<ptrdiff_t>(index),
                      [&](const auto& earlier) { return active_[index]->ShouldWaitFor(*earlier); });
}

void Scheduler::RunStep() {
  Step step;
  int left = options_.chunk;
  for (size_t i = 0; i < active_.size(); ++i) {
    if (active_[i]->finished() || (!active_[i]->begun() && (left == 0 || !MayBegin(i)))) continue;
    left -= active_[i]->AddTo(left, &step);
  }
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
