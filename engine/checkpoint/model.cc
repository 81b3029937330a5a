#include "engine/checkpoint/model.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "common/error.h"
#include "engine/checkpoint/finite.h"
#include "engine/checkpoint/json_file.h"
#include "engine/checkpoint/layout.h"
#include "engine/checkpoint/safetensors.h"

namespace fullband {
namespace {

constexpr std::string_view kLatentPrefix = "latent_feedback.";
constexpr char kHead[] = "lm_head.weight";
constexpr char kEmbedding[] = "model.embed_tokens.weight";

Error TensorFault(const StoredTensor& stored, const std::string& name, const std::string& why,
                  const std::string& remedy = "") {
  return Error(stored.file.string() + ": " + Printable(name), why, remedy);
}

// Tables of angles that old converters stored; they follow from the config.
bool IsRotaryTable(std::string_view name) { return name.ends_with("rotary_emb.inv_freq"); }

// One error for all that is missing. Where only latent feedback is, it says so: the config may be the part at
// fault.
void CheckNothingMissing(const TensorFiles& files, const std::vector<TensorSlot>& slots,
                         const std::filesystem::path& folder) {
  constexpr size_t kNamed = 4;
  std::vector<std::string> missing;
  bool latent_only = true;
  for (const TensorSlot& slot : slots) {
    if (files.tensors.contains(slot.name)) continue;
    missing.push_back(slot.name);
    latent_only = latent_only && slot.name.starts_with(kLatentPrefix);
  }
  if (missing.empty()) return;
  std::string names;
  for (size_t i = 0; i < missing.size() && i < kNamed; ++i) names += (i ? ", " : "") + missing[i];
  if (missing.size() > kNamed) names += fmt::format(" and {} more", missing.size() - kNamed);
  const auto weight_files = WeightFiles(folder);
  const std::string where = weight_files.size() == 1 ? weight_files.front().string() : folder.string();
  throw Error(
      where + ": " + names, missing.size() == 1 ? "is missing" : "are missing",
      latent_only
          ? "config.json states latent_feedback: fetch the weights that were trained with it, or remove it"
          : "check that config.json belongs to these weights");
}

void CheckNothingUnknown(const TensorFiles& files, const std::vector<TensorSlot>& slots,
                         const ModelConfig& config) {
  std::map<std::string_view, const TensorSlot*> known;
  for (const TensorSlot& slot : slots) known[slot.name] = &slot;
  for (const auto& [name, stored] : files.tensors) {
    if (known.contains(name) || IsRotaryTable(name)) continue;
    if (name == kHead) {
      // Tied, and stored all the same: harmless as long as both say the same.
      const StoredTensor& embedding = files.tensors.at(kEmbedding);
      if (stored.dtype == embedding.dtype && stored.shape == embedding.shape &&
          std::memcmp(stored.data, embedding.data, stored.bytes) == 0)
        continue;
      throw TensorFault(stored, name,
                        "differs from the embedding, but config.json's tie_word_embeddings ties the two",
                        "set tie_word_embeddings to false if the head was trained apart");
    }
    if (name.starts_with(kLatentPrefix))
      throw TensorFault(stored, name,
                        config.fusion == Fusion::kNone
                            ? "is there, but config.json states no latent_feedback"
                            : "does not belong to the fusion that config.json states",
                        "correct latent_feedback in config.json");
    throw TensorFault(stored, name,
                      fmt::format("is not a tensor of {} with this config.json", config.architecture),
                      "check that config.json belongs to these weights");
  }
}

void Attach(const TensorFiles& files, const std::vector<TensorSlot>& slots) {
  for (const TensorSlot& slot : slots) {
    const StoredTensor& stored = files.tensors.at(slot.name);
    if (stored.shape != slot.shape)
      throw TensorFault(stored, slot.name,
                        fmt::format("has the shape [{}] where config.json asks for [{}]",
                                    fmt::join(stored.shape, ", "), fmt::join(slot.shape, ", ")),
                        "check that config.json belongs to these weights");
    *slot.tensor = {stored.data, stored.dtype, stored.shape[0],
                    stored.shape.size() == 2 ? stored.shape[1] : 1};
  }
}

void CheckFinite(const TensorFiles& files, const std::vector<TensorSlot>& slots) {
  std::vector<Tensor> tensors;
  for (const TensorSlot& slot : slots) tensors.push_back(*slot.tensor);
  const std::optional<size_t> bad = FirstNonFinite(tensors);
  if (!bad) return;
  const Tensor& tensor = tensors[*bad];
  int64_t at = 0;
  while (std::isfinite(ElementAsFloat(tensor, at))) ++at;
  throw TensorFault(files.tensors.at(slots[*bad].name), slots[*bad].name,
                    fmt::format("holds {} at row {}, column {}", ElementAsFloat(tensor, at), at / tensor.cols,
                                at % tensor.cols),
                    "the training or the conversion went wrong");
}

float FloatOfHalf(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16, exponent = (half >> 10) & 31, fraction = half & 1023u;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent > 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  // Subnormal or zero: fraction * 2^-24 is exact in float32.
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

}  // namespace

const char* DTypeName(DType type) {
  switch (type) {
    case DType::kF32:
      return "float32";
    case DType::kF16:
      return "float16";
    case DType::kBF16:
      return "bfloat16";
  }
  return "unknown";
}

size_t DTypeSize(DType type) { return type == DType::kF32 ? 4 : 2; }

float ElementAsFloat(const Tensor& tensor, int64_t i) {
  const std::byte* at = tensor.data + static_cast<size_t>(i) * DTypeSize(tensor.dtype);
  if (tensor.dtype == DType::kF32) {
    float value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return tensor.dtype == DType::kF16 ? FloatOfHalf(bits) : std::bit_cast<float>(uint32_t{bits} << 16);
}

std::shared_ptr<const Model> LoadModel(const std::filesystem::path& folder) {
  auto model = std::make_shared<Model>();
  model->folder = folder;
  model->config = ReadModelConfig(folder);
  TensorFiles files = MapTensorFiles(folder);
  const std::vector<TensorSlot> slots = TensorSlots(model->config, &model->weights);
  CheckNothingMissing(files, slots, folder);
  CheckNothingUnknown(files, slots, model->config);
  Attach(files, slots);
  CheckFinite(files, slots);
  if (model->config.tied_embeddings) model->weights.head = model->weights.embedding;
  for (const TensorSlot& slot : slots) model->parameter_count += slot.tensor->size();
  model->mapping = files.mapping;
  model->release = [mapping = files.mapping](const Tensor& tensor) {
    ReleasePages(*mapping, tensor.data, static_cast<size_t>(tensor.size()) * DTypeSize(tensor.dtype));
  };
  return model;
}

}  // namespace fullband
