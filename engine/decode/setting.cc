#include "engine/decode/setting.h"

#include <charconv>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/names.h"

namespace fullband {
namespace {

constexpr size_t kMaxDigits = 9;  // passes fit an int

struct ControlName {
  const char* name;
  Control control;
};
constexpr ControlName kControls[] = {{"zero", Control::kZero},
                                     {"stale", Control::kStale},
                                     {"reversed", Control::kReversed},
                                     {"constant_gate", Control::kConstantGate}};

std::vector<std::string> ControlNames() {
  std::vector<std::string> names;
  for (const ControlName& entry : kControls) names.push_back(entry.name);
  return names;
}

// Enough of the settings to find a near one.
std::vector<std::string> SettingNames() {
  std::vector<std::string> names;
  for (const char* base : {"standard", "latent", "latent@2", "latent@3", "latent@exact", "standard@2",
                           "standard@exact", "parallel@2", "parallel@3"})
    names.push_back(base);
  return names;
}

Error Unknown(std::string_view text, std::string why, std::string remedy) {
  return UsageError("setting '" + std::string(text) + "'", std::move(why), std::move(remedy));
}

Mode ParseMode(std::string_view text, std::string_view without_control, std::string_view mode) {
  if (mode == "standard") return Mode::kStandard;
  if (mode == "latent") return Mode::kLatent;
  if (mode == "parallel") return Mode::kParallel;
  throw Unknown(text, "is not a setting", DidYouMean(without_control, SettingNames()));
}

Control ParseControl(std::string_view text, std::string_view name) {
  for (const ControlName& entry : kControls)
    if (name == entry.name) return entry.control;
  throw Unknown(text, "has the unknown control '" + std::string(name) + "'",
                DidYouMean(name, ControlNames()));
}

int ParsePasses(std::string_view text, std::string_view digits) {
  int passes = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), passes);
  const bool is_number = digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_number || digits.empty() || digits.size() > kMaxDigits || error != std::errc() || passes < 1)
    throw Unknown(text, "has '" + std::string(digits) + "' for its number of prefill passes",
                  "write a whole number from 1 on, or 'exact', after the @");
  return passes;
}

}  // namespace

Setting Setting::Parse(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view rest = text.substr(0, colon);
  const size_t at = rest.find('@');
  Setting setting;
  setting.mode = ParseMode(text, rest, rest.substr(0, at));
  if (at != std::string_view::npos) {
    const std::string_view passes = rest.substr(at + 1);
    setting.exact = passes == "exact";
    if (!setting.exact) setting.passes = ParsePasses(text, passes);
  }
  if (colon != std::string_view::npos) setting.control = ParseControl(text, text.substr(colon + 1));
  // Every position fused, one at a time, is the same whichever way it is asked for; so is every position
  // plain.
  if (setting.mode == Mode::kParallel && setting.exact) setting.mode = Mode::kLatent;
  if (setting.mode == Mode::kParallel && setting.passes == 1) setting.mode = Mode::kStandard;
  if (setting.control != Control::kNone && !setting.UsesFeedback())
    throw Unknown(text, "has a control, but no position whose input is fused",
                  "leave the control out, or use latent or more prefill passes");
  return setting;
}

std::string Setting::Name() const {
  std::string name = mode == Mode::kLatent ? "latent" : mode == Mode::kParallel ? "parallel" : "standard";
  if (mode == Mode::kParallel && !exact && passes == 1) name = "standard";
  if (mode == Mode::kParallel && exact) name = "latent";
  if (exact) {
    name += "@exact";
  } else if (passes > 1) {
    name += '@';
    name += std::to_string(passes);
  }
  for (const ControlName& entry : kControls)
    if (control == entry.control) name.append(":").append(entry.name);
  return name;
}

bool Setting::UsesFeedback() const { return mode == Mode::kLatent || exact || passes > 1; }

void CheckSetting(const Setting& setting, Fusion fusion) {
  if (!setting.UsesFeedback()) return;
  const std::string what = "setting '" + setting.Name() + "'";
  if (fusion == Fusion::kNone)
    throw UsageError(
        what,
        "the model has no latent feedback: config.json has no 'latent_feedback', and the tensors "
        "latent_feedback.state_proj.weight and latent_feedback.token_gate.weight (glu) are missing",
        "use the setting 'standard', or a checkpoint trained with latent feedback");
  if (setting.control == Control::kConstantGate && fusion == Fusion::kAdditive)
    throw UsageError(what, "the model's fusion is additive and has no gate to hold constant",
                     "use one of the controls zero, stale and reversed");
}

}  // namespace fullband
