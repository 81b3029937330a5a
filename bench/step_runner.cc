#include "bench/step_runner.h"

#include <algorithm>

#include "common/hash.h"
#include "engine/decode/walk.h"

namespace fullband {
namespace {

// The greedy token after a row.
Query NextToken(int row) {
  Query query;
  query.row = row;
  query.sample = true;
  return query;
}

}  // namespace

int32_t BenchToken(int vocab_size, int64_t i) {
  return static_cast<int32_t>(Mix64(static_cast<uint64_t>(i) + 1) % static_cast<uint64_t>(vocab_size));
}

StepRunner::StepRunner(Backend* backend, const StepWork* work, const std::atomic<bool>* stop)
    : backend_(backend), work_(work), stop_(stop) {
  places_.page_size = backend->info().page_size;
}

void StepRunner::MakeRoom() {
  const int64_t pages = places_.pages.high_water(), states = places_.states.high_water();
  if (pages <= reserved_pages_ && states <= reserved_states_) return;
  reserved_pages_ = std::max(reserved_pages_, pages);
  reserved_states_ = std::max(reserved_states_, states);
  backend_->Reserve(static_cast<int>(reserved_pages_), static_cast<int>(reserved_states_));
}

void StepRunner::Run(const Step& step) {
  if (stop_ != nullptr && *stop_) throw BenchStopped();
  MakeRoom();
  StepResult result;
  backend_->Run(step, &result);
  ++steps_run_;
  if (counting_) counted_ += work_->Of(step);
}

void StepRunner::Prefill(const Setting& setting, int positions, int chunk) {
  Walk::Plan plan;
  plan.prefill = plan.end = plan.positions = positions;
  plan.setting = setting;
  for (int i = 0; i < positions; ++i) plan.tokens.push_back(BenchToken(config().vocab_size, i));
  Walk walk(std::move(plan), &places_);
  const std::vector<float> no_states(static_cast<size_t>(positions));  // read by walks that share only
  for (Walk::Chunk next = walk.Next(); next.count > 0; next = walk.Next()) {
    next.count = std::min(next.count, chunk);
    Step step;
    walk.AddRows(next, &step);
    if (walk.IsLastPass(next.pass) && next.position + next.count == positions)
      step.queries.push_back(NextToken(next.count - 1));
    Run(step);
    walk.Advance(next, no_states);
  }
}

// ------------------------------------------------------------------------------------------------ decoding

DecodeBatch::DecodeBatch(StepRunner* runner, const BatchShape& shape)
    : runner_(runner), shape_(shape), steps_(StepsFor(shape.context)), first_(shape.context - steps_) {
  Places& places = runner_->places();
  const int pages = runner_->PagesFor(shape_.context), common = shape_.shared / runner_->page_size();
  pages_.resize(static_cast<size_t>(shape_.batch));
  for (std::vector<int32_t>& own : pages_) {
    for (int i = 0; i < pages; ++i) {
      const bool shares = i < common && &own != &pages_.front();
      own.push_back(shares ? pages_.front()[static_cast<size_t>(i)] : places.pages.Take());
      if (shares) places.pages.Share(own.back());
    }
  }
  // Without feedback weights no row is ever fused, and states would only cost.
  if (runner_->config().fusion != Fusion::kNone) {
    for (int i = 0; i < kStates; ++i) prompt_states_.push_back(places.states.Take());
    states_.resize(pages_.size());
    for (std::vector<int32_t>& own : states_)
      for (int i = 0; i < kStates; ++i) own.push_back(places.states.Take());
  }
  Fill();
}

DecodeBatch::~DecodeBatch() {
  Places& places = runner_->places();
  for (const std::vector<int32_t>& own : pages_)
    for (int32_t page : own) places.pages.Release(page);
  for (int32_t slot : prompt_states_) places.states.Release(slot);
  for (const std::vector<int32_t>& own : states_)
    for (int32_t slot : own) places.states.Release(slot);
}

int64_t DecodeBatch::Pages(const StepRunner& runner, const BatchShape& shape) {
  const int64_t pages = runner.PagesFor(shape.context), common = shape.shared / runner.page_size();
  return pages + (shape.batch - 1) * (pages - common);
}

void DecodeBatch::Fill() {
  constexpr int kChunk = 256;
  const std::vector<int32_t>& model = pages_.front();
  for (int begin = 0; begin < first_; begin += kChunk) {
    const int end = std::min(begin + kChunk, first_);
    Step step;
    for (int position = begin; position < end; ++position) {
      Row row{.token = BenchToken(runner_->config().vocab_size, position)};
      if (position >= first_ - kStates && !prompt_states_.empty())
        row.keep_state = prompt_states_[static_cast<size_t>(position % kStates)];
      step.rows.push_back(row);
    }
    // As in a run, where the state that the first fused row reads is one that was asked about.
    if (end == first_) step.queries.push_back(NextToken(end - begin - 1));
    step.spans.push_back({0, end - begin, begin, {model.begin(), model.begin() + runner_->PagesFor(end)}});
    runner_->Run(step);
  }
  Step copies;
  for (const std::vector<int32_t>& own : pages_) {
    for (int i = 0; i < runner_->PagesFor(first_); ++i) {
      const int32_t from = model[static_cast<size_t>(i)], to = own[static_cast<size_t>(i)];
      if (from != to)
        copies.copies.push_back(
            {from, to, std::min(first_ - i * runner_->page_size(), runner_->page_size())});
    }
  }
  if (!copies.copies.empty()) runner_->Run(copies);
}

int32_t DecodeBatch::StateOf(int sequence, int position) const {
  const auto place = static_cast<size_t>(std::max(position, 0) % kStates);
  return position < first_ ? prompt_states_[place] : states_[static_cast<size_t>(sequence)][place];
}

Row DecodeBatch::MakeRow(const Setting& setting, int sequence, int position) const {
  // Sequences differ in their tokens, as they do in a run.
  const int64_t at = int64_t{sequence + 1} * runner_->config().max_positions + position;
  Row row{.token = BenchToken(runner_->config().vocab_size, at)};
  if (setting.mode != Mode::kLatent) return row;
  row.state = StateOf(sequence, position - 1);
  row.control = setting.control;
  if (row.control == Control::kStale) row.older_state = StateOf(sequence, position - 2);
  row.keep_state = StateOf(sequence, position);
  return row;
}

void DecodeBatch::Run(const Setting& setting) {
  for (int position = first_; position < shape_.context; ++position) {
    Step step;
    for (int sequence = 0; sequence < shape_.batch; ++sequence) {
      const std::vector<int32_t>& own = pages_[static_cast<size_t>(sequence)];
      step.rows.push_back(MakeRow(setting, sequence, position));
      step.spans.push_back(
          {sequence, 1, position, {own.begin(), own.begin() + runner_->PagesFor(position + 1)}});
      step.queries.push_back(NextToken(sequence));
    }
    runner_->Run(step);
  }
}

}  // namespace fullband
