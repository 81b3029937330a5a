#include "bench/random_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/hash.h"
#include "common/names.h"
#include "engine/checkpoint/layout.h"

namespace fullband {
namespace {

// What keeps drawn numbers, and the model that they were added to.
struct Drawn {
  std::shared_ptr<const Model> base;
  std::vector<std::vector<std::byte>> tensors;
};

uint16_t UpperHalf(float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); }

// Even numbers around `mean`, of a size that keeps activations near 1.
Tensor Draw(int64_t rows, int64_t cols, float mean, DType dtype, uint64_t seed, Drawn* drawn) {
  const bool wide = dtype == DType::kF32;
  std::vector<std::byte>& bytes = drawn->tensors.emplace_back(rows * cols * (wide ? 4 : 2));
  const float scale = 1.7f / std::sqrt(static_cast<float>(cols));
#pragma omp parallel for
  for (int64_t i = 0; i < rows * cols; ++i) {
    const auto bits = static_cast<int64_t>(Mix64(seed + static_cast<uint64_t>(i)));
    const float value = mean + scale * static_cast<float>(bits) * 0x1p-63f;
    const uint16_t half = UpperHalf(value);
    std::memcpy(bytes.data() + i * (wide ? 4 : 2), wide ? static_cast<const void*>(&value) : &half,
                wide ? 4 : 2);
  }
  return {bytes.data(), dtype, rows, cols};
}

void DrawSlot(const TensorSlot& slot, DType dtype, uint64_t seed, Drawn* drawn) {
  const bool vector = slot.shape.size() == 1;
  const uint64_t own = Mix64(seed) + drawn->tensors.size();
  *slot.tensor =
      Draw(slot.shape[0], vector ? 1 : slot.shape[1], vector ? 1.0f : 0.0f, dtype, Mix64(own), drawn);
}

int ParseNumber(const std::string& option, std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > (1 << 24))
    throw UsageError(option, fmt::format("'{}' is not a whole number from 1 on", text));
  return value;
}

constexpr char kOption[] = "--random-model";

}  // namespace

RandomShape RandomShape::Parse(const std::string& text) {
  std::map<std::string, std::string> given;
  const std::vector<std::string> known = {"width", "layers",     "heads",   "kv_heads",
                                          "inner", "vocabulary", "context", "dtype"};
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    if (equals == std::string::npos || std::find(known.begin(), known.end(), key) == known.end())
      throw UsageError(
          fmt::format("{} {}", kOption, part), "is no part of a shape",
          equals == std::string::npos ? "write e.g. width=512,layers=8" : DidYouMean(key, known));
    if (!given.emplace(key, part.substr(equals + 1)).second)
      throw UsageError(fmt::format("{} {}", kOption, part), fmt::format("gives {} twice", key));
    at = end + 1;
  }
  const auto number = [&](const char* key, int otherwise) {
    const auto at = given.find(key);
    return at == given.end() ? otherwise : ParseNumber(fmt::format("{} {}", kOption, key), at->second);
  };
  RandomShape shape;
  ModelConfig& c = shape.config;
  c.architecture = "random";
  c.hidden_size = number("width", 0);
  if (c.hidden_size == 0) throw UsageError(kOption, "gives no width", "write e.g. width=512,layers=8");
  if (c.hidden_size % 64 != 0)
    throw UsageError(fmt::format("{} width", kOption), fmt::format("{} is no multiple of 64", c.hidden_size));
  c.layers = number("layers", 8);
  c.head_dim = 64;
  c.heads = number("heads", c.hidden_size / 64);
  c.kv_heads = number("kv_heads", c.heads);
  if (c.heads % c.kv_heads != 0)
    throw UsageError(fmt::format("{} kv_heads", kOption),
                     fmt::format("{} does not divide the {} heads", c.kv_heads, c.heads));
  c.intermediate_size = number("inner", (c.hidden_size * 8 / 3 + 31) / 32 * 32);
  c.vocab_size = number("vocabulary", 32000);
  c.max_positions = number("context", 2048);
  c.rms_norm_eps = 1e-5;
  c.tied_embeddings = true;
  const std::string dtype = given.contains("dtype") ? given["dtype"] : "float32";
  if (dtype != "float32" && dtype != "bfloat16")
    throw UsageError(fmt::format("{} dtype", kOption), fmt::format("'{}' cannot be drawn", dtype),
                     "float32 or bfloat16");
  shape.dtype = dtype == "float32" ? DType::kF32 : DType::kBF16;
  return shape;
}

std::shared_ptr<const Model> DrawModel(const RandomShape& shape, uint64_t seed) {
  auto model = std::make_shared<Model>();
  auto drawn = std::make_shared<Drawn>();
  model->config = shape.config;
  for (const TensorSlot& slot : TensorSlots(model->config, &model->weights)) {
    DrawSlot(slot, shape.dtype, seed, drawn.get());
    model->parameter_count += slot.tensor->size();
  }
  if (model->config.tied_embeddings) model->weights.head = model->weights.embedding;
  model->mapping = std::move(drawn);
  return model;
}

std::shared_ptr<const Model> WithRandomFeedback(std::shared_ptr<const Model> base, uint64_t seed) {
  if (base->config.fusion != Fusion::kNone)
    throw UsageError("--random-feedback", "this model has latent feedback of its own",
                     "leave the option out");
  auto model = std::make_shared<Model>(*base);
  auto drawn = std::make_shared<Drawn>();
  const DType dtype = base->weights.embedding.dtype == DType::kBF16 ? DType::kBF16 : DType::kF32;
  model->folder.clear();
  model->config.fusion = Fusion::kGlu;
  Weights places = model->weights;
  for (const TensorSlot& slot : TensorSlots(model->config, &places)) {
    if (slot.tensor != &places.state_proj && slot.tensor != &places.token_gate) continue;
    DrawSlot(slot, dtype, seed, drawn.get());
    model->parameter_count += slot.tensor->size();
  }
  model->weights.state_proj = places.state_proj;
  model->weights.token_gate = places.token_gate;
  drawn->base = std::move(base);
  model->mapping = std::move(drawn);
  return model;
}

}  // namespace fullband
