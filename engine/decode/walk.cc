#include "engine/decode/walk.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace fullband {

int32_t StateWindow::At(int position) const {
  const auto at = std::lower_bound(slots_.begin(), slots_.end(), std::pair(position, int32_t{0}));
  if (at == slots_.end() || at->first != position) throw std::logic_error("a state is read that is not kept");
  return at->second;
}

void StateWindow::DropBefore(int position, Pool* states) {
  for (; !slots_.empty() && slots_.front().first < position; slots_.pop_front())
    states->Release(slots_.front().second);
}

Walk::Walk(Plan plan, Places* places, PrefixTree* prefixes)
    : plan_(std::move(plan)), places_(places), prefixes_(prefixes) {
  passes_.resize(plan_.setting.exact ? 1 : static_cast<size_t>(plan_.setting.passes));
  page_bound_ = PagesFor(plan_.positions) + PagesFor(plan_.prefill) * static_cast<int>(passes_.size() - 1);
}

Walk::~Walk() {
  for (Pass& pass : passes_) ReleasePass(&pass);
  ReleaseSources();
}

int Walk::PagesFor(int positions) const { return (positions + places_->page_size - 1) / places_->page_size; }

Walk::Chunk Walk::Next() const {
  const int last = static_cast<int>(passes_.size()) - 1;
  const int done = passes_.back().done;
  if (prefilled()) {
    const bool single = plan_.setting.mode == Mode::kLatent;
    return {last, done, single ? std::min(1, plan_.end - done) : plan_.end - done, single};
  }
  if (plan_.setting.exact) return {last, done, 1, true};
  // The latest pass that an earlier one has run ahead of; else the first pass takes new positions.
  for (int pass = last; pass > 0; --pass) {
    const int ahead = passes_[static_cast<size_t>(pass - 1)].done - passes_[static_cast<size_t>(pass)].done;
    if (ahead > 0) return {pass, passes_[static_cast<size_t>(pass)].done, ahead, false};
  }
  return {0, passes_[0].done, plan_.prefill - passes_[0].done, false};
}

bool Walk::Fused(int pass, int position) const {
  if (position >= plan_.prefill) return plan_.setting.mode == Mode::kLatent;
  return position > 0 && (plan_.setting.exact || pass > 0);
}

int Walk::StateSource(int pass, int position) const {
  return position < plan_.prefill && !plan_.setting.exact ? pass - 1 : pass;
}

bool Walk::Keeps(int pass, int position) const {
  if (Shares(position)) return true;
  const bool latent = plan_.setting.mode == Mode::kLatent;
  if (position >= plan_.prefill) return latent;
  if (!IsLastPass(pass) || plan_.setting.exact) return true;
  return latent && position >= plan_.prefill - 2;  // the next position's h_{t-1} and h_{t-2}
}

Row Walk::MakeRow(int pass, int position) {
  Row row;
  row.token = plan_.tokens[static_cast<size_t>(position)];
  if (Fused(pass, position)) {
    const StateWindow& states = passes_[static_cast<size_t>(StateSource(pass, position))].states;
    row.state = states.At(position - 1);
    row.control = plan_.setting.control;
    if (row.control == Control::kStale) row.older_state = states.At(std::max(position - 2, 0));
  }
  if (Keeps(pass, position)) row.keep_state = places_->states.Take();
  return row;
}

void Walk::AddRows(const Chunk& chunk, Step* step) {
  Pass& pass = passes_[static_cast<size_t>(chunk.pass)];
  step->copies.insert(step->copies.end(), copies_.begin(), copies_.end());
  copies_.clear();
  const int pages = PagesFor(chunk.position + chunk.count);
  while (static_cast<int>(pass.pages.size()) < pages) {
    pass.pages.push_back(places_->pages.Take());
    ++pages_taken_;
  }
  Span span{static_cast<int32_t>(step->rows.size()), chunk.count, chunk.position, {}};
  span.pages.assign(pass.pages.begin(), pass.pages.begin() + pages);
  step->spans.push_back(std::move(span));
  for (int position = chunk.position; position < chunk.position + chunk.count; ++position)
    step->rows.push_back(MakeRow(chunk.pass, position));
  // Only now: rows of this step read the states from before it.
  const size_t first_row = step->rows.size() - static_cast<size_t>(chunk.count);
  for (int i = 0; i < chunk.count; ++i) {
    const int32_t slot = step->rows[first_row + static_cast<size_t>(i)].keep_state;
    if (slot != kNoSlot) pass.states.Push(chunk.position + i, slot);
  }
}

void Walk::Advance(const Chunk& chunk, std::span<const float> state_rms) {
  ReleaseSources();
  passes_[static_cast<size_t>(chunk.pass)].done = chunk.position + chunk.count;
  if (Shares(chunk.position)) SharePages(chunk.pass, chunk.position, state_rms);
  for (int pass = 0; pass < static_cast<int>(passes_.size()); ++pass) Trim(pass);
  if (!prefilled()) return;
  for (size_t earlier = 0; earlier + 1 < passes_.size(); ++earlier) ReleasePass(&passes_[earlier]);
}

// Drops states that no later row reads: the next fused position reads the two before it, and a page that is
// to be shared is shared with the states of all its positions.
void Walk::Trim(int pass) {
  Pass& own = passes_[static_cast<size_t>(pass)];
  const int reader = IsLastPass(pass) ? own.done : passes_[static_cast<size_t>(pass + 1)].done;
  int keep_from = reader - 2;
  if (Shares(own.done)) keep_from = std::min(keep_from, own.done - own.done % places_->page_size);
  own.states.DropBefore(keep_from, &places_->states);
}

void Walk::Append(int32_t token) {
  plan_.tokens.push_back(token);
  ++plan_.end;
}

void Walk::ReleaseSources() {
  for (int32_t page : sources_) places_->pages.Release(page);
  sources_.clear();
}

void Walk::ReleasePass(Pass* pass) {
  for (int32_t page : pass->pages) places_->pages.Release(page);
  pass->pages.clear();
  pass->states.DropBefore(std::numeric_limits<int>::max(), &places_->states);
}

}  // namespace fullband
