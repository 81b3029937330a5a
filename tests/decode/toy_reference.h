// The decode semantics on the toy model, said as plainly as possible: whole passes over whole prompts, one
// sequence at a time, no pages, no batches. What the engine must agree with.
#pragma once

#include <string>
#include <vector>

#include "engine/decode/setting.h"
#include "tests/support/toy_backend.h"

namespace fullband {

class ToyReference {
 public:
  explicit ToyReference(const ToyModel& model) : model_(model) {}

  // States of all positions after `passes` passes; positions before `fused_from` are plain.
  std::vector<ToyModel::Vector> Prefill(const std::vector<int32_t>& tokens, int passes,
                                        Control control) const;
  // The same as a recurrence, one position at a time.
  std::vector<ToyModel::Vector> Recur(const std::vector<int32_t>& tokens, int fused_from,
                                      Control control) const;

  struct Decoded {
    std::vector<int32_t> tokens;
    std::vector<float> logprobs;
  };
  Decoded Decode(const std::vector<int32_t>& prompt, int new_tokens, const std::string& setting) const;
  std::vector<float> Score(const std::vector<int32_t>& context, const std::vector<int32_t>& continuation,
                           const std::string& setting) const;

 private:
  // Positions run so far, with their keys and states: of one pass.
  struct Line {
    std::vector<ToyModel::Keys> keys;
    std::vector<ToyModel::Vector> states;
  };
  ToyModel::Vector Plain(int32_t token) const { return ToyModel::Embed(token); }
  ToyModel::Vector Fused(int32_t token, const std::vector<ToyModel::Vector>& states, int position,
                         Control control) const;
  static void Run(const ToyModel::Vector& input, Line* line);
  Line PrefillLine(const std::vector<int32_t>& tokens, int passes, Control control) const;
  Line RecurLine(const std::vector<int32_t>& tokens, int fused_from, Control control) const;
  Line Start(const std::vector<int32_t>& prompt, const Setting& setting) const;
  void Append(int32_t token, const Setting& setting, Line* line) const;

  ToyModel model_;
};

}  // namespace fullband
