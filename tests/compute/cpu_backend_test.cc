// The CPU backend as a whole, against the double-precision reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "common/error.h"
#include "engine/compute/backend.h"
#include "engine/compute/cpu/gate_cache.h"
#include "tests/support/random_model.h"
#include "tests/support/reference_model.h"

namespace fullband {
namespace {

using Vector = ReferenceModel::Vector;
using Floats = std::vector<float>;

std::vector<int32_t> Iota(int count) {
  std::vector<int32_t> ids(count);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

Query AllLogprobs(const ModelConfig& config, int row) {
  Query query;
  query.row = row;
  query.targets = Iota(config.vocab_size);
  return query;
}

// Pages 8 * sequence .. 8 * sequence + 7, enough for 256 positions.
std::vector<int32_t> PagesOf(int sequence) {
  std::vector<int32_t> pages = Iota(8);
  for (int32_t& page : pages) page += 8 * sequence;
  return pages;
}

std::vector<int32_t> Tokens(const ModelConfig& config, int count, int seed = 0) {
  std::vector<int32_t> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back((i * i * 7 + i * 3 + seed * 5 + 1) % config.vocab_size);
  return tokens;
}

// What a sequence leaves behind: per position all log-probabilities, the state where it was kept, and its
// rms.
struct Trail {
  std::vector<Floats> logprobs;
  std::vector<Floats> states;
  Floats rms;
  bool operator==(const Trail&) const = default;
};

// Plain positions in spans of `chunk`, fused ones one by one. State slots 3 * sequence
// .. + 2 are taken in turn.
Trail RunBackend(Backend& backend, const std::vector<int32_t>& tokens, int plain,
                 Control control = Control::kNone, int chunk = 1000, int sequence = 0) {
  Trail trail;
  const int count = tokens.size();
  const auto slot = [&](int t) { return 3 * sequence + (t + 3) % 3; };
  for (int begin = 0; begin < count;) {
    const int rows = begin < plain ? std::min(chunk, plain - begin) : 1;
    Step step;
    step.spans.push_back({0, rows, begin, PagesOf(sequence)});
    for (int t = begin; t < begin + rows; ++t) {
      Row row{.token = tokens[t]};
      if (t >= plain) row = {tokens[t], slot(t - 1), t > 1 ? slot(t - 2) : kNoSlot, kNoSlot, control};
      if (t >= begin + rows - 3) row.keep_state = slot(t);
      step.queries.push_back(AllLogprobs(backend.config(), t - begin));
      step.rows.push_back(row);
    }
    StepResult result;
    backend.Run(step, &result);
    for (int i = 0; i < rows; ++i) {
      trail.logprobs.push_back(result.queries[i].target_logprobs);
      trail.rms.push_back(result.state_rms[i]);
    }
    trail.states.resize(begin + rows);
    for (int t = std::max(begin, begin + rows - 3); t < begin + rows; ++t)
      trail.states[t] = backend.ReadState(slot(t));
    begin += rows;
  }
  return trail;
}

struct ReferenceTrail {
  std::vector<Vector> logprobs, states;
  Vector rms;
};

// Plain input at the first `plain` positions, fused after. Fusion takes the states that the backend left, so
// that the rounding of one row is not magnified from row to row.
ReferenceTrail RunReference(const Model& model, const std::vector<int32_t>& tokens, int plain,
                            Control control, const Trail& given, KvDtype kv_dtype = KvDtype::kF32) {
  const ReferenceModel reference(model, kv_dtype);
  const auto state = [&](int t) { return Vector(given.states[t].begin(), given.states[t].end()); };
  ReferenceModel::Cache cache;
  ReferenceTrail trail;
  for (int t = 0; t < static_cast<int>(tokens.size()); ++t) {
    const Vector u = t < plain ? reference.Embed(tokens[t])
                               : reference.Fuse(tokens[t], state(t - 1), state(std::max(t - 2, 0)), control);
    trail.states.push_back(reference.Advance(u, cache, &trail.rms.emplace_back()));
    trail.logprobs.push_back(reference.Logprobs(trail.states.back()));
  }
  return trail;
}

double LargestDifference(const std::vector<Floats>& a, const std::vector<Vector>& b) {
  double largest = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    for (size_t j = 0; j < b[i].size(); ++j) {
      const double difference = std::abs(a[i].at(j) - b[i][j]);
      largest = difference <= largest ? largest : difference;  // NaN is kept
    }
  }
  return largest;
}

std::unique_ptr<Backend> MakeBackend(const std::shared_ptr<const Model>& model, int threads = 2,
                                     std::string target = "", KvDtype kv_dtype = KvDtype::kF32) {
  auto backend = MakeCpuBackend(model, {threads, std::move(target), kv_dtype});
  backend->Reserve(32, 16);
  return backend;
}

struct Case {
  std::string name;
  ModelConfig config;
  DType dtype = DType::kF32;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Case> Cases() {
  std::vector<Case> cases;
  const auto add = [&](std::string name, DType dtype, auto change) {
    Case c{std::move(name), TinyLatentConfig(), dtype};
    change(c.config);
    cases.push_back(c);
  };
  add("Plain", DType::kF32, [](ModelConfig&) {});
  add("Bf16", DType::kBF16, [](ModelConfig&) {});
  add("F16", DType::kF16, [](ModelConfig&) {});
  add("AdditiveTied", DType::kF32,
      [](ModelConfig& c) { c.fusion = Fusion::kAdditive, c.tied_embeddings = true; });
  add("OneGroupPerHead", DType::kBF16, [](ModelConfig& c) { c.kv_heads = 4; });
  add("OneGroup", DType::kF32, [](ModelConfig& c) { c.kv_heads = 1, c.heads = 5, c.head_dim = 20; });
  add("Qwen2", DType::kBF16, [](ModelConfig& c) { c.qkv_bias = true, c.tied_embeddings = true; });
  add("Qwen3", DType::kF32, [](ModelConfig& c) { c.qk_norm = true, c.head_dim = 16, c.rope.theta = 1e6; });
  add("AllBiases", DType::kF32, [](ModelConfig& c) { c.qkv_bias = c.output_bias = c.mlp_bias = true; });
  add("LinearRope", DType::kF32, [](ModelConfig& c) { c.rope.type = RopeType::kLinear, c.rope.factor = 4; });
  add("Llama3Rope", DType::kBF16, [](ModelConfig& c) {
    c.head_dim = 32;
    c.rope = {RopeType::kLlama3, 500000.0, 8.0, 1.0, 4.0, 256};
  });
  add("WideHeads", DType::kBF16,
      [](ModelConfig& c) { c.hidden_size = 96, c.head_dim = 80, c.intermediate_size = 128; });
  return cases;
}

class AgreesWithReference : public testing::TestWithParam<Case> {};

// Log-probabilities reach tens here and float32 keeps seven digits; what is seen is below 1e-5 nearly
// everywhere. A dropped bias or a wrong head costs 0.01 or more.
constexpr double kTolerance = 3e-5;

TEST_P(AgreesWithReference, PlainThenFused) {
  const auto model = RandomModel(GetParam().config, GetParam().dtype);
  const std::vector<int32_t> tokens = Tokens(model->config, 38);
  for (const std::string& target : CpuTargets()) {
    const auto backend = MakeBackend(model, 2, target);
    const Trail got = RunBackend(*backend, tokens, 34);
    const ReferenceTrail expected = RunReference(*model, tokens, 34, Control::kNone, got);
    EXPECT_LT(LargestDifference(got.logprobs, expected.logprobs), kTolerance) << target;
    EXPECT_LT(LargestDifference({got.states.back()}, {expected.states.back()}), kTolerance) << target;
    EXPECT_LT(LargestDifference({got.rms}, {expected.rms}), kTolerance) << target;
  }
}

INSTANTIATE_TEST_SUITE_P(Configs, AgreesWithReference, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

TEST(CpuBackend, Bf16PagesAgreeWithRoundedKeysAndValues) {
  ModelConfig config = TinyLatentConfig();
  config.head_dim = 20;
  const auto model = RandomModel(config);
  const std::vector<int32_t> tokens = Tokens(config, 70);
  for (const std::string& target : CpuTargets()) {
    const auto backend = MakeBackend(model, 2, target, KvDtype::kBF16);
    const Trail got = RunBackend(*backend, tokens, 66);
    const ReferenceTrail rounded = RunReference(*model, tokens, 66, Control::kNone, got, KvDtype::kBF16);
    const ReferenceTrail exact = RunReference(*model, tokens, 66, Control::kNone, got);
    // Numbers so near to the middle of two that they round the other way here than in the reference are off
    // by 2^-8 of themselves. One number in thousands is; it is one of 20 that make a score, or one of many
    // that make a mean, so that no more than a tenth of it is left.
    EXPECT_LT(LargestDifference(got.logprobs, rounded.logprobs), kTolerance + 0.1 * 0x1p-8) << target;
    EXPECT_LT(LargestDifference({got.states.back()}, {rounded.states.back()}), kTolerance + 0.1 * 0x1p-8);
    EXPECT_GT(LargestDifference(got.logprobs, exact.logprobs), 0.01) << target;
  }
}

TEST(CpuBackend, EveryControlAgreesWithReference) {
  for (Fusion fusion : {Fusion::kGlu, Fusion::kAdditive}) {
    ModelConfig config = TinyLatentConfig();
    config.fusion = fusion;
    const auto model = RandomModel(config);
    const std::vector<int32_t> tokens = Tokens(config, 6);
    const auto backend = MakeBackend(model, 1);
    for (Control control :
         {Control::kNone, Control::kZero, Control::kStale, Control::kReversed, Control::kConstantGate}) {
      if (fusion == Fusion::kAdditive && control == Control::kConstantGate) continue;
      const Trail got = RunBackend(*backend, tokens, 1, control);  // fused from position 1 on
      const ReferenceTrail expected = RunReference(*model, tokens, 1, control, got);
      EXPECT_LT(LargestDifference(got.logprobs, expected.logprobs), kTolerance) << static_cast<int>(control);
      if (control == Control::kNone) continue;
      const ReferenceTrail unspoilt = RunReference(*model, tokens, 1, Control::kNone, got);
      EXPECT_GT(LargestDifference(got.logprobs, unspoilt.logprobs), 0.01) << static_cast<int>(control);
    }
  }
}

TEST(CpuBackend, TheComparisonNoticesWrongWeights) {
  ModelConfig config = TinyConfig();
  config.qkv_bias = true;
  const auto model = RandomModel(config);
  const Trail got = RunBackend(*MakeBackend(model, 1), Tokens(config, 10), 10);
  Model other = *model;
  other.weights.layers[1].v_bias = {};
  EXPECT_GT(LargestDifference(got.logprobs, RunReference(other, Tokens(config, 10), 10, {}, got).logprobs),
            0.01);
  other = *model;
  std::swap(other.weights.layers[0].gate, other.weights.layers[0].up);
  EXPECT_GT(LargestDifference(got.logprobs, RunReference(other, Tokens(config, 10), 10, {}, got).logprobs),
            0.01);
  other = *model;
  other.config.rope.theta = 9000;
  EXPECT_GT(LargestDifference(got.logprobs, RunReference(other, Tokens(config, 10), 10, {}, got).logprobs),
            1e-3);
}

// ------------------------------------------------------------------------------------------------ same bits

TEST(CpuBackend, ChunksThreadsAndTargetsChangeNoBit) {
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    const auto model = RandomModel(TinyLatentConfig(), dtype);
    const std::vector<int32_t> tokens = Tokens(model->config, 70);
    const Trail whole = RunBackend(*MakeBackend(model, 1), tokens, 66);
    const auto without_states = [](Trail trail) {
      trail.states.erase(trail.states.begin(),
                         trail.states.end() - 4);  // which ones are kept depends on chunks
      return trail;
    };
    for (int chunk : {1, 7, 32, 45}) {
      const Trail got = RunBackend(*MakeBackend(model, 1), tokens, 66, Control::kNone, chunk);
      EXPECT_TRUE(without_states(got) == without_states(whole)) << chunk;
    }
    for (int threads : {2, 3})
      EXPECT_TRUE(RunBackend(*MakeBackend(model, threads), tokens, 66) == whole) << threads;
    for (const std::string& target : CpuTargets()) {
      if (target == "SCALAR" || target == "EMU128") continue;  // they have no fused multiply-add
      EXPECT_TRUE(RunBackend(*MakeBackend(model, 1, target), tokens, 66) == whole) << target;
    }
    // The comparison notices another token.
    std::vector<int32_t> other = tokens;
    other[3] ^= 1;
    EXPECT_FALSE(RunBackend(*MakeBackend(model, 1), other, 66) == whole);
  }
}

// Rows of one step: a plain chunk, fused rows of two other sequences, and a row that asks for nothing.
TEST(CpuBackend, OtherRowsOfAStepChangeNoBit) {
  const auto model = RandomModel(TinyLatentConfig(), DType::kBF16);
  const ModelConfig& config = model->config;
  const std::vector<int32_t> a = Tokens(config, 40, 1), b = Tokens(config, 34, 2), c = Tokens(config, 3, 3);
  const Trail alone_a = RunBackend(*MakeBackend(model), a, 40);
  const Trail alone_b = RunBackend(*MakeBackend(model), b, 33);
  const Trail alone_c = RunBackend(*MakeBackend(model), c, 2);

  const auto backend = MakeBackend(model);
  RunBackend(*backend, {a.begin(), a.begin() + 29}, 29, Control::kNone, 1000, 0);
  RunBackend(*backend, {b.begin(), b.begin() + 33}, 33, Control::kNone, 1000, 1);
  RunBackend(*backend, {c.begin(), c.begin() + 2}, 2, Control::kNone, 1000, 2);
  Step step;
  step.spans = {{0, 1, 33, PagesOf(1)}, {1, 11, 29, PagesOf(0)}, {12, 1, 2, PagesOf(2)}};
  // Sequence 1's row overwrites the state that it reads, as decoding does.
  step.rows.push_back({b[33], 3 + 32 % 3, kNoSlot, 3 + 32 % 3});
  for (int t = 29; t < 40; ++t) step.rows.push_back({a[t], kNoSlot, kNoSlot, t == 39 ? 0 : kNoSlot});
  step.rows.push_back({c[2], 6 + 1, kNoSlot, 6 + 2});
  for (int row : {0, 3, 11, 12}) step.queries.push_back(AllLogprobs(config, row));
  StepResult result;
  backend->Run(step, &result);

  EXPECT_EQ(result.queries[0].target_logprobs, alone_b.logprobs[33]);
  EXPECT_EQ(result.queries[1].target_logprobs, alone_a.logprobs[31]);
  EXPECT_EQ(result.queries[2].target_logprobs, alone_a.logprobs[39]);
  EXPECT_EQ(result.queries[3].target_logprobs, alone_c.logprobs[2]);
  EXPECT_EQ(result.state_rms[11], alone_a.rms[39]);
  EXPECT_EQ(backend->ReadState(3 + 32 % 3), alone_b.states[33]);
  EXPECT_EQ(backend->ReadState(0), alone_a.states[39]);
  EXPECT_EQ(backend->ReadState(8), alone_c.states[2]);
}

// Positions begin .. end - 1 of a sequence as a span of a step, asking for all log-probabilities.
void AddSpan(const ModelConfig& config, const std::vector<int32_t>& tokens, int begin, int end,
             const std::vector<int32_t>& pages, Step* step) {
  step->spans.push_back({static_cast<int32_t>(step->rows.size()), end - begin, begin, pages});
  for (int t = begin; t < end; ++t) {
    step->queries.push_back(AllLogprobs(config, step->rows.size()));
    step->rows.push_back({.token = tokens[t]});
  }
}

// Sequences that share seventeen pages, and one that shares none, go on in one step: some by one position,
// some by more. Each gets what it gets alone, in chunks of any size.
class KeepsKeysAndValuesIn : public testing::TestWithParam<KvDtype> {};

TEST_P(KeepsKeysAndValuesIn, SharedPagesOfLongContextsChangeNoBit) {
  constexpr int kShared = 17 * 32, kSequences = 6, kEnd = kShared + 70;
  ModelConfig config = TinyConfig();
  config.heads = 6;
  const auto model = RandomModel(config);
  std::vector<std::vector<int32_t>> tokens, pages;
  for (int s = 0; s < kSequences; ++s) {
    tokens.push_back(Tokens(config, kEnd, s));
    const bool shares = s < kSequences - 1;
    if (shares) std::copy_n(tokens[0].begin(), kShared, tokens[s].begin());
    pages.push_back(Iota(20));
    for (int p = shares && s > 0 ? 17 : 0; p < 20; ++p) pages[s][p] += 20 * s;
  }
  const auto backend_with = [&](int threads, const std::string& target) {
    auto backend = MakeCpuBackend(model, {threads, target, GetParam()});
    backend->Reserve(20 * kSequences, 1);
    return backend;
  };
  const auto alone = [&](int s, int chunk) {
    const auto backend = backend_with(1, "");
    std::vector<int32_t> own = Iota(20);
    std::vector<Floats> logprobs;
    for (int begin = 0; begin < kEnd; begin += chunk) {
      Step step;
      StepResult result;
      AddSpan(config, tokens[s], begin, std::min(begin + chunk, kEnd), own, &step);
      backend->Run(step, &result);
      for (const QueryResult& answer : result.queries) logprobs.push_back(answer.target_logprobs);
    }
    return logprobs;
  };
  std::vector<std::vector<Floats>> expected;
  for (int s = 0; s < kSequences; ++s) expected.push_back(alone(s, 100 + 37 * s));
  EXPECT_TRUE(alone(0, 1000) == expected[0]);

  for (const std::string& target : CpuTargets()) {
    if (target == "SCALAR" || target == "EMU128") continue;  // they have no fused multiply-add
    for (int threads : {1, 2, 3}) {
      const auto backend = backend_with(threads, target);
      StepResult result;
      Step prefill;
      AddSpan(config, tokens[0], 0, kShared, pages[0], &prefill);
      AddSpan(config, tokens.back(), 0, kShared, pages.back(), &prefill);
      backend->Run(prefill, &result);
      for (int t = 0; t < kShared; ++t) EXPECT_EQ(result.queries[t].target_logprobs, expected[0][t]);
      std::vector<int> at(kSequences, kShared);
      for (int size : {1, 40, 1, 3}) {
        Step step;
        for (int s = kSequences - 1; s >= 0; --s) {
          const int end = at[s] + (s % 2 == 0 ? size : 1);
          AddSpan(config, tokens[s], at[s], end, pages[s], &step);
        }
        backend->Run(step, &result);
        const QueryResult* answer = result.queries.data();
        for (int s = kSequences - 1; s >= 0; --s) {
          for (const int end = at[s] + (s % 2 == 0 ? size : 1); at[s] < end; ++at[s], ++answer) {
            EXPECT_TRUE(answer->target_logprobs == expected[s][at[s]])
                << target << " " << threads << " " << s;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(CpuBackend, KeepsKeysAndValuesIn, testing::Values(KvDtype::kF32, KvDtype::kBF16),
                         [](const auto& info) { return KvDtypeName(info.param); });

TEST(CpuBackend, StatesAreReadBeforeAnyIsWritten) {
  const auto model = RandomModel(TinyLatentConfig());
  const std::vector<int32_t> a = Tokens(model->config, 5, 1), b = Tokens(model->config, 5, 2);
  const auto prefilled = [&] {
    auto backend = MakeBackend(model);
    RunBackend(*backend, {a.begin(), a.begin() + 4}, 4, Control::kNone, 1000, 0);
    RunBackend(*backend, {b.begin(), b.begin() + 4}, 4, Control::kNone, 1000, 1);
    return backend;
  };
  // Position 3's states are in slots 0 and 3: the two sequences' next rows exchange slots.
  const auto backend = prefilled(), plain = prefilled();
  Step step;
  step.spans = {{0, 1, 4, PagesOf(0)}, {1, 1, 4, PagesOf(1)}};
  step.rows = {{a[4], 0, kNoSlot, 3}, {b[4], 3, kNoSlot, 0}};
  StepResult result;
  backend->Run(step, &result);
  step.rows = {{a[4], 0, kNoSlot, 8}, {b[4], 3, kNoSlot, 9}};
  plain->Run(step, &result);
  EXPECT_EQ(backend->ReadState(3), plain->ReadState(8));
  EXPECT_EQ(backend->ReadState(0), plain->ReadState(9));
}

TEST_P(KeepsKeysAndValuesIn, ASequenceGoesOnFromACopyOfASharedPage) {
  const auto model = RandomModel(TinyConfig());
  const std::vector<int32_t> tokens = Tokens(model->config, 60);
  const Trail whole = RunBackend(*MakeBackend(model, 2, "", GetParam()), tokens, 60);
  const auto backend = MakeBackend(model, 2, "", GetParam());
  // Another sequence has the first 45 tokens in common; its page 1 is shared up to position 44.
  std::vector<int32_t> other = tokens;
  for (int i = 45; i < 60; ++i) other[i] = (other[i] + 1) % model->config.vocab_size;
  const Trail other_trail = RunBackend(*backend, other, 60);
  StepResult result;
  for (const bool apart : {false, true}) {  // copies may come in a step of their own
    const int32_t page = apart ? 10 : 9;
    Step copying, step;
    (apart ? copying : step).copies.push_back({1, page, 13});
    backend->Run(copying, &result);
    step.spans.push_back({0, 15, 45, {0, page}});
    for (int t = 45; t < 60; ++t) {
      step.rows.push_back({.token = tokens[t]});
      step.queries.push_back(AllLogprobs(model->config, t - 45));
    }
    backend->Run(step, &result);
    for (int t = 45; t < 60; ++t)
      EXPECT_EQ(result.queries[t - 45].target_logprobs, whole.logprobs[t]) << apart;
  }

  // And the page that was copied is as it was.
  Step last;
  last.spans.push_back({0, 1, 59, PagesOf(0)});
  last.rows.push_back({.token = other[59]});
  last.queries.push_back(AllLogprobs(model->config, 0));
  backend->Run(last, &result);
  EXPECT_EQ(result.queries[0].target_logprobs, other_trail.logprobs[59]);
}

TEST(CpuBackend, GrowingKeepsPagesAndStates) {
  const auto model = RandomModel(TinyLatentConfig());
  const std::vector<int32_t> tokens = Tokens(model->config, 40);
  const Trail whole = RunBackend(*MakeBackend(model), tokens, 38);
  const auto backend = MakeCpuBackend(model, {1, ""});
  backend->Reserve(8, 3);
  RunBackend(*backend, {tokens.begin(), tokens.begin() + 38}, 38);
  const std::vector<float> state = backend->ReadState(37 % 3);
  backend->Reserve(300, 500);
  backend->Reserve(10, 10);  // never shrinks
  EXPECT_EQ(backend->ReadState(37 % 3), state);
  EXPECT_NO_THROW(backend->ReadState(499));
  Step step;
  std::vector<int32_t> pages = PagesOf(0);
  pages.back() = 299;
  step.spans.push_back({0, 1, 38, pages});
  step.rows.push_back({tokens[38], 37 % 3});
  step.queries.push_back(AllLogprobs(model->config, 0));
  StepResult result;
  backend->Run(step, &result);
  EXPECT_EQ(result.queries[0].target_logprobs, whole.logprobs[38]);
}

// ------------------------------------------------------------------------------------------------ feedback

struct Fed {
  std::vector<Floats> states;
  Floats last_logprobs;
  bool operator==(const Fed&) const = default;
};

// Runs `tokens` one by one, fused from position 1 on. Rows in which `ask` holds have a query, beside which
// W^U h of the state that they keep is computed; that of others is computed where it is read.
template <class Ask>
Fed RunFed(Backend& backend, const std::vector<int32_t>& tokens, Control control, Ask ask) {
  Fed fed;
  const int count = tokens.size();
  for (int t = 0; t < count; ++t) {
    Step step;
    step.spans.push_back({0, 1, t, PagesOf(0)});
    step.rows.push_back({.token = tokens[t], .keep_state = t % 3, .control = control});
    if (t > 0) step.rows[0].state = (t - 1) % 3;
    if (t > 1) step.rows[0].older_state = (t - 2) % 3;
    if (t + 1 == count || ask(t)) step.queries.push_back(AllLogprobs(backend.config(), 0));
    StepResult result;
    backend.Run(step, &result);
    fed.states.push_back(backend.ReadState(t % 3));
    if (t + 1 == count) fed.last_logprobs = result.queries[0].target_logprobs;
  }
  return fed;
}

TEST(CpuBackend, WhereFeedbackIsComputedChangesNoBit) {
  const auto never = [](int) { return false; };
  for (Fusion fusion : {Fusion::kGlu, Fusion::kAdditive}) {
    for (Control control :
         {Control::kNone, Control::kZero, Control::kStale, Control::kReversed, Control::kConstantGate}) {
      if (fusion == Fusion::kAdditive && control == Control::kConstantGate) continue;
      ModelConfig config = TinyLatentConfig();
      config.fusion = fusion;
      const auto model = RandomModel(config, control == Control::kNone ? DType::kBF16 : DType::kF32);
      std::vector<int32_t> tokens = Tokens(config, 8);
      tokens.insert(tokens.end(), tokens.begin(), tokens.end());  // whose gates are known by then
      const Fed expected = RunFed(*MakeBackend(model, 1), tokens, control, never);
      for (int threads : {1, 2, 3}) {
        const auto backend = MakeBackend(model, threads);
        // Again and again in the same slots, so that what was kept before must not show.
        for (int round = 0; round < 3; ++round) {
          const auto ask = [round](int t) { return t % 3 != round; };
          EXPECT_TRUE(RunFed(*backend, tokens, control, ask) == expected)
              << static_cast<int>(control) << " threads " << threads << " round " << round;
        }
        EXPECT_TRUE(RunFed(*backend, tokens, control, never) == expected);
      }
      // The comparison notices another first token: the one that counts under every control.
      tokens[0] ^= 1;
      EXPECT_FALSE(RunFed(*MakeBackend(model, 1), tokens, control, never) == expected);
    }
  }
}

// Several fused rows of one step, some of the same new token, some with W^U h known.
TEST(CpuBackend, FusedRowsOfAStepShareGates) {
  const auto model = RandomModel(TinyLatentConfig());
  const std::vector<int32_t> prefix = {3, 9};
  const auto run = [&](Backend& backend, const std::vector<int32_t>& sequences, bool ask) {
    Step step;
    for (size_t i = 0; i < sequences.size(); ++i) {
      const int sequence = sequences[i];
      step.spans.push_back({static_cast<int32_t>(i), 1, 2, PagesOf(sequence)});
      step.rows.push_back({sequence < 2 ? 50 : 51, 3 * sequence + 1, kNoSlot, 3 * sequence + 2});
      if (ask) step.queries.push_back(AllLogprobs(model->config, i));
    }
    StepResult result;
    backend.Run(step, &result);
  };
  const auto together = MakeBackend(model), apart = MakeBackend(model);
  for (int sequence : {0, 1, 2}) {
    RunBackend(*together, {prefix.begin(), prefix.end() - sequence % 2}, 2, Control::kNone, 1, sequence);
    RunBackend(*together, prefix, 2, Control::kNone, 2, sequence);
    RunBackend(*apart, prefix, 2, Control::kNone, 1, sequence);
  }
  run(*together, {0, 1, 2}, false);
  for (int sequence : {0, 1, 2}) run(*apart, {sequence}, true);
  for (int sequence : {0, 1, 2})
    EXPECT_EQ(together->ReadState(3 * sequence + 2), apart->ReadState(3 * sequence + 2)) << sequence;
  EXPECT_EQ(together->ReadState(2), together->ReadState(5));  // the same tokens
  EXPECT_NE(together->ReadState(2), together->ReadState(8));
}

// Two rows keep their state in one slot: the later one's stays, and with it the later one's W^U h, though
// only the first has a query.
TEST(CpuBackend, TheLastRowThatKeepsAStateCounts) {
  const auto model = RandomModel(TinyLatentConfig());
  const auto next_state = [&](int32_t first_keep) {
    const auto backend = MakeBackend(model);
    Step step;
    step.spans.push_back({0, 2, 0, PagesOf(0)});
    step.rows = {{.token = 5, .keep_state = first_keep}, {.token = 6, .keep_state = 1}};
    step.queries.push_back(AllLogprobs(model->config, 0));
    StepResult result;
    backend->Run(step, &result);
    Step next;
    next.spans.push_back({0, 1, 2, PagesOf(0)});
    next.rows.push_back({7, 1, kNoSlot, 2});
    backend->Run(next, &result);
    return backend->ReadState(2);
  };
  EXPECT_EQ(next_state(1), next_state(kNoSlot));
}

TEST(GateCache, KeepsTheFirstTokensWithinItsBytes) {
  GateCache cache(1000, 8, 300 * 8 * 4 + 5);
  std::vector<const float*> rows;
  for (int token = 0; token < 400; ++token) {
    const Floats gate(8, static_cast<float>(token));
    EXPECT_EQ(cache.Find(token), nullptr);
    cache.Add(token, gate.data());
    cache.Add(token, Floats(8, -1).data());  // is there already
    rows.push_back(cache.Find(token));
  }
  for (int token = 0; token < 400; ++token) {
    EXPECT_EQ(cache.Find(token), rows[token]);
    ASSERT_EQ(rows[token] != nullptr, token < 300) << token;
    if (token < 300) {
      EXPECT_EQ(Floats(rows[token], rows[token] + 8), Floats(8, static_cast<float>(token)));
    }
  }
  GateCache none(1000, 8, 0);
  none.Add(1, Floats(8).data());
  EXPECT_EQ(none.Find(1), nullptr);
}

// ------------------------------------------------------------------------------------------------ the rest

TEST(CpuBackend, QueriesReadTheSameLogits) {
  const auto model = RandomModel(TinyConfig());
  const auto backend = MakeBackend(model);
  Step step;
  step.spans.push_back({0, 60, 0, PagesOf(0)});
  for (int32_t token : Tokens(model->config, 60)) step.rows.push_back({.token = token});
  for (int row = 0; row < 60; ++row) {  // more than one block of queries
    Query query = AllLogprobs(model->config, row);
    query.top = 3;
    query.sample = true;
    step.queries.push_back(query);
  }
  StepResult result;
  backend->Run(step, &result);
  ASSERT_EQ(result.queries.size(), 60u);
  for (const QueryResult& answer : result.queries) {
    const auto best = std::ranges::max_element(answer.target_logprobs);
    ASSERT_EQ(answer.top.size(), 3u);
    EXPECT_EQ(answer.top[0].token, best - answer.target_logprobs.begin());
    EXPECT_EQ(answer.top[0].logprob, *best);
    EXPECT_EQ(answer.sampled.token, answer.top[0].token);
    double sum = 0;
    for (float logprob : answer.target_logprobs) sum += std::exp(logprob);
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(CpuBackend, ABrokenStateShowsAndStaysWithItsSequence) {
  const auto model = RandomModel(TinyLatentConfig());
  Model broken = *model;
  std::vector<float> embedding(broken.weights.embedding.size());
  for (size_t i = 0; i < embedding.size(); ++i) embedding[i] = ElementAsFloat(broken.weights.embedding, i);
  embedding[5 * model->config.hidden_size + 3] = INFINITY;  // token 5
  broken.weights.embedding.data = reinterpret_cast<const std::byte*>(embedding.data());
  const auto backend = MakeBackend(std::make_shared<Model>(broken));
  const std::vector<int32_t> good = {1, 2, 3, 4};
  const Trail before = RunBackend(*backend, good, 2);
  const Trail bad = RunBackend(*backend, {1, 5, 3, 4}, 2, Control::kNone, 1000, 1);
  EXPECT_TRUE(std::isfinite(bad.rms[0]));
  for (int t = 1; t < 4; ++t) EXPECT_FALSE(std::isfinite(bad.rms[t])) << t;
  EXPECT_TRUE(std::isnan(bad.logprobs[3][0]));
  // Neither pages nor buffers that have seen it spoil what comes after, in the same step or later.
  EXPECT_TRUE(RunBackend(*backend, good, 2, Control::kNone, 1000, 1) == before);
  Step step;
  step.spans = {{0, 2, 0, PagesOf(2)}, {2, 2, 0, PagesOf(3)}};
  for (int32_t token : {1, 5, 1, 2}) step.rows.push_back({.token = token});
  step.queries.push_back(AllLogprobs(model->config, 3));
  StepResult result;
  backend->Run(step, &result);
  EXPECT_EQ(result.queries[0].target_logprobs, before.logprobs[1]);
}

TEST(CpuBackend, SaysWhatItIs) {
  const auto model = RandomModel(TinyConfig());
  const auto backend = MakeBackend(model, 1, CpuTargets().back());
  EXPECT_EQ(backend->info().device, "cpu");
  EXPECT_EQ(backend->info().target, CpuTargets().back());
  EXPECT_EQ(backend->info().page_size, 32);
  EXPECT_FALSE(backend->info().numerics.empty());
  EXPECT_EQ(backend->page_bytes(), 2 * 2 * 32 * (6 + 16) * 4);
  EXPECT_EQ(backend->info().kv_dtype, KvDtype::kF32);
  const auto half = MakeBackend(model, 1, "", KvDtype::kBF16);
  EXPECT_EQ(half->page_bytes(), 2 * 2 * 32 * (6 + 16) * 2);
  EXPECT_EQ(half->info().kv_dtype, KvDtype::kBF16);
  EXPECT_EQ(backend->state_bytes(), 32 * 4);
  EXPECT_EQ(MakeBackend(RandomModel(TinyLatentConfig()))->state_bytes(), 2 * 32 * 4);
  EXPECT_THROW(MakeCpuBackend(model, {1, "AVX9"}), Error);
  EXPECT_THROW(MakeCpuBackend(model, {-1, ""}), Error);
}

TEST(CpuBackend, AStepWithoutRowsDoesNothing) {
  const auto backend = MakeBackend(RandomModel(TinyConfig()));
  StepResult result;
  backend->Run({}, &result);
  EXPECT_TRUE(result.queries.empty());
  EXPECT_TRUE(result.state_rms.empty());
}

}  // namespace
}  // namespace fullband
