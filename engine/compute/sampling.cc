#include "engine/compute/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/error.h"
#include "engine/compute/random.h"

namespace fullband {
namespace {

float Rank(float logit) { return std::isnan(logit) ? -std::numeric_limits<float>::infinity() : logit; }

// A strict order of all tokens: larger logits first, then lower ids.
struct Better {
  std::span<const float> logits;
  bool operator()(int32_t a, int32_t b) const {
    const float x = Rank(logits[a]), y = Rank(logits[b]);
    return x > y || (x == y && a < b);
  }
};

// Drops the tail of `order` (best first, with its weights) beyond the smallest head that holds `top_p` of the
// total.
void CutToMass(std::vector<int32_t>& order, const std::vector<double>& weights, double top_p) {
  double total = 0;
  for (int32_t token : order) total += weights[token];
  double mass = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    mass += weights[order[i]];
    if (mass >= top_p * total) {
      order.resize(i + 1);
      return;
    }
  }
}

int32_t Draw(const std::vector<int32_t>& tokens, const std::vector<double>& weights, double uniform) {
  double total = 0;
  for (int32_t token : tokens) total += weights[token];
  const double goal = uniform * total;
  double mass = 0;
  int32_t last = tokens.front();
  for (int32_t token : tokens) {
    if (!(weights[token] > 0)) continue;
    mass += weights[token];
    last = token;
    if (mass > goal) break;
  }
  return last;  // also where rounding left `mass` just below `goal`
}

}  // namespace

std::vector<int32_t> BestTokens(std::span<const float> logits, int count, std::span<const float> maxima) {
  const size_t wanted = std::min<size_t>(std::max(count, 0), logits.size());
  const int32_t size = static_cast<int32_t>(logits.size()), block = kLogitBlock;
  const Better better{logits};
  std::vector<int32_t> best;
  best.reserve(wanted + 1);
  // Later ids lose ties, so only a larger logit can displace the worst of the list.
  const auto is_of_use = [&](float logit) {
    return best.size() < wanted || logit > Rank(logits[best.back()]);
  };
  for (int32_t begin = 0; begin < size && wanted > 0; begin += block) {
    if (!maxima.empty() && !is_of_use(maxima[begin / block])) continue;
    for (int32_t token = begin; token < std::min(begin + block, size); ++token) {
      if (!is_of_use(logits[token])) continue;
      best.insert(std::upper_bound(best.begin(), best.end(), token, better), token);
      if (best.size() > wanted) best.pop_back();
    }
  }
  return best;
}

void CheckSampleSpec(const SampleSpec& spec) {
  if (!(spec.temperature >= 0 && std::isfinite(spec.temperature))) {
    throw Error("temperature", fmt::format("{} is not a finite number of at least 0", spec.temperature));
  }
  if (spec.top_k < 0)
    throw Error("top-k", fmt::format("{} is negative", spec.top_k), "give 0 for all tokens");
  if (!(spec.top_p > 0 && spec.top_p <= 1))
    throw Error("top-p", fmt::format("{} is not in (0, 1]", spec.top_p));
}

int32_t SampleToken(std::span<const float> logits, const SampleSpec& spec, std::span<const float> maxima) {
  CheckSampleSpec(spec);
  const int32_t best = BestTokens(logits, 1, maxima).front();
  if (spec.temperature == 0) return best;

  const double largest = Rank(logits[best]);
  std::vector<double> weights(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    const double below = Rank(logits[i]) - largest;
    weights[i] = below == 0 ? 1 : std::exp(below / spec.temperature);
  }
  std::vector<int32_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  const Better better{logits};
  if (spec.top_k > 0 && static_cast<size_t>(spec.top_k) < tokens.size()) {
    std::nth_element(tokens.begin(), tokens.begin() + spec.top_k, tokens.end(), better);
    tokens.resize(spec.top_k);
  }
  if (spec.top_p < 1) {
    std::sort(tokens.begin(), tokens.end(), better);
    CutToMass(tokens, weights, spec.top_p);
  }
  std::sort(tokens.begin(), tokens.end());
  return Draw(tokens, weights, Uniform(spec.key, spec.counter));
}

QueryResult AnswerQuery(const Query& query, std::span<const float> logits, double log_sum,
                        std::span<const float> maxima) {
  const auto logprob = [&](int32_t token) { return static_cast<float>(logits[token] - log_sum); };
  QueryResult result;
  for (int32_t token : query.targets) result.target_logprobs.push_back(logprob(token));
  for (int32_t token : BestTokens(logits, query.top, maxima)) result.top.push_back({token, logprob(token)});
  if (query.sample) {
    const int32_t token = SampleToken(logits, query.spec, maxima);
    result.sampled = {token, logprob(token)};
  }
  return result;
}

}  // namespace fullband
