// Passes over whole texts: every figure against the plain statement of the semantics, however they are
// scheduled.
#include "engine/decode/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "common/error.h"
#include "engine/engine.h"
#include "tests/decode/semantics.h"
#include "tests/support/random_model.h"

namespace fullband {
namespace {

using ::testing::HasSubstr;

constexpr int kPasses = 4;

// Lengths around a page's 4 positions, shorter than the passes and longer than a chunk.
std::vector<PassText> Texts() {
  std::vector<PassText> texts;
  for (const int length : {9, 2, 4, 13, 3, 8}) {
    PassText text{"text " + std::to_string(texts.size()), {}};
    for (int i = 0; i < length; ++i) text.tokens.push_back((i * 7 + length) % 16);
    texts.push_back(text);
  }
  return texts;
}

// As the toy backend shows a state.
std::vector<std::vector<float>> Readable(const std::vector<ToyModel::Vector>& states) {
  std::vector<std::vector<float>> all;
  for (const ToyModel::Vector& state : states) {
    all.emplace_back();
    for (const uint64_t lane : state) all.back().push_back(static_cast<float>(lane >> 40));
  }
  return all;
}

using States = std::vector<std::vector<float>>;

// The sum of |a - b|^2 (b empty: |a|^2) over positions `from` and later.
double Squares(const States& a, const States& b, int from = 0) {
  double sum = 0;
  for (size_t t = static_cast<size_t>(from); t < a.size(); ++t) {
    double own = 0;
    for (size_t d = 0; d < a[t].size(); ++d) {
      const double x = static_cast<double>(a[t][d]) - (b.empty() ? 0.0 : b[t][d]);
      own += x * x;
    }
    sum += own;
  }
  return sum;
}

void ExpectLosses(const PassSums& sums, const std::vector<ToyModel::Vector>& states, const PassText& text) {
  const ToyModel model;
  ASSERT_EQ(sums.logprobs.size(), text.tokens.size() - 1);
  ASSERT_EQ(sums.greedy.size(), text.tokens.size() - 1);
  for (size_t t = 0; t + 1 < text.tokens.size(); ++t) {
    const std::vector<float> logprobs = model.Logprobs(states[t]);
    EXPECT_EQ(sums.logprobs[t], logprobs[static_cast<size_t>(text.tokens[t + 1])]);
    EXPECT_EQ(sums.greedy[t], ToyModel::ArgMax(logprobs) == text.tokens[t + 1]);
  }
}

void ExpectSemantics(const SequencePasses& passes, const PassText& text, Control control) {
  const ToySpecification toy;
  const Semantics<ToySpecification> semantics(toy);
  const auto exact_states = semantics.Recur(text.tokens, 1, control);
  const States exact = Readable(exact_states);
  const int size = static_cast<int>(exact.size());
  EXPECT_DOUBLE_EQ(passes.recurrence.exact, Squares(exact, {}));
  ExpectLosses(passes.recurrence, exact_states, text);
  ASSERT_EQ(passes.passes.size(), static_cast<size_t>(kPasses));
  States before;
  for (int pass = 1; pass <= kPasses; ++pass) {
    SCOPED_TRACE(text.name + " pass " + std::to_string(pass));
    const PassSums& sums = passes.passes[static_cast<size_t>(pass) - 1];
    const auto states = semantics.Prefill(text.tokens, pass, control);
    const States now = Readable(states);
    EXPECT_DOUBLE_EQ(sums.apart, Squares(now, exact));
    EXPECT_DOUBLE_EQ(sums.exact, Squares(exact, {}));
    EXPECT_DOUBLE_EQ(sums.exact_open, Squares(exact, {}, std::min(pass, size)));
    EXPECT_DOUBLE_EQ(sums.moved, pass == 1 ? 0 : Squares(now, before));
    EXPECT_DOUBLE_EQ(sums.before, pass == 1 ? 0 : Squares(before, {}));
    EXPECT_DOUBLE_EQ(sums.before_open, pass == 1 ? 0 : Squares(before, {}, std::min(pass - 1, size)));
    // What is not open does not move and is not apart, so that open figures have the same numerators.
    EXPECT_DOUBLE_EQ(Squares(now, exact), Squares(now, exact, std::min(pass, size)));
    ExpectLosses(sums, states, text);
    before = now;
  }
}

std::vector<SequencePasses> RunAll(Engine& engine, const std::vector<PassText>& texts, Control control) {
  std::vector<SequencePasses> all;
  int64_t rows = 0;
  PassListener listener;
  listener.take = [&](size_t index, const SequencePasses& passes) {
    EXPECT_EQ(index, all.size());
    all.push_back(passes);
  };
  listener.advance = [&](int64_t more) { rows += more; };
  engine.RunPasses(texts, kPasses, control, listener);
  EXPECT_EQ(rows, PassRows(texts, kPasses));
  return all;
}

std::vector<SequencePasses> OnToy(const ToyOptions& toy, const EngineOptions& options, Control control,
                                  const std::vector<PassText>& texts = Texts()) {
  Engine engine(std::make_unique<ToyBackend>(toy), nullptr, options);
  return RunAll(engine, texts, control);
}

bool SamePass(const PassSums& a, const PassSums& b) {
  return a.moved == b.moved && a.before == b.before && a.before_open == b.before_open && a.apart == b.apart &&
         a.exact == b.exact && a.exact_open == b.exact_open && a.logprobs == b.logprobs &&
         a.greedy == b.greedy;
}

bool Same(const std::vector<SequencePasses>& a, const std::vector<SequencePasses>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SamePass(a[i].recurrence, b[i].recurrence) || a[i].passes.size() != b[i].passes.size()) return false;
    for (size_t p = 0; p < a[i].passes.size(); ++p)
      if (!SamePass(a[i].passes[p], b[i].passes[p])) return false;
  }
  return true;
}

std::vector<EngineOptions> Ways() {
  std::vector<EngineOptions> ways;
  for (const int batch : {1, 3, 16})
    for (const int chunk : {1, 5, 1000})
      for (const int64_t memory : {int64_t{1}, int64_t{1} << 30}) {
        EngineOptions options;
        options.threads = 1 + batch % 2;
        options.batch = batch;
        options.chunk = chunk;
        options.kv_memory = memory;
        ways.push_back(options);
      }
  return ways;
}

TEST(Passes, AreWhatTheSemanticsSay) {
  for (const Control control :
       {Control::kNone, Control::kZero, Control::kStale, Control::kReversed, Control::kConstantGate}) {
    const std::vector<SequencePasses> all = OnToy({}, {}, control);
    ASSERT_EQ(all.size(), Texts().size());
    for (size_t i = 0; i < all.size(); ++i) ExpectSemantics(all[i], Texts()[i], control);
  }
}

TEST(Passes, SchedulingChangesNotOneBit) {
  const std::vector<SequencePasses> expected = OnToy({}, {}, Control::kStale);
  for (const EngineOptions& options : Ways())
    EXPECT_TRUE(Same(OnToy({}, options, Control::kStale), expected));
}

TEST(Passes, SchedulingChangesNotOneBitOnTheCpu) {
  std::vector<PassText> texts = Texts();
  for (int i = 0; i < 70; ++i) texts[3].tokens.push_back(i % 16);  // three pages
  for (const Fusion fusion : {Fusion::kGlu, Fusion::kAdditive}) {
    ModelConfig config = TinyLatentConfig();
    config.fusion = fusion;
    const auto model = RandomModel(config);
    const auto run = [&](const EngineOptions& options) {
      Engine engine(MakeCpuBackend(model, {.threads = options.threads, .target = ""}), nullptr, options);
      return RunAll(engine, texts, Control::kNone);
    };
    EngineOptions plain;
    plain.threads = 1;
    const std::vector<SequencePasses> expected = run(plain);
    for (const EngineOptions& options : Ways()) EXPECT_TRUE(Same(run(options), expected));
    // Bit for bit the recurrence, where a text has no more tokens than passes.
    for (const size_t i : {1, 2, 4}) {
      EXPECT_EQ(expected[i].passes.back().apart, 0);
      EXPECT_EQ(expected[i].passes.back().logprobs, expected[i].recurrence.logprobs);
      EXPECT_GT(expected[i].passes.front().apart, 0);
    }
  }
}

TEST(Passes, PlantedFaultsShow) {
  const std::vector<SequencePasses> expected = OnToy({}, {}, Control::kStale);
  for (const ToyFault fault : {ToyFault::kIgnoreOlderState, ToyFault::kIgnoreControl, ToyFault::kIgnoreFusion,
                               ToyFault::kForgetFirstPage, ToyFault::kMixRows}) {
    ToyOptions toy;
    toy.fault = fault;
    EXPECT_FALSE(Same(OnToy(toy, {}, Control::kStale), expected)) << static_cast<int>(fault);
  }
}

// Pages and slots in use by others, before and after, are neither touched nor kept.
TEST(Passes, RunBesideOtherRequests) {
  Engine engine(std::make_unique<ToyBackend>(), nullptr, {});
  const auto ask = [&] {
    ScoreRequest request;
    request.context = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    request.continuation = {3, 4};
    request.setting = Setting::Parse("latent@2");
    engine.Submit(request);
    return engine.Next()->logprobs;
  };
  const std::vector<float> logprobs = ask();
  EXPECT_TRUE(Same(RunAll(engine, Texts(), Control::kNone), OnToy({}, {}, Control::kNone)));
  EXPECT_EQ(ask(), logprobs);
  EXPECT_TRUE(Same(RunAll(engine, Texts(), Control::kNone), OnToy({}, {}, Control::kNone)));
}

std::string ErrorOf(const ToyOptions& toy, const std::vector<PassText>& texts, int passes = kPasses) {
  Engine engine(std::make_unique<ToyBackend>(toy), nullptr, {});
  try {
    engine.RunPasses(texts, passes, Control::kNone, {[](size_t, const SequencePasses&) {}, nullptr});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Passes, RefuseWhatCannotBeRun) {
  ToyOptions toy;
  EXPECT_THAT(ErrorOf(toy, {{"short", {1}}}), HasSubstr("short: has 1 tokens"));
  EXPECT_THAT(ErrorOf(toy, {{"odd", {1, 99}}}), HasSubstr("odd: token 99"));
  EXPECT_THAT(ErrorOf(toy, {{"long", std::vector<int32_t>(257, 1)}}), HasSubstr("long: has 257 tokens"));
  EXPECT_EQ(ErrorOf(toy, {{"whole", std::vector<int32_t>(256, 1)}}), "");
  EXPECT_THAT(ErrorOf(toy, Texts(), 1), HasSubstr("--passes"));
  toy.poison = 12;
  EXPECT_THAT(ErrorOf(toy, {{"fine", {1, 2}}, {"broken", {1, 2, 12}}}),
              HasSubstr("broken: the hidden state at position 2 is not finite (recurrence)"));
  toy.poison.reset();
  toy.fusion = Fusion::kNone;
  EXPECT_THAT(ErrorOf(toy, Texts()), HasSubstr("no latent feedback"));
}

}  // namespace
}  // namespace fullband
