// How a walk goes on from what others ran, and leaves what others may go on from.
#include <algorithm>
#include <limits>

#include "engine/decode/walk.h"

namespace fullband {

PrefixLine Walk::LineOf(int pass) const {
  if (plan_.setting.exact) return {0, plan_.setting.control, true};
  return {pass, pass > 0 ? plan_.setting.control : Control::kNone, false};
}

std::vector<PrefixTree::Match> Walk::FindPrefixes() const {
  std::vector<PrefixTree::Match> matches;
  const std::span<const int32_t> tokens(plan_.tokens.data(), static_cast<size_t>(plan_.shareable));
  for (int pass = 0; pass < static_cast<int>(passes_.size()); ++pass)
    matches.push_back(prefixes_->Find(LineOf(pass), tokens));
  return matches;
}

namespace {

int Shortest(const std::vector<PrefixTree::Match>& matches) {
  int positions = std::numeric_limits<int>::max();
  for (const PrefixTree::Match& match : matches) positions = std::min(positions, match.positions);
  return positions;
}

}  // namespace

int Walk::Adoptable() const { return prefixes_ == nullptr ? 0 : Shortest(FindPrefixes()); }

std::vector<float> Walk::Adopt() {
  std::vector<float> state_rms;
  if (prefixes_ == nullptr) return state_rms;
  const std::vector<PrefixTree::Match> matches = FindPrefixes();
  // Every pass must go on from the same position: it reads the states of the pass before it.
  const int positions = Shortest(matches);
  if (positions == 0) return state_rms;
  for (size_t pass = 0; pass < passes_.size(); ++pass) {
    AdoptPass(static_cast<int>(pass), matches[pass], positions);
    state_rms.insert(state_rms.end(), matches[pass].state_rms.begin(),
                     matches[pass].state_rms.begin() + positions);
  }
  return state_rms;
}

void Walk::AdoptPass(int pass, const PrefixTree::Match& match, int positions) {
  Pass& own = passes_[static_cast<size_t>(pass)];
  const int whole = positions / places_->page_size, rest = positions % places_->page_size;
  for (int i = 0; i < whole; ++i) {
    places_->pages.Share(match.pages[static_cast<size_t>(i)]);
    own.pages.push_back(match.pages[static_cast<size_t>(i)]);
  }
  if (rest > 0) {
    own.pages.push_back(places_->pages.Take());
    const int32_t source = match.pages[static_cast<size_t>(whole)];
    copies_.push_back({source, own.pages.back(), rest});
    places_->pages.Share(source);
    sources_.push_back(source);
  }
  pages_taken_ += static_cast<int>(own.pages.size());
  own.done = positions;
  // The states that the next row reads, and those of the incomplete page, to share it once it is complete.
  const int page_begin = positions - rest;
  for (int position = std::max(std::min(page_begin, positions - 2), 0); position < positions; ++position) {
    const int32_t slot = match.states[static_cast<size_t>(position)];
    places_->states.Share(slot);
    own.states.Push(position, slot);
  }
  own.state_rms.assign(match.state_rms.begin() + page_begin, match.state_rms.begin() + positions);
}

int Walk::shared() const {
  if (prefixes_ == nullptr) return 0;
  return done() >= plan_.shareable ? plan_.shareable : done() - done() % places_->page_size;
}

int Walk::WillShareWith(const Walk& other) const {
  // A walk with more passes leaves all that one with fewer needs.
  if (prefixes_ == nullptr || passes_.size() < other.passes_.size()) return 0;
  for (int pass = 0; pass < static_cast<int>(other.passes_.size()); ++pass)
    if (LineOf(pass) != other.LineOf(pass)) return 0;
  if (shared() >= std::min(plan_.shareable, other.plan_.shareable)) return 0;
  const auto own_end = plan_.tokens.begin() + plan_.shareable;
  const auto other_end = other.plan_.tokens.begin() + other.plan_.shareable;
  const auto differ = std::mismatch(plan_.tokens.begin(), own_end, other.plan_.tokens.begin(), other_end);
  const int common = static_cast<int>(differ.first - plan_.tokens.begin());
  return common > shared() ? common : 0;
}

void Walk::SharePages(int pass, int begin, std::span<const float> state_rms) {
  Pass& own = passes_[static_cast<size_t>(pass)];
  const int page_size = places_->page_size;
  const int end = std::min(own.done, plan_.shareable);
  for (int position = begin; position < end; ++position) {
    own.state_rms.push_back(state_rms[static_cast<size_t>(position - begin)]);
    // A prompt's last page is shared incomplete: what its sequence goes on to write there comes after.
    if ((position + 1) % page_size != 0 && position + 1 != plan_.shareable) continue;
    const int page_begin = position - position % page_size;
    PrefixPage page;
    page.page = own.pages[static_cast<size_t>(page_begin / page_size)];
    for (int at = page_begin; at <= position; ++at) page.states.push_back(own.states.At(at));
    page.state_rms = std::move(own.state_rms);
    own.state_rms.clear();
    prefixes_->Insert(LineOf(pass), std::span(plan_.tokens).first(static_cast<size_t>(position) + 1), page);
  }
}

}  // namespace fullband
