// The decode semantics, said as plainly as possible: whole passes over whole prompts, one sequence at a time,
// no pages, no batches. What the engine must agree with, on any model.
//
// `M` has a type Vector (a state), a type Cache (what one pass's positions left so far) with length(), and
// Embed(token), Fuse(token, h, h_older, control), Advance(input, cache) giving h, Logprobs(h).
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "engine/decode/setting.h"
#include "tests/support/toy_backend.h"

namespace fullband {

template <typename M>
class Semantics {
 public:
  using Vector = typename M::Vector;
  using Tokens = std::vector<int32_t>;

  explicit Semantics(const M& model) : model_(model) {}

  // The states of all positions after `passes` passes.
  std::vector<Vector> Prefill(const Tokens& tokens, int passes, Control control) const {
    return PrefillLine(tokens, passes, control).states;
  }

  // The same as a recurrence, one position at a time; positions before `fused_from` are plain.
  std::vector<Vector> Recur(const Tokens& tokens, int fused_from, Control control) const {
    return RecurLine(tokens, fused_from, control).states;
  }

  // All log-probabilities of every step; the caller says what was chosen in each.
  std::vector<std::vector<float>> Decode(const Tokens& prompt, const Tokens& chosen,
                                         const std::string& name) const {
    const Setting setting = Setting::Parse(name);
    Line line = setting.exact ? RecurLine(prompt, 1, setting.control)
                              : PrefillLine(prompt, setting.passes, setting.control);
    std::vector<std::vector<float>> logprobs;
    for (int32_t token : chosen) {
      logprobs.push_back(Logprobs(line.states.back()));
      const bool fused = setting.mode == Mode::kLatent;
      Run(fused ? Fused(token, line.states, static_cast<int>(line.states.size()), setting.control)
                : model_.Embed(token),
          &line);
    }
    return logprobs;
  }

  std::vector<float> Score(const Tokens& context, const Tokens& continuation, const std::string& name) const {
    const Setting setting = Setting::Parse(name);
    std::vector<std::vector<float>> logprobs;
    if (setting.mode == Mode::kParallel) {
      Tokens all = context;
      all.insert(all.end(), continuation.begin(), continuation.end());
      const std::vector<Vector> states = Prefill(all, setting.passes, setting.control);
      for (size_t i = 0; i < continuation.size(); ++i)
        logprobs.push_back(Logprobs(states[context.size() - 1 + i]));
    } else {
      logprobs = Decode(context, continuation, name);
    }
    std::vector<float> scores;
    for (size_t i = 0; i < continuation.size(); ++i)
      scores.push_back(logprobs[i][static_cast<size_t>(continuation[i])]);
    return scores;
  }

 private:
  struct Line {
    typename M::Cache cache;
    std::vector<Vector> states;
  };

  std::vector<float> Logprobs(const Vector& state) const {
    const auto values = model_.Logprobs(state);
    return {values.begin(), values.end()};
  }

  Vector Fused(int32_t token, const std::vector<Vector>& states, int position, Control control) const {
    return model_.Fuse(token, states.at(static_cast<size_t>(position - 1)),
                       states.at(static_cast<size_t>(std::max(position - 2, 0))), control);
  }

  void Run(const Vector& input, Line* line) const {
    line->states.push_back(model_.Advance(input, line->cache));
  }

  Line PrefillLine(const Tokens& tokens, int passes, Control control) const {
    Line before;
    for (int pass = 0; pass < passes; ++pass) {
      Line line;
      for (int t = 0; t < static_cast<int>(tokens.size()); ++t) {
        const int32_t token = tokens[static_cast<size_t>(t)];
        Run(pass > 0 && t > 0 ? Fused(token, before.states, t, control) : model_.Embed(token), &line);
      }
      before = std::move(line);
    }
    return before;
  }

  Line RecurLine(const Tokens& tokens, int fused_from, Control control) const {
    Line line;
    for (int t = 0; t < static_cast<int>(tokens.size()); ++t) {
      const int32_t token = tokens[static_cast<size_t>(t)];
      Run(t >= std::max(fused_from, 1) ? Fused(token, line.states, t, control) : model_.Embed(token), &line);
    }
    return line;
  }

  const M& model_;
};

// The toy model in these terms.
class ToySpecification {
 public:
  using Vector = ToyModel::Vector;
  struct Cache {
    std::vector<ToyModel::Keys> keys;
  };

  Vector Embed(int32_t token) const { return ToyModel::Embed(token); }
  Vector Fuse(int32_t token, const Vector& h, const Vector& h_older, Control control) const {
    return model_.Fuse(token, h, h_older, control);
  }
  Vector Advance(const Vector& input, Cache& cache) const {
    std::vector<const ToyModel::Keys*> keys;
    for (const ToyModel::Keys& key : cache.keys) keys.push_back(&key);
    ToyModel::Keys own;
    const Vector state = ToyModel::Stack(input, static_cast<int>(keys.size()), keys, &own);
    cache.keys.push_back(own);
    return state;
  }
  std::vector<float> Logprobs(const Vector& h) const { return model_.Logprobs(h); }

 private:
  ToyModel model_;
};

}  // namespace fullband
