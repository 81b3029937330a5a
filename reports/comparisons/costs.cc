#include "reports/comparisons/costs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace fullband {
namespace {

std::optional<double> Quotient(double above, double below) {
  if (!(above > 0 && below > 0)) return std::nullopt;
  return above / below;
}

std::optional<double> Positive(double value) { return value > 0 ? std::optional(value) : std::nullopt; }

std::string Conditions(const SessionRecord& session) {
  return fmt::format("{}: {}, {} thread{}, batch {}, chunk {}", session.host, session.machine,
                     session.threads, session.threads == 1 ? "" : "s", session.batch, session.chunk);
}

double RightSamples(const RunResults& results) {
  double right = 0;
  for (const ItemResult& item : results.items)
    for (const SampleResult& sample : item.samples)
      right += sample.Of(results.run.headline) == Result::kCorrect;
  return right;
}

}  // namespace

RunCost CostOf(const RunResults& results, const std::vector<SessionRecord>& sessions) {
  const auto& sums = results.cost;
  RunCost cost;
  cost.seconds = Positive(sums.wall_seconds);
  const bool generates = results.run.ask == "generate" && results.Knows("generated_tokens");
  const double tokens = static_cast<double>(sums.generated_tokens);
  if (generates) {
    cost.generated_tokens = tokens;
    cost.tokens_per_second = Quotient(tokens, sums.wall_seconds);
  }
  if (results.imported) return cost;  // of other engines no more is known
  if (generates)
    cost.decode_seconds_per_token = Quotient(sums.decode_seconds, static_cast<double>(sums.decode_forwards));
  cost.forwards = Positive(static_cast<double>(sums.prefill_forwards + sums.decode_forwards));
  if (cost.forwards) cost.right_per_million_forwards = 1e6 * RightSamples(results) / *cost.forwards;
  cost.peak_memory_bytes = Positive(static_cast<double>(sums.peak_memory_bytes));
  std::set<std::string> ran_on;
  for (const SessionRecord& session : sessions) ran_on.insert(Conditions(session));
  cost.ran_on.assign(ran_on.begin(), ran_on.end());
  return cost;
}

CostComparison CompareCosts(const RunCost& a, const RunCost& b) {
  CostComparison costs{a, b, {}, {}};
  if (!a.decode_seconds_per_token || !b.decode_seconds_per_token) {
    costs.incomparable = "seconds of decoding are not known of both";
  } else if (a.ran_on.empty() || b.ran_on.empty()) {
    costs.incomparable = "what they ran on is not known of both";
  } else if (a.ran_on.size() > 1 || b.ran_on.size() > 1 || a.ran_on != b.ran_on) {
    costs.incomparable =
        fmt::format("A ran on {}, B on {}", fmt::join(a.ran_on, "; "), fmt::join(b.ran_on, "; "));
  } else {
    costs.overhead = *b.decode_seconds_per_token / *a.decode_seconds_per_token - 1;
  }
  return costs;
}

}  // namespace fullband
