#include "bench/rates.h"
#include "bench/report.h"

namespace fullband {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;  // raised when a key changes its meaning

Json SpreadJson(const Spread& spread) {
  return {{"median", spread.median}, {"min", spread.least}, {"max", spread.most}};
}

Json FigureJson(const Figure& figure, const MachineFigures& machine) {
  const Rates rates = RatesOf(figure, machine);
  Json out = {{"tokens", figure.tokens},
              {"seconds", figure.seconds},
              {"tokens_per_second", SpreadJson(rates.tokens)},
              {"operations", figure.work.flops},
              {"bytes", figure.work.bytes},
              {"gflop_per_second", rates.flops / 1e9},
              {"gbyte_per_second", rates.bytes / 1e9},
              {"roofline_share", nullptr}};
  if (rates.roofline_share) out["roofline_share"] = *rates.roofline_share;
  return out;
}

void AddPairs(const Pairs& pairs, const char* first, const char* second, Json* out) {
  const MedianInterval interval = MedianIntervalOf(pairs.ratios);
  (*out)["ratio"] = {{"median", SpreadOf(pairs.ratios).median},
                     {"low", interval.low},
                     {"high", interval.high},
                     {"confidence", interval.confidence}};
  (*out)["ratios"] = pairs.ratios;
  (*out)["seconds"] = {{first, pairs.first}, {second, pairs.second}};
}

Json MachineJson(const MachineFigures& machine) {
  Json caches = Json::array();
  for (const CacheSize& cache : machine.caches)
    caches.push_back({{"level", cache.level}, {"type", cache.type}, {"bytes", cache.bytes}});
  Json out = {{"processor", machine.processor},
              {"target", machine.target},
              {"threads", machine.threads},
              {"caches", std::move(caches)},
              {"probes", nullptr}};
  if (!machine.bounds) return out;
  Json peaks = Json::array();
  for (const MachineBounds::Peak& peak : machine.bounds->peaks)
    peaks.push_back({{"target", peak.target}, {"gflop_per_second", peak.flops / 1e9}});
  out["probes"] = {{"buffer_bytes", machine.probe_bytes},
                   {"read_gbyte_per_second", machine.bounds->read_bandwidth / 1e9},
                   {"triad_gbyte_per_second", machine.bounds->triad_bandwidth / 1e9},
                   {"multiply_add", std::move(peaks)}};
  return out;
}

Json LoadingJson(const std::optional<LoadingFigure>& loading) {
  if (!loading) return nullptr;
  return {{"first_seconds", loading->first},
          {"seconds", loading->seconds},
          {"median_seconds", SpreadOf(loading->seconds).median}};
}

Json ModelJson(const BenchSubject& subject, const MemoryFigures& memory) {
  const ModelConfig& c = subject.model->config;
  Json out = {{"name", subject.name},
              {"random", subject.random_model},
              {"random_feedback_seed", nullptr},
              {"parameters", subject.model->parameter_count},
              {"dtype", DTypeName(subject.model->weights.embedding.dtype)},
              {"weights_bytes", memory.weights},
              {"width", c.hidden_size},
              {"layers", c.layers},
              {"heads", c.heads},
              {"kv_heads", c.kv_heads},
              {"head_dim", c.head_dim},
              {"inner", c.intermediate_size},
              {"vocabulary", c.vocab_size},
              {"max_positions", c.max_positions},
              {"latent_feedback", c.fusion != Fusion::kNone}};
  if (subject.random_feedback) out["random_feedback_seed"] = *subject.random_feedback;
  return out;
}

Json OptionsJson(const BenchPlan& plan, const EngineOptions& engine) {
  Json settings = Json::array();
  for (const Setting& setting : plan.settings) settings.push_back(setting.Name());
  return {{"settings", std::move(settings)},
          {"prompt_lengths", plan.prompt_lengths},
          {"chunks", plan.chunks},
          {"batches", plan.batches},
          {"contexts", plan.contexts},
          {"repeats", plan.repeats},
          {"engine",
           {{"device", engine.device},
            {"batch", engine.batch > 0 ? Json(engine.batch) : Json("auto")},
            {"chunk", engine.chunk},
            {"kv_dtype", engine.kv_dtype}}}};
}

Json StepFigures(const BenchReport& report) {
  Json out = {{"prefill", Json::array()}, {"decode", Json::array()}};
  for (const PrefillFigure& f : report.prefill) {
    Json one = {{"setting", f.setting}, {"prompt_tokens", f.prompt}, {"chunk", f.chunk}};
    one.update(FigureJson(f.figure, report.machine));
    out["prefill"].push_back(std::move(one));
  }
  for (const DecodeFigure& f : report.decode) {
    Json one = {{"setting", f.setting}, {"batch", f.batch}, {"context", f.context}};
    one.update(FigureJson(f.figure, report.machine));
    out["decode"].push_back(std::move(one));
  }
  return out;
}

Json PairFigures(const BenchReport& report) {
  Json out = {{"decode_overhead", Json::array()},
              {"prefill_overhead", Json::array()},
              {"shared_prefix", Json::array()}};
  for (const DecodeOverhead& f : report.decode_overhead) {
    Json one = {{"setting", f.setting}, {"over", f.over}, {"batch", f.batch}, {"context", f.context}};
    AddPairs(f.pairs, "over", "setting", &one);
    out["decode_overhead"].push_back(std::move(one));
  }
  for (const PrefillOverhead& f : report.prefill_overhead) {
    Json one = {{"setting", f.setting},
                {"over", f.over},
                {"passes", f.passes},
                {"prompt_tokens", f.prompt},
                {"chunk", f.chunk}};
    AddPairs(f.pairs, "over", "setting", &one);
    out["prefill_overhead"].push_back(std::move(one));
  }
  for (const SharedPrefix& f : report.shared_prefix) {
    Json one = {
        {"setting", f.setting}, {"batch", f.batch}, {"context", f.context}, {"shared_positions", f.shared}};
    AddPairs(f.pairs, "shared", "unshared", &one);
    out["shared_prefix"].push_back(std::move(one));
  }
  return out;
}

Json SuiteJson(const SuiteFigure& f) {
  const double steps = f.prefill_seconds + f.decode_seconds;
  return {{"suite", f.suite},
          {"setting", f.setting},
          {"items", f.items},
          {"not_asked", f.not_asked},
          {"seconds", f.seconds},
          {"items_per_second", static_cast<double>(f.items) / f.seconds},
          {"tokens_per_second", static_cast<double>(f.prompt_tokens + f.decoded_tokens) / f.seconds},
          {"prompt_tokens", f.prompt_tokens},
          {"decoded_tokens", f.decoded_tokens},
          {"steps", f.steps},
          {"rows", f.rows},
          {"saved_rows", f.saved_rows},
          {"prefill_share", steps > 0 ? f.prefill_seconds / steps : 0},
          {"decode_share", steps > 0 ? f.decode_seconds / steps : 0}};
}

Json ProfileJson(const StepProfile& profile) {
  Json parts = Json::array();
  double sum = 0;
  for (const StepProfile::Part& part : profile.parts) sum += part.seconds;
  for (const StepProfile::Part& part : profile.parts)
    parts.push_back(
        {{"part", part.name}, {"milliseconds", 1e3 * part.seconds}, {"share", part.seconds / sum}});
  return {{"what", profile.what},
          {"setting", profile.setting},
          {"steps", profile.steps},
          {"milliseconds", 1e3 * sum},
          {"parts", std::move(parts)}};
}

}  // namespace

Json BenchJson(const BenchReport& report, const BenchPlan& plan, const BenchSubject& subject) {
  Json out = {{"fullband_bench", kFormat},
              {"machine", MachineJson(report.machine)},
              {"model", ModelJson(subject, report.memory)},
              {"options", OptionsJson(plan, subject.engine)},
              {"loading", LoadingJson(report.loading)},
              {"formula", StepWork::Formula()}};
  out.update(StepFigures(report));
  out.update(PairFigures(report));
  out["suites"] = Json::array();
  for (const SuiteFigure& f : report.suites) out["suites"].push_back(SuiteJson(f));
  out["profiles"] = Json::array();
  for (const StepProfile& f : report.profiles) out["profiles"].push_back(ProfileJson(f));
  const MemoryFigures& m = report.memory;
  out["memory"] = {{"resident_bytes", m.resident},
                   {"peak_bytes", m.peak},
                   {"weights_bytes", m.weights},
                   {"pages_bytes", m.pages}};
  out["left_out"] = Json::array();
  for (const LeftOut& left : report.left_out)
    out["left_out"].push_back({{"what", left.what}, {"why", left.why}});
  out["stopped"] = report.stopped;
  return out;
}

}  // namespace fullband
