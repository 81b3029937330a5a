#include "tests/reports/charts/made_runs.h"

#include <cmath>

#include "reports/comparisons/families.h"

namespace fullband {
namespace {

// Numbers that look drawn and are the same everywhere (SplitMix64).
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed) {}
  double Uniform() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  double Bell() {  // mean 0, deviation 1, nearly
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += Uniform();
    return sum - 6;
  }

 private:
  uint64_t state_;
};

RunResults MakeRun(const MadeSweep& sweep, size_t model, size_t setting) {
  RunResults results;
  results.run.key =
      std::string(1, static_cast<char>('a' + setting)) + std::string(63, '0' + static_cast<char>(model));
  results.run.identity = R"({"setting":")" + std::to_string(setting) + R"("})";
  results.run.suite = "made";
  results.run.ask = "generate";
  results.run.format = "completion";
  results.run.shots = 5;
  results.run.setting = sweep.settings[setting];
  results.run.headline = "number";
  results.model.id = results.run.model_id = static_cast<int64_t>(model);
  results.model.name = sweep.models[model];
  results.model.weights_sha256 = std::string(64, static_cast<char>('a' + model));
  results.samples_per_item = 1;
  static const char* kKinds[] = {"sums", "products", "words"};
  for (int i = 0; i < sweep.items; ++i) {
    Draws of_item(static_cast<uint64_t>(i) + 1);  // what runs share
    Draws own(static_cast<uint64_t>(i) * 977 + model * 31 + setting * 7 + 5);
    const int64_t steps = 1 + static_cast<int64_t>(8 * of_item.Uniform());
    const double hard = of_item.Uniform() + 0.05 * static_cast<double>(steps);
    const double skill = 0.62 + 0.04 * static_cast<double>(setting) + 0.1 * static_cast<double>(model);
    const double natural =
        std::exp(4 + 0.12 * static_cast<double>(steps) + 0.5 * of_item.Bell() + 0.2 * own.Bell());
    ItemResult& item = results.items.emplace_back();
    item.item = std::to_string(i);
    item.groups = {{"kind", kKinds[i % 3], std::nullopt}, {"steps", std::to_string(steps), steps}};
    SampleResult& sample = item.samples.emplace_back();
    sample.trace_tokens = std::lround(natural * (1 + 0.05 * static_cast<double>(setting)));
    sample.truncated = sweep.limit > 0 && sample.trace_tokens >= sweep.limit;
    if (sample.truncated) sample.trace_tokens = sweep.limit;
    const bool right = !sample.truncated && hard + 0.15 * own.Bell() < skill;
    sample.grades["number"] = {right ? Result::kCorrect : Result::kIncorrect, 1};
    sample.tokens_sha256 = std::to_string(sample.trace_tokens);
    results.cost.generated_tokens += sample.trace_tokens + 1;
  }
  results.cost.wall_seconds = static_cast<double>(results.cost.generated_tokens) /
                              (240 - 9 * static_cast<double>(setting) - 60 * static_cast<double>(model));
  return results;
}

// What a contraction might have measured of these models.
std::vector<MeasuredPasses> MakePasses(const std::vector<RunResults>& runs) {
  std::vector<MeasuredPasses> all;
  for (const RunResults& results : runs) {
    if (results.run.setting != runs.front().run.setting) continue;
    MeasuredPasses& measured = all.emplace_back();
    measured.model = results.model.name;
    measured.source = "made";
    const double rate = 0.4 + 0.2 * static_cast<double>(all.size());
    measured.recurrence_loss = 1.1 + 0.1 * static_cast<double>(all.size());
    for (int pass = 1; pass <= 12; ++pass) {
      const double left = std::pow(rate, pass);
      const std::optional<double> residual = pass > 1 ? std::optional(left) : std::nullopt;
      measured.passes.push_back({pass, residual, residual, left, left, measured.recurrence_loss + left});
    }
  }
  return all;
}

}  // namespace

std::vector<RunResults> MakeSweep(const MadeSweep& sweep) {
  std::vector<RunResults> runs;
  for (size_t model = 0; model < sweep.models.size(); ++model) {
    for (size_t setting = 0; setting < sweep.settings.size(); ++setting)
      runs.push_back(MakeRun(sweep, model, setting));
  }
  return runs;
}

std::vector<Chart> ChartsOf(const std::vector<RunResults>& runs) {
  const ChartLooks looks(runs);
  const std::vector<Comparison> pairs = CompareSuite(runs);
  std::vector<Chart> charts;
  const auto add = [&](std::optional<Chart> chart) {
    if (chart) charts.push_back(std::move(*chart));
  };
  add(AccuracyChart(runs, looks));
  add(DifferenceChart(pairs, looks));
  add(ThroughputChart(runs, looks));
  add(LengthAccuracyChart(runs, looks));
  const std::vector<Breakdown> breakdowns = BreakDown(runs);
  for (Chart& chart : DifficultyCharts(breakdowns, looks)) charts.push_back(std::move(chart));
  for (Chart& chart : LengthCharts(pairs, looks)) charts.push_back(std::move(chart));
  std::vector<BudgetPoint> points;
  for (const RunResults& results : runs) {
    for (int64_t budget = 32; budget <= 512; budget *= 2) {
      double right = 0;
      for (const ItemResult& item : results.items) {
        const SampleResult& sample = item.samples[0];
        right += sample.trace_tokens <= budget && sample.Of("number") == Result::kCorrect;
      }
      const double share = right / static_cast<double>(results.items.size());
      points.push_back({results.run.setting, budget, share, std::max(0.0, share - 0.05),
                        std::min(1.0, share + 0.05), results.model.name});
    }
  }
  add(BudgetChart(points, looks));
  add(PassChart(MakePasses(runs)));
  return charts;
}

}  // namespace fullband
