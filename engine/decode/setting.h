// A setting: how to decode or score. `mode[@P|@exact][:control]`, e.g. "latent@2:stale".
#pragma once

#include <string>
#include <string_view>

#include "engine/checkpoint/config.h"
#include "engine/compute/step.h"

namespace fullband {

enum class Mode {
  kStandard,  // generated tokens re-enter as plain embeddings
  kLatent,    // generated tokens are fused with the previous top-layer state (paper, equation 3)
  kParallel,  // scoring only: P passes over context and continuation at once
};

struct Setting {
  Mode mode = Mode::kStandard;
  int passes = 1;      // prefill passes P >= 1; ignored when `exact`
  bool exact = false;  // the prompt is run as the recurrence, one position at a time
  Control control = Control::kNone;

  bool operator==(const Setting&) const = default;

  // Throws a usage Error for anything that is not a setting, naming near ones; a control on a setting without
  // fused positions is refused.
  static Setting Parse(std::string_view text);

  // The one way this setting is written: "standard@1" -> "standard", "parallel@1" -> "standard".
  std::string Name() const;

  // True where some position's input is fused, so that the model must have latent-feedback weights.
  bool UsesFeedback() const;
};

// Throws a usage Error where `setting` cannot be run on a model with this fusion: no latent-feedback weights
// (naming the missing tensors), or constant_gate under additive fusion.
void CheckSetting(const Setting& setting, Fusion fusion);

}  // namespace fullband
