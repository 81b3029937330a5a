#include "tests/support/toy_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "common/hash.h"
#include "engine/compute/check_step.h"
#include "engine/compute/sampling.h"

namespace fullband {
namespace {

using Vector = ToyModel::Vector;

void Check(bool holds, const char* what) {
  if (!holds) throw std::logic_error(std::string("toy backend: ") + what);
}

uint64_t Fraction24(uint64_t x) { return x >> 40; }

}  // namespace

Vector ToyModel::Embed(int32_t token) {
  Vector e;
  for (int d = 0; d < kWidth; ++d) e[d] = Mix64(static_cast<uint64_t>(token) * kWidth + d + 1);
  return e;
}

Vector ToyModel::Fuse(int32_t token, const Vector& state, const Vector& older, Control control) const {
  Vector h = control == Control::kStale ? older : state;
  if (control == Control::kZero) h.fill(0);
  if (control == Control::kReversed) std::reverse(h.begin(), h.end());
  const Vector e = Embed(token);
  const Vector gate = Embed(control == Control::kConstantGate ? 0 : token);
  Vector u;
  for (int d = 0; d < kWidth; ++d) {
    const uint64_t up = h[d] * 0x9e3779b97f4a7c15ULL + (h[(d + 1) % kWidth] >> 7);
    u[d] = fusion == Fusion::kGlu ? up * (gate[d] | 1) : e[d] + up;
  }
  return u;
}

Vector ToyModel::Stack(const Vector& input, int position, std::span<const Keys* const> keys, Keys* own) {
  Vector x = input;
  for (int layer = 0; layer < kLayers; ++layer) {
    Vector& k = (*own)[layer];
    for (int d = 0; d < kWidth; ++d)
      k[d] = Mix64(x[d] + static_cast<uint64_t>(position) * 0x632be59bd9b4e019ULL + layer);
    Vector mixed{};
    for (size_t s = 0; s <= keys.size(); ++s) {
      const Vector& key = s < keys.size() ? (*keys[s])[layer] : k;
      for (int d = 0; d < kWidth; ++d) mixed[d] += Mix64(key[d] ^ x[(d + 1) % kWidth]);
    }
    for (int d = 0; d < kWidth; ++d) x[d] += mixed[d];
  }
  return x;
}

std::vector<float> ToyModel::Logits(const Vector& state) const {
  std::vector<float> logits(static_cast<size_t>(vocab_size));
  for (int v = 0; v < vocab_size; ++v) {
    uint64_t sum = 0;
    for (int d = 0; d < kWidth; ++d) sum += Mix64(state[d] ^ Mix64(static_cast<uint64_t>(v) + 77));
    logits[v] = static_cast<float>(Fraction24(sum)) / static_cast<float>(1 << 21);
  }
  return logits;
}

double ToyModel::LogSum(std::span<const float> logits) {
  double sum = 0;
  for (float logit : logits) sum += std::exp(static_cast<double>(logit));
  return std::log(sum);
}

std::vector<float> ToyModel::Logprobs(const Vector& state) const {
  std::vector<float> logprobs = Logits(state);
  const double sum = LogSum(logprobs);
  for (float& value : logprobs) value = static_cast<float>(value - sum);
  return logprobs;
}

int32_t ToyModel::ArgMax(std::span<const float> values) {
  return static_cast<int32_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

ToyBackend::ToyBackend(const ToyOptions& options) : options_(options) {
  model_.vocab_size = options.vocab_size;
  model_.fusion = options.fusion;
  info_ = {.device = "toy", .target = "integer", .numerics = "toy-1", .page_size = options.page_size};
  config_.architecture = "Toy";
  config_.hidden_size = ToyModel::kWidth;
  config_.layers = ToyModel::kLayers;
  config_.vocab_size = options.vocab_size;
  config_.max_positions = options.max_positions;
  config_.fusion = options.fusion;
  config_.end_tokens = options.end_tokens;
}

void ToyBackend::Reserve(int page_count, int state_count) {
  const size_t positions = static_cast<size_t>(page_count) * static_cast<size_t>(options_.page_size);
  if (positions > pages_.size()) pages_.resize(positions);
  if (static_cast<size_t>(state_count) > states_.size()) states_.resize(static_cast<size_t>(state_count));
}

int64_t ToyBackend::page_bytes() const {
  return static_cast<int64_t>(sizeof(ToyModel::Keys)) * options_.page_size;
}

std::optional<ToyModel::Keys>& ToyBackend::KeysAt(const Span& span, int position) {
  const size_t index = static_cast<size_t>(position / options_.page_size);
  const size_t place = static_cast<size_t>(span.pages[index]) * static_cast<size_t>(options_.page_size) +
                       static_cast<size_t>(position % options_.page_size);
  return pages_[place];
}

const Vector& ToyBackend::StateAt(int slot) const {
  Check(states_[static_cast<size_t>(slot)].has_value(), "a state was read before it was written");
  return *states_[static_cast<size_t>(slot)];
}

void ToyBackend::RunCopies(const Step& step) {
  for (const PageCopy& copy : step.copies) {
    ++copies_run_;
    const size_t from = static_cast<size_t>(copy.from) * static_cast<size_t>(options_.page_size);
    const size_t to = static_cast<size_t>(copy.to) * static_cast<size_t>(options_.page_size);
    for (int i = 0; i < copy.positions; ++i) {
      const bool mixed = options_.fault == ToyFault::kMixCopies;
      pages_[to + i] = pages_[from + (mixed ? 0 : i)];
    }
  }
}

std::vector<Vector> ToyBackend::MakeInputs(const Step& step) const {
  std::vector<Vector> inputs;
  for (const Row& row : step.rows) {
    if (row.state == kNoSlot || options_.fault == ToyFault::kIgnoreFusion) {
      inputs.push_back(ToyModel::Embed(row.token));
      continue;
    }
    Control control = row.control;
    if (options_.fault == ToyFault::kIgnoreControl) control = Control::kNone;
    if (options_.fault == ToyFault::kIgnoreOlderState && control == Control::kStale) control = Control::kNone;
    const Vector& state = StateAt(row.state);
    inputs.push_back(model_.Fuse(row.token, state,
                                 control == Control::kStale ? StateAt(row.older_state) : state, control));
  }
  return inputs;
}

void ToyBackend::RunSpan(const Step& step, const Span& span, const std::vector<Vector>& inputs,
                         std::vector<Vector>* states) {
  std::vector<const ToyModel::Keys*> keys;
  for (int t = 0; t < span.position; ++t) {
    const std::optional<ToyModel::Keys>& read = KeysAt(span, t);
    Check(read.has_value(), "a key was read before it was written");
    if (options_.fault != ToyFault::kForgetFirstPage || t >= options_.page_size) keys.push_back(&*read);
  }
  for (int i = 0; i < span.row_count; ++i) {
    const size_t row = static_cast<size_t>(span.first_row + i);
    Vector input = inputs[row];
    if (options_.fault == ToyFault::kMixRows) input[0] += step.rows.size();
    std::optional<ToyModel::Keys>& own = KeysAt(span, span.position + i);
    own.emplace();
    (*states)[row] = ToyModel::Stack(input, span.position + i, keys, &*own);
    keys.push_back(&*own);
  }
}

void ToyBackend::Run(const Step& step, StepResult* result) {
  ++steps_run_;
  rows_run_ += static_cast<int64_t>(step.rows.size());
  largest_step_ = std::max(largest_step_, static_cast<int>(step.rows.size()));
  CheckStep(step, config_, {page_count(), options_.page_size, static_cast<int>(states_.size())});
  RunCopies(step);
  const std::vector<Vector> inputs = MakeInputs(step);
  std::vector<Vector> states(step.rows.size());
  std::set<int32_t> written;
  for (const Span& span : step.spans) {
    const int first = span.position / options_.page_size;
    const int last = (span.position + span.row_count - 1) / options_.page_size;
    for (int i = first; i <= last; ++i)
      Check(written.insert(span.pages.at(static_cast<size_t>(i))).second, "two spans write one page");
    RunSpan(step, span, inputs, &states);
  }
  *result = {};
  for (size_t i = 0; i < step.rows.size(); ++i) {
    const bool poisoned = options_.poison == step.rows[i].token;
    result->state_rms.push_back(poisoned ? std::numeric_limits<float>::quiet_NaN()
                                         : 1.0f + static_cast<float>(Fraction24(states[i][0])) / (1 << 24));
    const int slot = step.rows[i].keep_state;
    if (slot == kNoSlot) continue;
    states_[static_cast<size_t>(slot)] = states[i];
  }
  for (const Query& query : step.queries) {
    const std::vector<float> logits =
        model_.Logits(query.state == kNoSlot ? states[static_cast<size_t>(query.row)] : StateAt(query.state));
    result->queries.push_back(AnswerQuery(query, logits, ToyModel::LogSum(logits)));
  }
}

std::vector<float> ToyBackend::ReadState(int slot) const {
  std::vector<float> values;
  for (uint64_t lane : StateAt(slot)) values.push_back(static_cast<float>(Fraction24(lane)));
  return values;
}

}  // namespace fullband
