#include "tests/decode/toy_reference.h"

#include <algorithm>

namespace fullband {

using Vector = ToyModel::Vector;

Vector ToyReference::Fused(int32_t token, const std::vector<Vector>& states, int position,
                           Control control) const {
  return model_.Fuse(token, states.at(position - 1), states.at(std::max(position - 2, 0)), control);
}

void ToyReference::Run(const Vector& input, Line* line) {
  std::vector<const ToyModel::Keys*> keys;
  for (const ToyModel::Keys& key : line->keys) keys.push_back(&key);
  ToyModel::Keys own;
  line->states.push_back(ToyModel::Stack(input, static_cast<int>(keys.size()), keys, &own));
  line->keys.push_back(own);
}

ToyReference::Line ToyReference::PrefillLine(const std::vector<int32_t>& tokens, int passes,
                                             Control control) const {
  Line before;
  for (int pass = 0; pass < passes; ++pass) {
    Line line;
    for (size_t t = 0; t < tokens.size(); ++t)
      Run(pass > 0 && t > 0 ? Fused(tokens[t], before.states, static_cast<int>(t), control)
                            : Plain(tokens[t]),
          &line);
    before = std::move(line);
  }
  return before;
}

ToyReference::Line ToyReference::RecurLine(const std::vector<int32_t>& tokens, int fused_from,
                                           Control control) const {
  Line line;
  for (int t = 0; t < static_cast<int>(tokens.size()); ++t)
    Run(t >= std::max(fused_from, 1) ? Fused(tokens[t], line.states, t, control) : Plain(tokens[t]), &line);
  return line;
}

std::vector<Vector> ToyReference::Prefill(const std::vector<int32_t>& tokens, int passes,
                                          Control control) const {
  return PrefillLine(tokens, passes, control).states;
}

std::vector<Vector> ToyReference::Recur(const std::vector<int32_t>& tokens, int fused_from,
                                        Control control) const {
  return RecurLine(tokens, fused_from, control).states;
}

ToyReference::Line ToyReference::Start(const std::vector<int32_t>& prompt, const Setting& setting) const {
  return setting.exact ? RecurLine(prompt, 1, setting.control)
                       : PrefillLine(prompt, setting.passes, setting.control);
}

void ToyReference::Append(int32_t token, const Setting& setting, Line* line) const {
  const int position = static_cast<int>(line->states.size());
  Run(setting.mode == Mode::kLatent ? Fused(token, line->states, position, setting.control) : Plain(token),
      line);
}

ToyReference::Decoded ToyReference::Decode(const std::vector<int32_t>& prompt, int new_tokens,
                                           const std::string& name) const {
  const Setting setting = Setting::Parse(name);
  Line line = Start(prompt, setting);
  Decoded decoded;
  for (int i = 0; i < new_tokens; ++i) {
    const std::vector<float> logprobs = model_.Logprobs(line.states.back());
    decoded.tokens.push_back(ToyModel::ArgMax(logprobs));
    decoded.logprobs.push_back(logprobs[decoded.tokens.back()]);
    Append(decoded.tokens.back(), setting, &line);
  }
  return decoded;
}

std::vector<float> ToyReference::Score(const std::vector<int32_t>& context,
                                       const std::vector<int32_t>& continuation,
                                       const std::string& name) const {
  const Setting setting = Setting::Parse(name);
  std::vector<float> scores;
  if (setting.mode == Mode::kParallel) {
    std::vector<int32_t> all = context;
    all.insert(all.end(), continuation.begin(), continuation.end());
    const std::vector<Vector> states = Prefill(all, setting.passes, setting.control);
    for (size_t i = 0; i < continuation.size(); ++i)
      scores.push_back(model_.Logprobs(states[context.size() - 1 + i])[continuation[i]]);
    return scores;
  }
  Line line = Start(context, setting);
  for (int32_t token : continuation) {
    scores.push_back(model_.Logprobs(line.states.back())[token]);
    Append(token, setting, &line);
  }
  return scores;
}

}  // namespace fullband
