#include "evals/contraction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace fullband {
namespace {

// States are float32: after a few layers they carry relative errors of some 1e-6, and residuals below this
// say nothing about the map.
constexpr double kRounding = 1e-5;
// A pass that moves the states by less than this, from where the recurrence is no farther, changes next to
// nothing in what the model says.
constexpr double kSmall = 0.01;
// Rates between these two are too near to 1 to tell which side of it they are on.
constexpr double kFalls = 0.95, kStays = 0.99;
constexpr size_t kLeastPoints = 3;

// The slope of a line through log residuals by least squares, as a ratio.
double FittedRate(const std::vector<double>& residuals) {
  const auto n = static_cast<double>(residuals.size());
  double mean = 0;
  for (const double r : residuals) mean += std::log(r) / n;
  double products = 0, squares = 0;
  for (size_t i = 0; i < residuals.size(); ++i) {
    const double x = static_cast<double>(i) - (n - 1) / 2;
    products += x * (std::log(residuals[i]) - mean);
    squares += x * x;
  }
  return std::exp(products / squares);
}

// Over the second half of what is above rounding.
std::optional<double> RateOf(const std::vector<double>& residuals) {
  const auto end = std::find_if(residuals.begin(), residuals.end(), [](double r) { return r <= kRounding; });
  const auto count = static_cast<size_t>(end - residuals.begin());
  if (count < (end == residuals.end() ? kLeastPoints : 2)) return std::nullopt;
  const size_t used = std::min(count, std::max(kLeastPoints, (count + 1) / 2));
  return FittedRate({end - static_cast<ptrdiff_t>(used), end});
}

double Ratio(double squares, double base) { return squares == 0 ? 0 : std::sqrt(squares) / std::sqrt(base); }

std::optional<double> OpenRatio(double squares, double base) {
  if (base == 0) return std::nullopt;
  return Ratio(squares, base);
}

}  // namespace

const char* MapVerdictName(MapVerdict verdict) {
  switch (verdict) {
    case MapVerdict::kContracts:
      return "contracts";
    case MapVerdict::kDoesNotContract:
      return "does not contract";
    case MapVerdict::kUndecided:
      return "undecided";
  }
  return "";
}

MapJudgement JudgeMap(const std::vector<double>& residuals, double distance) {
  const size_t last = residuals.size() + 1;  // the number of the last pass
  MapJudgement judgement;
  judgement.rate = RateOf(residuals);
  const bool arrived = !residuals.empty() && residuals.back() <= kRounding;
  if (!judgement.rate && !arrived) {
    judgement.reason = fmt::format("{} passes are too few to see a rate; use more", last);
    return judgement;
  }
  const double moves = residuals.back(), rate = judgement.rate.value_or(0);
  const std::string rate_text =
      judgement.rate ? fmt::format("residuals change by a factor of {:.3f} a pass", rate) : "";
  const std::string moves_text = arrived
                                     ? fmt::format("pass {} moves the states by no more than rounding", last)
                                     : fmt::format("pass {} moves the states by {:.2g}", last, moves);
  const std::string apart = fmt::format("{:.2g} from the exact recurrence", distance);
  judgement.reason = fmt::format("{}{}{}, {}", rate_text, rate_text.empty() ? "" : "; ", moves_text, apart);
  if ((arrived || rate <= kFalls) && moves <= kSmall && distance <= kSmall) {
    judgement.verdict = MapVerdict::kContracts;
  } else if (moves > kSmall && rate >= kStays) {
    judgement.verdict = MapVerdict::kDoesNotContract;
  } else if (moves <= kSmall && distance > kSmall) {
    judgement.reason += ": the passes have settled elsewhere, or not for good; use more";
  } else if (rate <= kFalls) {
    judgement.reason += fmt::format(": they fall, but {} passes do not suffice; use more", last);
  } else {
    judgement.reason += ": too near to 1 to tell; use more passes and longer texts";
  }
  return judgement;
}

void ContractionSums::Loss::Add(float logprob, int token_bytes) {
  nats -= logprob;
  ++tokens;
  bytes += token_bytes;
}

TokenLoss ContractionSums::Loss::Figures() const {
  TokenLoss loss;
  loss.nats_per_token = nats / static_cast<double>(tokens);
  if (bytes > 0) loss.bits_per_byte = nats / std::numbers::ln2 / static_cast<double>(bytes);
  return loss;
}

void ContractionSums::AddTo(Pass* pass, const PassSums& sums, const std::vector<int>& bytes,
                            std::optional<size_t> answer_from) {
  pass->sums.moved += sums.moved;
  pass->sums.before += sums.before;
  pass->sums.before_open += sums.before_open;
  pass->sums.apart += sums.apart;
  pass->sums.exact += sums.exact;
  pass->sums.exact_open += sums.exact_open;
  // Text by text: a long corpus's sums then add numbers of like size. The first token is not predicted.
  Loss all, answer;
  bool greedy = true;
  for (size_t token = 1; token < bytes.size(); ++token) {
    all.Add(sums.logprobs[token - 1], bytes[token]);
    if (!answer_from || token < *answer_from) continue;
    answer.Add(sums.logprobs[token - 1], bytes[token]);
    greedy = greedy && sums.greedy[token - 1];
  }
  for (auto [total, own] : {std::pair(&pass->all, &all), std::pair(&pass->answer, &answer)}) {
    total->nats += own->nats;
    total->tokens += own->tokens;
    total->bytes += own->bytes;
  }
  pass->greedy += answer_from && greedy;
}

void ContractionSums::Add(const SequencePasses& text, const std::vector<int>& bytes,
                          std::optional<size_t> answer_from) {
  passes_.resize(text.passes.size());
  for (size_t i = 0; i < passes_.size(); ++i) AddTo(&passes_[i], text.passes[i], bytes, answer_from);
  AddTo(&recurrence_, text.recurrence, bytes, answer_from);
  ++texts_;
  answers_ += answer_from.has_value();
  positions_ += static_cast<int64_t>(bytes.size());
}

PassFigures ContractionSums::Figures(const Pass& pass) const {
  PassFigures figures;
  figures.distance = Ratio(pass.sums.apart, pass.sums.exact);
  figures.loss = pass.all.Figures();
  if (answers_ == 0) return figures;
  figures.answer = pass.answer.Figures();
  figures.greedy_share = static_cast<double>(pass.greedy) / static_cast<double>(answers_);
  return figures;
}

Contraction ContractionSums::Result() const {
  if (texts_ == 0 || recurrence_.all.tokens == 0) throw std::logic_error("a contraction of no texts");
  Contraction result;
  std::vector<double> residuals;
  for (size_t i = 0; i < passes_.size(); ++i) {
    const PassSums& sums = passes_[i].sums;
    PassFigures figures = Figures(passes_[i]);
    figures.open_distance = OpenRatio(sums.apart, sums.exact_open);
    if (i > 0) {
      figures.residual = Ratio(sums.moved, sums.before);
      figures.open_residual = OpenRatio(sums.moved, sums.before_open);
      residuals.push_back(figures.open_residual.value_or(0));
    }
    result.passes.push_back(figures);
  }
  result.recurrence = Figures(recurrence_);
  result.positions = positions_;
  result.scored_tokens = recurrence_.all.tokens;
  result.scored_bytes = recurrence_.all.bytes;
  result.answer_tokens = recurrence_.answer.tokens;
  result.answer_bytes = recurrence_.answer.bytes;
  result.judgement = JudgeMap(residuals, result.passes.back().open_distance.value_or(0));
  return result;
}

Contraction MeasureContraction(Engine& engine, const ContractionInput& input, int passes, Control control,
                               const std::function<void(int64_t rows)>& advance) {
  ContractionSums sums;
  PassListener listener;
  listener.advance = advance;
  listener.take = [&](size_t index, const SequencePasses& text) {
    std::vector<int> bytes;
    for (const int32_t token : input.texts[index].tokens)
      bytes.push_back(static_cast<int>(engine.tokenizer()->TokenBytes(token).size()));
    sums.Add(text, bytes, input.answer_from.empty() ? std::nullopt : std::optional(input.answer_from[index]));
  };
  engine.RunPasses(input.texts, passes, control, listener);
  return sums.Result();
}

}  // namespace fullband
