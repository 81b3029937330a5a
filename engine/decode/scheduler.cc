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

}  // namespace

Scheduler::Scheduler(Backend* backend, const SchedulerOptions& options)
    : backend_(backend),
      options_(options),
      batch_(options.batch),
      page_limit_(std::max<int64_t>(options.kv_memory / PageBytes(*backend), 1)) {
  places_.page_size = backend->info().page_size;
  const int64_t most = std::min(page_limit_ / 2, options.prefix_cache / PageBytes(*backend));
  if (options.prefix_cache > 0) prefixes_.emplace(&places_, static_cast<int>(most));
}

void Scheduler::Add(std::unique_ptr<Sequence> sequence) {
  waiting_.push_back({std::move(sequence), ++added_, 0, 0});
}

size_t Scheduler::enough() const {
  // Of those behind the slots, half may wait for others; a step may be filled by prompts of one row.
  const size_t slots = static_cast<size_t>(batch_.limit());
  const int rows = batch_.automatic() ? std::min<int>(options_.chunk, BatchSize::kMost) : 0;
  return 2 * slots + static_cast<size_t>(rows);
}

std::optional<Answer> Scheduler::Next(const std::atomic<bool>* stop) {
  while (answers_.empty()) {
    if (stop != nullptr && *stop) return std::nullopt;
    if (active_.empty() && waiting_.empty()) return std::nullopt;
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
  for (const Entry& entry : active_) pages += entry.sequence->pages_ahead();
  return pages;
}

bool Scheduler::HasMemory(const Sequence& sequence) {
  const int64_t pages = sequence.pages_ahead();
  int64_t promised = PromisedPages();
  // What is kept for later is given up only where that helps.
  const int64_t kept = prefixes_ ? prefixes_->pages() : 0;
  if (!active_.empty() && promised - kept + pages > page_limit_) return false;
  for (; promised + pages > page_limit_ && prefixes_ && prefixes_->Evict(); promised = PromisedPages()) {
  }
  return active_.empty() || promised + pages <= page_limit_;
}

// Where the size of the batch is measured, sequences that only have a prompt run take no slot: they fill
// steps and are gone.
bool Scheduler::HasSlot(const Sequence& sequence) const {
  if (!batch_.automatic()) return static_cast<int>(active_.size()) < batch_.limit();
  if (active_.size() >= static_cast<size_t>(BatchSize::kMost)) return false;
  const auto decode = [](const Entry& entry) { return entry.sequence->decodes(); };
  return !sequence.decodes() || std::count_if(active_.begin(), active_.end(), decode) < batch_.limit();
}

// Whether one that has begun is about to leave more of this prompt's beginning to go on from than there is
// now.
bool Scheduler::MustWait(Entry* entry) const {
  if (entry->leader != 0) {
    const auto leader = std::find_if(active_.begin(), active_.end(),
                                     [&](const Entry& other) { return other.number == entry->leader; });
    if (leader != active_.end() && leader->sequence->shared() < entry->needed) return true;
    entry->leader = 0;
  }
  int adoptable = -1;
  for (const Entry& other : active_) {
    const int shared = other.sequence->WillShareWith(*entry->sequence);
    if (shared == 0) continue;
    if (adoptable < 0) adoptable = entry->sequence->Adoptable();
    if (shared <= adoptable) continue;
    entry->leader = other.number;
    entry->needed = shared;
    return true;
  }
  return false;
}

// Lets sequences begin as long as the step has room for `left` more rows of prompts. Returns what is left
// then.
int Scheduler::Begin(int left, Step* step) {
  for (size_t i = 0; left > 0 && i < waiting_.size();) {
    Entry& entry = waiting_[i];
    if (!entry.sequence->finished()) {
      if (!HasSlot(*entry.sequence)) return left;
      if (MustWait(&entry)) {
        ++i;
        continue;
      }
      if (!HasMemory(*entry.sequence)) return left;
      left -= entry.sequence->AddTo(left, step);
    }
    active_.push_back(std::move(entry));
    waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(i));
  }
  return left;
}

void Scheduler::NoteStep(int decode_rows, int prompt_rows, double seconds) {
  const bool more = !waiting_.empty() && !HasSlot(*waiting_.front().sequence);
  batch_.Note(decode_rows, prompt_rows, seconds, more);
}

void Scheduler::RunStep() {
  Step step;
  int left = options_.chunk;
  for (const Entry& entry : active_) left -= entry.sequence->AddTo(left, &step);
  const int prompt_rows = options_.chunk - Begin(left, &step);
  if (step.rows.empty() && step.queries.empty()) return;  // all that began are finished already
  MakeRoom();
  StepResult result;
  const Sequence::Clock::time_point started = Sequence::Clock::now();
  backend_->Run(step, &result);
  const Sequence::Clock::time_point ended = Sequence::Clock::now();
  NoteStep(static_cast<int>(step.rows.size()) - prompt_rows, prompt_rows,
           std::chrono::duration<double>(ended - started).count());
  for (const Entry& entry : active_) entry.sequence->Accept(result, started, ended);
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
  for (Entry& entry : active_)
    if (entry.sequence->finished()) answers_.push_back(entry.sequence->TakeAnswer());
  std::erase_if(active_, [](const Entry& entry) { return entry.sequence->finished(); });
}

}  // namespace fullband
