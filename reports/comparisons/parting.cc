#include "reports/comparisons/parting.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>

#include "reports/statistics/summaries.h"

namespace fullband {
namespace {

// What the pairs of traces that part say of where they do.
struct Places {
  std::vector<double> common, margins_a, margins_b;
  int64_t swapped = 0, with_both = 0;  // pairs in which both have a token there, and know the runner-up
};

void ComparePair(const Trace& a, const Trace& b, Parting* parting, Places* places) {
  ++parting->traces;
  const auto [x, y] = std::mismatch(a.tokens.begin(), a.tokens.end(), b.tokens.begin(), b.tokens.end());
  const size_t at = static_cast<size_t>(x - a.tokens.begin());
  const bool in_a = x != a.tokens.end(), in_b = y != b.tokens.end();
  parting->first_alike += at > 0 || (!in_a && !in_b);
  if (!in_a && !in_b) {
    ++parting->identical;
    return;
  }
  places->common.push_back(static_cast<double>(at));
  if (in_a && at < a.margins.size()) places->margins_a.push_back(static_cast<double>(a.margins[at]));
  if (in_b && at < b.margins.size()) places->margins_b.push_back(static_cast<double>(b.margins[at]));
  if (in_a && in_b && at < a.runner_ups.size() && at < b.runner_ups.size()) {
    ++places->with_both;
    places->swapped += a.runner_ups[at] == *y && b.runner_ups[at] == *x;
  }
}

std::string TokenizerOf(const RunResults& run) {
  const nlohmann::json identity = nlohmann::json::parse(run.run.identity, nullptr, false);
  return identity.is_object() && identity.contains("tokenizer") && identity["tokenizer"].is_string()
             ? identity["tokenizer"].get<std::string>()
             : "";
}

}  // namespace

bool SameTokens(const RunResults& a, const RunResults& b) {
  if (a.run.ask != "generate" || b.run.ask != "generate") return false;
  if (!a.Knows("tokens") || !b.Knows("tokens")) return false;
  return a.run.model_id == b.run.model_id || (TokenizerOf(a) == TokenizerOf(b) && TokenizerOf(a) != "");
}

RunTraces ReadTraces(Store& store, const RunRecord& run) {
  RunTraces traces;
  store.ForEachSample(run.id, true, [&](const SampleRecord& sample) {
    if (traces.empty() || traces.back().item != sample.item) traces.push_back({sample.item, {}});
    if (!sample.fault.empty()) return;
    Trace trace{sample.sample, sample.tokens, sample.runner_ups, {}};
    if (sample.logprobs.size() == sample.tokens.size() &&
        sample.runner_up_logprobs.size() == sample.tokens.size()) {
      for (size_t i = 0; i < sample.tokens.size(); ++i)
        trace.margins.push_back(sample.logprobs[i] - sample.runner_up_logprobs[i]);
    }
    traces.back().traces.push_back(std::move(trace));
  });
  return traces;
}

std::optional<Parting> PartingOf(const RunTraces& a, const RunTraces& b) {
  std::unordered_map<std::string_view, const ItemTraces*> of_b;
  for (const ItemTraces& item : b) of_b[item.item] = &item;
  Parting parting;
  Places places;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool beside = i < b.size() && b[i].item == a[i].item;
    const auto found = beside ? of_b.end() : of_b.find(a[i].item);
    if (!beside && found == of_b.end()) continue;
    const ItemTraces& other = beside ? b[i] : *found->second;
    for (const Trace& x : a[i].traces)
      for (const Trace& y : other.traces)
        if (x.sample == y.sample) ComparePair(x, y, &parting, &places);
  }
  if (parting.traces == 0) return std::nullopt;
  std::sort(places.common.begin(), places.common.end());
  parting.percentile10 = Quantile(places.common, 0.1);
  parting.percentile25 = Quantile(places.common, 0.25);
  parting.median = Quantile(places.common, 0.5);
  parting.percentile75 = Quantile(places.common, 0.75);
  parting.percentile90 = Quantile(places.common, 0.9);
  parting.margin_a = Median(places.margins_a);
  parting.margin_b = Median(places.margins_b);
  if (places.with_both > 0)
    parting.swapped = static_cast<double>(places.swapped) / static_cast<double>(places.with_both);
  return parting;
}

}  // namespace fullband
