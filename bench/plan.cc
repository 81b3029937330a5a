#include "bench/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"

namespace fullband {
namespace {

std::vector<Setting> PlanSettings(std::vector<std::string> names, Fusion fusion) {
  if (names.empty()) {
    names = {"standard"};
    if (fusion != Fusion::kNone) names.insert(names.end(), {"latent", "latent@2"});
  }
  std::vector<Setting> settings;
  for (const std::string& name : names) {
    const Setting setting = Setting::Parse(name);
    if (setting.mode == Mode::kParallel)
      throw UsageError("--setting " + name, "is for scoring only, so there is nothing to decode",
                       "give standard or latent, with as many prefill passes as you like");
    CheckSetting(setting, fusion);
    if (std::find(settings.begin(), settings.end(), setting) != settings.end())
      throw UsageError("--setting", fmt::format("names {} twice", setting.Name()));
    settings.push_back(setting);
  }
  return settings;
}

// The sizes of a list in order. `least` and `most` bound them; defaults beyond `most` are left out, and said
// so.
std::vector<int> PlanSizes(const char* option, std::vector<int> given, std::vector<int> defaults, int least,
                           int most, std::vector<LeftOut>* left_out) {
  const bool asked = !given.empty();
  std::vector<int> sizes;
  for (int size : asked ? given : defaults) {
    if (size < least)
      throw UsageError(option, fmt::format("{} is too small", size), fmt::format("from {} on", least));
    if (size > most) {
      if (asked)
        throw UsageError(option, fmt::format("{} is beyond the model's context of {}", size, most),
                         "give smaller ones");
      left_out->push_back({fmt::format("{} {}", option, size),
                           fmt::format("beyond the model's context of {} positions", most)});
      continue;
    }
    if (std::find(sizes.begin(), sizes.end(), size) != sizes.end())
      throw UsageError(option, fmt::format("names {} twice", size));
    sizes.push_back(size);
  }
  if (sizes.empty()) sizes.push_back(most);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

}  // namespace

BenchPlan MakeBenchPlan(const BenchRequest& request, const ModelConfig& config) {
  constexpr int kLargest = 1 << 20;
  BenchPlan plan;
  plan.settings = PlanSettings(request.settings, config.fusion);
  plan.steps = request.steps;
  plan.repeats = request.repeats.value_or(request.quick ? 3 : 5);
  if (plan.repeats < 1) throw UsageError("--repeats", "must be at least 1");
  if (config.max_positions < 2)
    throw Error("model", fmt::format("has a context of {}: nothing can be decoded", config.max_positions));
  using Sizes = std::vector<int>;
  const bool quick = request.quick;
  const int most = config.max_positions;
  plan.prompt_lengths = PlanSizes("--prompt-lengths", request.prompt_lengths,
                                  quick ? Sizes{128} : Sizes{128, 512, 2048}, 1, most, &plan.left_out);
  plan.chunks = PlanSizes("--chunks", request.chunks, quick ? Sizes{128} : Sizes{128, 512, 2048}, 1, kLargest,
                          &plan.left_out);
  plan.batches =
      PlanSizes("--batches", request.batches, quick ? Sizes{1, 8, 32} : Sizes{1, 2, 4, 8, 16, 32, 64}, 1,
                kLargest, &plan.left_out);
  plan.contexts = PlanSizes("--contexts", request.contexts, quick ? Sizes{128} : Sizes{128, 1024, 2048}, 2,
                            most, &plan.left_out);
  return plan;
}

}  // namespace fullband
