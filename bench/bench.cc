#include "bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/suite.h"

namespace fullband {
namespace {

constexpr int kPairsARepeat = 8;         // of decode steps
constexpr int kPrefillPairsARepeat = 2;  // of prompts
constexpr int kPairPrompt = 512;         // tokens, where the context allows
constexpr int kPairChunk = 128;
constexpr int kOverheadBatch = 32;
constexpr int kProfileContext = 1024;
constexpr int kSharedBatch = 32, kSharedContext = 1024, kSharedPositions = 950;

class Measurer {
 public:
  Measurer(StepRunner* runner, const BenchPlan& plan, const BenchSurroundings& around, BenchReport* report)
      : runner_(runner), plan_(plan), around_(around), report_(report) {}

  void Prefill() {
    for (int prompt : plan_.prompt_lengths) {
      for (int chunk : plan_.chunks) {
        // Larger chunks than the prompt are the whole prompt, like the one before.
        if (chunk > prompt && chunk != plan_.chunks.front()) continue;
        for (const Setting& setting : plan_.settings) {
          around_.say(fmt::format("prefill {}: {} tokens, chunk {}", setting.Name(), prompt, chunk));
          report_->prefill.push_back(
              {setting.Name(), prompt, chunk,
               MeasurePrefill(runner_, around_.now, setting, prompt, chunk, plan_.repeats)});
        }
      }
    }
  }

  void Decode() {
    for (int context : plan_.contexts) {
      for (int batch : plan_.batches) {
        const BatchShape shape{batch, context, 0};
        const std::string name = fmt::format("decode: batch {}, context {}", batch, context);
        if (!Fits(name, DecodeBatch::Pages(*runner_, shape))) continue;
        around_.say(name);
        DecodeBatch sequences(runner_, shape);
        for (const Setting& setting : plan_.settings)
          report_->decode.push_back(
              {setting.Name(), batch, context,
               MeasureDecode(runner_, around_.now, &sequences, setting, plan_.repeats)});
      }
    }
  }

  // Each way to decode once: settings that differ in their prefill alone decode alike.
  void DecodeOverheads() {
    const Setting standard;
    std::vector<Control> done;
    for (const Setting& setting : plan_.settings) {
      if (setting.mode != Mode::kLatent || std::find(done.begin(), done.end(), setting.control) != done.end())
        continue;
      done.push_back(setting.control);
      for (int batch : Ends(plan_.batches, kOverheadBatch)) {
        for (int context : Ends(plan_.contexts, plan_.contexts.back())) {
          const std::string name =
              fmt::format("{} against standard: batch {}, context {}", setting.Name(), batch, context);
          const BatchShape shape{batch, context, 0};
          if (!Fits(name, DecodeBatch::Pages(*runner_, shape))) continue;
          around_.say(name);
          DecodeBatch sequences(runner_, shape);
          report_->decode_overhead.push_back(
              {setting.Name(), standard.Name(), batch, context,
               MeasurePairs(
                   around_.now, plan_.repeats * kPairsARepeat, 1, [&] { sequences.Run(standard); },
                   [&] { sequences.Run(setting); })});
        }
      }
    }
  }

  void PrefillOverheads() {
    const int prompt = std::min(kPairPrompt, plan_.prompt_lengths.back());
    for (const Setting& setting : plan_.settings) {
      if (setting.exact || setting.passes < 2) continue;
      Setting one = setting;
      one.passes = 1;
      one.control = Control::kNone;
      around_.say(
          fmt::format("{} passes against {} x one: {} tokens", setting.passes, setting.passes, prompt));
      report_->prefill_overhead.push_back(
          {setting.Name(), one.Name(), setting.passes, prompt, kPairChunk,
           MeasurePairs(
               around_.now, plan_.repeats * kPrefillPairsARepeat, 1.0 / setting.passes,
               [&] { runner_->Prefill(one, prompt, kPairChunk); },
               [&] { runner_->Prefill(setting, prompt, kPairChunk); })});
    }
  }

  void Sharing() {
    const int context = std::min(kSharedContext, runner_->config().max_positions);
    const int shared = kSharedPositions * context / kSharedContext;
    const BatchShape apart{kSharedBatch, context, 0}, together{kSharedBatch, context, shared};
    const std::string name =
        fmt::format("shared beginning of {} positions: batch {}, context {}", shared, kSharedBatch, context);
    if (!Fits(name, DecodeBatch::Pages(*runner_, apart) + DecodeBatch::Pages(*runner_, together))) return;
    around_.say(name);
    DecodeBatch unshared(runner_, apart), sharing(runner_, together);
    for (const Setting& setting : plan_.settings) {
      if (&setting != &plan_.settings.front() && setting.passes > 1) continue;  // decodes like one pass
      report_->shared_prefix.push_back({setting.Name(), kSharedBatch, context, shared,
                                        MeasurePairs(
                                            around_.now, plan_.repeats * 2, 1, [&] { sharing.Run(setting); },
                                            [&] { unshared.Run(setting); })});
    }
  }

  void Profiles() {
    const int prompt = std::min(kPairPrompt, plan_.prompt_lengths.back());
    const int context = plan_.contexts.back() > kProfileContext
                            ? std::max(kProfileContext, plan_.contexts.front())
                            : plan_.contexts.back();
    for (const Setting& setting : plan_.settings) {
      Profile(setting, fmt::format("prefill, {} tokens, chunk {}", prompt, kPairChunk),
              [&] { runner_->Prefill(setting, prompt, kPairChunk); });
      if (&setting != &plan_.settings.front() && setting.passes > 1) continue;  // decodes like one pass
      for (int batch : Ends(plan_.batches, kOverheadBatch)) {
        const std::string name = fmt::format("decode, batch {}, context {}", batch, context);
        const BatchShape shape{batch, context, 0};
        if (!Fits(fmt::format("profile: {}", name), DecodeBatch::Pages(*runner_, shape))) continue;
        DecodeBatch sequences(runner_, shape);
        Profile(setting, name, [&] { sequences.Run(setting); });
      }
    }
  }

 private:
  void Profile(const Setting& setting, const std::string& name, const std::function<void()>& work) {
    around_.say(fmt::format("profile {}: {}", setting.Name(), name));
    StepProfile profile = ProfileSteps(runner_, around_.profile, plan_.repeats, work);
    profile.what = name;
    profile.setting = setting.Name();
    report_->profiles.push_back(std::move(profile));
  }

  // The first of a list, and `wanted` or else the last.
  static std::vector<int> Ends(const std::vector<int>& sizes, int wanted) {
    const bool has = std::find(sizes.begin(), sizes.end(), wanted) != sizes.end();
    std::vector<int> ends = {sizes.front(), has ? wanted : sizes.back()};
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    return ends;
  }

  bool Fits(const std::string& name, int64_t pages) {
    const int64_t bytes = pages * runner_->page_bytes();
    if (around_.page_memory == 0 || bytes <= around_.page_memory) return true;
    report_->left_out.push_back(
        {name, fmt::format("its pages take {:.1f} GiB, and there are {:.1f} GiB for them",
                           static_cast<double>(bytes) / (1 << 30),
                           static_cast<double>(around_.page_memory) / (1 << 30))});
    return false;
  }

  StepRunner* runner_;
  const BenchPlan& plan_;
  const BenchSurroundings& around_;
  BenchReport* report_;
};

}  // namespace

void MeasureSteps(StepRunner* runner, const BenchPlan& plan, const BenchSurroundings& around,
                  BenchReport* report) {
  Measurer measurer(runner, plan, around, report);
  measurer.Prefill();
  measurer.Decode();
  measurer.DecodeOverheads();
  measurer.PrefillOverheads();
  measurer.Sharing();
  if (around.profile != nullptr) measurer.Profiles();
}

void MeasureLoading(const std::filesystem::path& folder, const EngineOptions& engine, const BenchPlan& plan,
                    const BenchSurroundings& around, BenchReport* report) {
  around.say("loading");
  LoadingFigure figure;
  for (int i = 0; i <= plan.repeats; ++i) {
    if (around.stop != nullptr && *around.stop) return;
    const double began = around.now();
    const Engine opened(folder, engine);
    const double seconds = around.now() - began;
    if (i == 0)
      figure.first = seconds;
    else
      figure.seconds.push_back(seconds);
  }
  report->loading = std::move(figure);
}

void MeasureSuites(Backend* backend, const BenchPlan& plan, const SuiteWork& work,
                   const BenchSurroundings& around, BenchReport* report) {
  for (TaskData data : work.suites) {
    for (size_t limit : work.limits.empty() ? std::vector<size_t>{0} : work.limits) {
      data.options.limit = limit;
      data.options.max_context = backend->config().max_positions;
      const Task task = BuildTask(data, *work.tokenizer, nullptr);
      for (const Setting& setting : plan.settings) {
        around.say(
            fmt::format("suite {} {}: {} items", data.suite.name, setting.Name(), task.questions.size()));
        report->suites.push_back(
            MeasureSuite(backend, work.tokenizer, work.engine, task, setting, around.now, around.stop));
      }
    }
  }
}

}  // namespace fullband
