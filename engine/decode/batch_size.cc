#include "engine/decode/batch_size.h"

#include <algorithm>
#include <vector>

namespace fullband {
namespace {

// Medians are of this many steps, which a single slow step does not move; contexts hardly grow meanwhile.
constexpr size_t kSamples = 7;
// A larger batch must be this much faster to be worth its memory, and a smaller one to be gone back to, so
// that noise moves nothing.
constexpr double kPays = 1.03;
// Contexts grow and so does what is read for each row: what did not pay is tried again after so many steps.
constexpr int kTryAgain = 400;

double Median(const std::deque<double>& values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2), sorted.end());
  return sorted[sorted.size() / 2];
}

void Keep(double value, std::deque<double>* values) {
  values->push_back(value);
  if (values->size() > kSamples) values->pop_front();
}

}  // namespace

BatchSize::BatchSize(int fixed) : fixed_(fixed) {}

void BatchSize::Note(int decode_rows, int prompt_rows, double seconds, bool waiting) {
  if (!automatic() || seconds <= 0) return;
  if (prompt_rows > 3 * decode_rows) return NotePrompt(decode_rows + prompt_rows, seconds);
  // A step's time is split between the two kinds of rows; where most of it is the prompts', what is left says
  // little.
  const double prompt_row = prompt_seconds_.empty() ? 0 : Median(prompt_seconds_);
  const double left = seconds - prompt_rows * prompt_row;
  for (Level& level : levels_) level.refused = std::max(level.refused - 1, 0);
  // Steps that do not fill the present limit tell nothing of it: slots are being filled, or few are left.
  if (4 * decode_rows < 3 * limit() || decode_rows > limit() || left < seconds / 2) return;
  Keep(decode_rows / left, &levels_[static_cast<size_t>(level_)].rates);
  Decide(waiting);
}

void BatchSize::NotePrompt(int rows, double seconds) { Keep(seconds / rows, &prompt_seconds_); }

void BatchSize::Decide(bool waiting) {
  Level& here = levels_[static_cast<size_t>(level_)];
  if (here.rates.size() < kSamples) return;
  if (level_ > 0) {
    Level& below = levels_[static_cast<size_t>(level_ - 1)];
    // Just grown to from below: has it paid?
    if (!below.rates.empty() && Median(here.rates) < kPays * Median(below.rates)) {
      here.refused = kTryAgain;
      return MoveTo(level_ - 1);
    }
    below.rates.clear();
  }
  const bool larger = level_ + 1 < kLevels && levels_[static_cast<size_t>(level_ + 1)].refused == 0;
  if (waiting && larger) MoveTo(level_ + 1);
}

// What was measured with the limit before stays, to be compared with; one that is come to is measured anew.
void BatchSize::MoveTo(int level) {
  level_ = level;
  levels_[static_cast<size_t>(level)].rates.clear();
}

}  // namespace fullband
