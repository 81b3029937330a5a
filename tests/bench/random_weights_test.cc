#include "bench/random_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "common/error.h"
#include "engine/compute/backend.h"
#include "tests/support/message_of.h"
#include "tests/support/random_model.h"

namespace fullband {
namespace {

using testing::HasSubstr;

bool SameBytes(const Tensor& a, const Tensor& b) {
  return a.size() == b.size() && a.dtype == b.dtype &&
         std::memcmp(a.data, b.data, static_cast<size_t>(a.size()) * DTypeSize(a.dtype)) == 0;
}

TEST(RandomShape, ReadsParts) {
  const RandomShape plain = RandomShape::Parse("width=128");
  EXPECT_EQ(plain.config.heads, 2);
  EXPECT_EQ(plain.config.kv_heads, 2);
  EXPECT_EQ(plain.config.layers, 8);
  EXPECT_EQ(plain.config.intermediate_size, 352);
  EXPECT_EQ(plain.dtype, DType::kF32);
  const RandomShape all = RandomShape::Parse(
      "layers=3,width=64,heads=6,kv_heads=3,inner=96,vocabulary=50,context=40,dtype=bfloat16");
  EXPECT_EQ(all.config.layers, 3);
  EXPECT_EQ(all.config.heads, 6);
  EXPECT_EQ(all.config.kv_heads, 3);
  EXPECT_EQ(all.config.max_positions, 40);
  EXPECT_EQ(all.dtype, DType::kBF16);
}

TEST(RandomShape, RefusesByPart) {
  const auto refusal = [](const char* text) { return MessageOf([&] { RandomShape::Parse(text); }); };
  EXPECT_THAT(refusal("layers=2"), HasSubstr("gives no width"));
  EXPECT_THAT(refusal("width=100"), HasSubstr("100 is no multiple of 64"));
  EXPECT_THAT(refusal("width=64,depth=2"), HasSubstr("depth=2"));
  EXPECT_THAT(refusal("width=64,layer=2"), HasSubstr("layers"));
  EXPECT_THAT(refusal("width=64,layers=none"), HasSubstr("'none' is not a whole number"));
  EXPECT_THAT(refusal("width=64,width=64"), HasSubstr("gives width twice"));
  EXPECT_THAT(refusal("width=128,kv_heads=3"), HasSubstr("3 does not divide"));
  EXPECT_THAT(refusal("width=64,dtype=int4"), HasSubstr("'int4' cannot be drawn"));
  EXPECT_THAT(refusal(""), HasSubstr("write e.g."));
}

TEST(DrawModel, RunsAndRepeats) {
  const RandomShape shape = RandomShape::Parse("width=64,layers=2,vocabulary=50,context=40");
  const auto model = DrawModel(shape, 3), again = DrawModel(shape, 3), other = DrawModel(shape, 4);
  EXPECT_TRUE(SameBytes(model->weights.embedding, again->weights.embedding));
  EXPECT_TRUE(SameBytes(model->weights.layers[1].down, again->weights.layers[1].down));
  EXPECT_FALSE(SameBytes(model->weights.embedding, other->weights.embedding));
  EXPECT_FALSE(SameBytes(model->weights.layers[0].down, model->weights.layers[1].down));
  EXPECT_TRUE(model->folder.empty());
  EXPECT_EQ(model->parameter_count, 50 * 64 + 64 + 2 * (4 * 64 * 64 + 3 * 64 * 192 + 2 * 64));
  const auto backend = MakeCpuBackend(model, {.threads = 1, .target = ""});
  backend->Reserve(1, 0);
  Step step;
  step.rows = {{.token = 3}, {.token = 5}};
  step.spans = {{0, 2, 0, {0}}};
  StepResult result;
  backend->Run(step, &result);
  for (float rms : result.state_rms) EXPECT_TRUE(rms > 0.01f && rms < 100) << rms;
}

TEST(WithRandomFeedback, AddsOnlyThat) {
  const auto plain = RandomModel(TinyConfig(), DType::kBF16);
  const auto model = WithRandomFeedback(plain, 7);
  EXPECT_EQ(model->config.fusion, Fusion::kGlu);
  EXPECT_EQ(model->weights.layers[1].q.data, plain->weights.layers[1].q.data);
  EXPECT_EQ(model->weights.state_proj.rows, 24);
  EXPECT_EQ(model->weights.state_proj.dtype, DType::kBF16);
  EXPECT_FALSE(SameBytes(model->weights.state_proj, model->weights.token_gate));
  EXPECT_EQ(model->parameter_count, plain->parameter_count + 2 * 24 * 24);
  EXPECT_TRUE(model->folder.empty());
  EXPECT_THROW(WithRandomFeedback(model, 7), Error);
}

}  // namespace
}  // namespace fullband
