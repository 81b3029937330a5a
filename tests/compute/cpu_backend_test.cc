// The CPU backend as a whole, against the double-precision reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "common/error.h"
#include "engine/compute/backend.h"
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
                            Control control, const Trail& given) {
  const ReferenceModel reference(model);
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
                                     std::string target = "") {
  auto backend = MakeCpuBackend(model, {threads, std::move(target)});
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

}  // namespace
}  // namespace fullband
