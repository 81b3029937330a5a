#include "common/majority.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace fullband {
namespace {

// The chance of `hits` among `draws` out of `pool`, `kind` of which are hits.
class Hypergeometric {
 public:
  explicit Hypergeometric(int64_t most) : log_factorial_(static_cast<size_t>(most) + 1, 0.0) {
    for (size_t i = 2; i < log_factorial_.size(); ++i)
      log_factorial_[i] = log_factorial_[i - 1] + std::log(static_cast<double>(i));
  }
  double operator()(int64_t hits, int64_t draws, int64_t kind, int64_t pool) const {
    if (hits > kind || hits > draws || draws - hits > pool - kind) return 0;
    return std::exp(LogChoose(kind, hits) + LogChoose(pool - kind, draws - hits) - LogChoose(pool, draws));
  }

 private:
  double LogChoose(int64_t n, int64_t k) const {
    const auto at = [this](int64_t i) { return log_factorial_[static_cast<size_t>(i)]; };
    return at(n) - at(k) - at(n - k);
  }
  std::vector<double> log_factorial_;
};

// With `most` votes for the right answer among the k: passes through the wrong answers that could have as
// many, one after another, and keeps the chance of every (samples still to be chosen, answers that have as
// many), as long as none has more.
class Tally {
 public:
  Tally(const Hypergeometric& chance, int64_t most, int64_t draws, int64_t pool)
      : chance_(chance),
        most_(most),
        pool_(pool),
        width_(static_cast<size_t>(draws) + 1),
        ties_(draws / most + 1),
        state_(width_ * static_cast<size_t>(ties_), 0.0) {
    state_[static_cast<size_t>(draws)] = 1;
  }

  void Pass(int64_t kind) {
    std::vector<double> next(state_.size(), 0.0);
    for (int64_t ties = 0; ties < ties_; ++ties) {
      for (size_t draws = 0; draws < width_; ++draws) {
        const double before = state_[Place(ties, draws)];
        if (before == 0) continue;
        for (int64_t hits = 0; hits <= std::min(most_, static_cast<int64_t>(draws)); ++hits) {
          const double now = before * chance_(hits, static_cast<int64_t>(draws), kind, pool_);
          if (now > 0) next[Place(ties + (hits == most_), draws - static_cast<size_t>(hits))] += now;
        }
      }
    }
    state_ = std::move(next);
    pool_ -= kind;
  }

  // Each of the answers that have as many is as likely to be taken as the right one.
  double Share() const {
    double share = 0;
    for (int64_t ties = 0; ties < ties_; ++ties)
      for (size_t draws = 0; draws < width_; ++draws)
        share += state_[Place(ties, draws)] / static_cast<double>(ties + 1);
    return share;
  }

 private:
  size_t Place(int64_t ties, size_t draws) const { return static_cast<size_t>(ties) * width_ + draws; }

  const Hypergeometric& chance_;
  int64_t most_, pool_;
  size_t width_;
  int64_t ties_;
  std::vector<double> state_;
};

// All samples are the one choice.
double Whole(const Votes& votes) {
  int64_t ties = 0;
  for (const int64_t wrong : votes.wrong) {
    if (wrong > votes.right) return 0;
    ties += wrong == votes.right;
  }
  return 1.0 / static_cast<double>(ties + 1);
}

}  // namespace

int64_t Votes::samples() const { return std::accumulate(wrong.begin(), wrong.end(), right + none); }

std::optional<double> MajorityAtK(const Votes& votes, int64_t k) {
  const bool negative = votes.right < 0 || votes.none < 0 ||
                        std::any_of(votes.wrong.begin(), votes.wrong.end(), [](int64_t w) { return w < 0; });
  if (negative || k < 1) throw std::invalid_argument("MajorityAtK: no such counts");
  const int64_t samples = votes.samples();
  if (k > samples) return std::nullopt;
  if (votes.right == 0) return 0.0;
  if (k == samples) return Whole(votes);
  if (k == 1) return static_cast<double>(votes.right) / static_cast<double>(samples);
  const Hypergeometric chance(samples);
  double majority = 0;
  for (int64_t most = 1; most <= std::min(votes.right, k); ++most) {
    const double first = chance(most, k, votes.right, samples);
    if (first == 0) continue;
    Tally tally(chance, most, k - most, samples - votes.right);
    for (const int64_t wrong : votes.wrong)
      if (wrong >= most) tally.Pass(wrong);  // the others never catch up, whatever is chosen of them
    majority += first * tally.Share();
  }
  return std::min(majority, 1.0);
}

}  // namespace fullband
