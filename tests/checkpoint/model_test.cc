// Whole checkpoints: what was written is what is read, whatever the files' shape.
#include "engine/checkpoint/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>

#include "engine/checkpoint/layout.h"
#include "tests/checkpoint/expect_error.h"
#include "tests/support/checkpoint_files.h"
#include "tests/support/random_model.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

namespace fs = std::filesystem;

// Every tensor has the written dtype, shape and bytes.
void ExpectSame(const Model& read, const Model& written) {
  Weights a = read.weights, b = written.weights;
  const std::vector<TensorSlot> got = TensorSlots(read.config, &a), wanted = TensorSlots(written.config, &b);
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const Tensor &x = *got[i].tensor, &y = *wanted[i].tensor;
    ASSERT_EQ(got[i].name, wanted[i].name);
    ASSERT_EQ(x.dtype, y.dtype) << got[i].name;
    ASSERT_EQ(x.rows, y.rows) << got[i].name;
    ASSERT_EQ(x.cols, y.cols) << got[i].name;
    ASSERT_EQ(reinterpret_cast<uintptr_t>(x.data) % DTypeSize(x.dtype), 0u) << got[i].name;
    EXPECT_EQ(std::memcmp(x.data, y.data, static_cast<size_t>(x.size()) * DTypeSize(x.dtype)), 0)
        << got[i].name;
  }
  EXPECT_EQ(read.parameter_count, written.parameter_count);
}

std::vector<ModelConfig> Kinds() {
  std::vector<ModelConfig> kinds = {TinyConfig(), TinyLatentConfig()};
  ModelConfig additive = TinyLatentConfig();
  additive.fusion = Fusion::kAdditive;
  additive.tied_embeddings = true;
  kinds.push_back(additive);
  ModelConfig biased = TinyConfig();
  biased.qkv_bias = biased.output_bias = biased.mlp_bias = true;
  biased.rope = {RopeType::kLlama3, 5e5, 8, 1, 4, 64};
  kinds.push_back(biased);
  ModelConfig qwen2 = TinyConfig();
  qwen2.architecture = "Qwen2ForCausalLM";
  qwen2.qkv_bias = true;
  qwen2.end_tokens = {3, 5};
  kinds.push_back(qwen2);
  ModelConfig qwen3 = TinyConfig();
  qwen3.architecture = "Qwen3ForCausalLM";
  qwen3.qk_norm = true;
  qwen3.head_dim = 10;
  qwen3.rope = {RopeType::kLinear, 1e6, 2, 1, 4, 0};
  kinds.push_back(qwen3);
  return kinds;
}

TEST(LoadModel, GivesBackWhatWasWritten) {
  for (const ModelConfig& kind : Kinds()) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      for (const int shards : {1, 3}) {
        TempFolder folder;
        const auto written = RandomModel(kind, dtype, 5);
        WriteCheckpoint(*written, folder.path(), shards);
        const auto read = LoadModel(folder.path());
        ExpectSame(*read, *written);
        EXPECT_EQ(read->config.rope.type, kind.rope.type);
        EXPECT_EQ(read->config.rope.theta, kind.rope.theta);
        EXPECT_EQ(read->config.rope.original_max_positions, kind.rope.original_max_positions);
        EXPECT_EQ(read->config.end_tokens, kind.end_tokens);
        EXPECT_EQ(read->weights.head.data == read->weights.embedding.data, kind.tied_embeddings);
      }
    }
  }
}

TEST(LoadModel, ReadsMixedDtypesAndUnalignedData) {
  const auto model = RandomModel(TinyConfig(), DType::kF32);
  const auto half = RandomModel(TinyConfig(), DType::kBF16);
  for (int padding = 0; padding < 5; ++padding) {
    TempFolder folder;
    WriteText(folder.path() / "config.json", ConfigJson(model->config).dump());
    Weights places = model->weights, half_places = half->weights;
    const auto slots = TensorSlots(model->config, &places),
               half_slots = TensorSlots(half->config, &half_places);
    auto mixed = std::make_shared<Model>(*model);
    auto mixed_slots = TensorSlots(mixed->config, &mixed->weights);
    SafetensorsParts parts;
    for (size_t i = 0; i < slots.size(); ++i) {
      *mixed_slots[i].tensor = i % 2 ? *half_slots[i].tensor : *slots[i].tensor;
      AddTensor(slots[i].name, *mixed_slots[i].tensor, slots[i].shape, &parts);
    }
    WriteText(folder.path() / "model.safetensors",
              SafetensorsBytes(parts.header.dump(), parts.data, padding));
    ExpectSame(*LoadModel(folder.path()), *mixed);
  }
}

TEST(LoadModel, TakesTheOnlySafetensorsFileUnderAnyName) {
  TempFolder folder;
  const auto model = RandomModel(TinyConfig());
  WriteCheckpoint(*model, folder.path());
  fs::rename(folder.path() / "model.safetensors", folder.path() / "weights.safetensors");
  ExpectSame(*LoadModel(folder.path()), *model);
}

TEST(LoadModel, IgnoresRotaryTablesAndATiedHeadThatIsEqual) {
  TempFolder folder;
  ModelConfig config = TinyConfig();
  config.tied_embeddings = true;
  const auto model = RandomModel(config);
  WriteText(folder.path() / "config.json", ConfigJson(config).dump());
  SafetensorsParts parts = AllTensors(*model);
  AddTensor("model.layers.0.self_attn.rotary_emb.inv_freq",
            {model->weights.final_norm.data, DType::kF32, 3, 1}, {3}, &parts);
  AddTensor("lm_head.weight", model->weights.embedding, {config.vocab_size, config.hidden_size}, &parts);
  const fs::path file = folder.path() / "model.safetensors";
  WriteText(file, SafetensorsBytes(parts.header.dump(), parts.data));
  ExpectSame(*LoadModel(folder.path()), *model);
  // One bit of the head differs: which of the two is meant?
  parts.data.back() ^= 1;
  WriteText(file, SafetensorsBytes(parts.header.dump(), parts.data));
  ExpectRefused(folder.path(), {"model.safetensors", "lm_head.weight", "tie_word_embeddings"});
}

TEST(LoadModel, KeepsTheFilesMapped) {
  std::shared_ptr<const Model> read;
  const auto written = RandomModel(TinyConfig());
  {
    TempFolder folder;
    WriteCheckpoint(*written, folder.path());
    read = LoadModel(folder.path());
  }
  ExpectSame(*read, *written);
}

// Kilobytes of mapped files in this process's memory.
int64_t ResidentFileKilobytes() {
  std::ifstream status("/proc/self/status");
  std::string key;
  int64_t kilobytes = 0;
  while (status >> key) {
    if (key == "RssFile:" && status >> kilobytes) return kilobytes;
  }
  return -1;
}

TEST(LoadModel, ReleasedTensorsLeaveMemoryAndComeBack) {
  ModelConfig config = TinyConfig();
  config.vocab_size = 40'000;
  const auto written = RandomModel(config);
  TempFolder folder;
  WriteText(folder.path() / "config.json", ConfigJson(config).dump());
  const SafetensorsParts parts = AllTensors(*written);
  const std::string header = parts.header.dump();
  const int aligned = (8 - header.size() % 8) % 8;  // else the tensors would be copied
  WriteText(folder.path() / "model.safetensors", SafetensorsBytes(header, parts.data, aligned));
  const auto read = LoadModel(folder.path());
  ExpectSame(*read, *written);
  const int64_t before = ResidentFileKilobytes();
  Weights places = read->weights;
  for (const TensorSlot& slot : TensorSlots(config, &places)) read->release(*slot.tensor);
  const int64_t megabytes = 2 * int64_t{config.vocab_size} * config.hidden_size * 4 >> 20;
  EXPECT_LT(ResidentFileKilobytes(), before - (megabytes << 10) / 2);
  ExpectSame(*read, *written);
  // Memory that is no file's is left alone: the copies of tensors that lie unaligned, say.
  std::vector<std::byte> own(1 << 16, std::byte{7});
  read->release({own.data(), DType::kBF16, 1 << 15, 1});
  EXPECT_EQ(own, std::vector<std::byte>(1 << 16, std::byte{7}));
}

TEST(ElementAsFloat, WidensEveryHalfExactly) {
  for (int i = 0; i < 65536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const Tensor half{reinterpret_cast<const std::byte*>(&bits), DType::kF16, 1, 1};
    const int exponent = (bits >> 10) & 31;
    const double fraction = bits & 1023;
    const double size = exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
    const float value = ElementAsFloat(half, 0);
    if (exponent == 31) {
      EXPECT_EQ(std::isnan(value), fraction != 0);
      EXPECT_EQ(std::isinf(value), fraction == 0);
    } else {
      EXPECT_EQ(value, (bits & 0x8000 ? -size : size)) << bits;
    }
    EXPECT_EQ(std::signbit(value), (bits & 0x8000) != 0);
    const Tensor brain{reinterpret_cast<const std::byte*>(&bits), DType::kBF16, 1, 1};
    EXPECT_EQ(std::bit_cast<uint32_t>(ElementAsFloat(brain, 0)), uint32_t{bits} << 16);
  }
}

// Tests of the hash use a cache of their own.
class WeightsHash : public testing::Test {
 protected:
  void SetUp() override { setenv("FULLBAND_CACHE", cache_.path().c_str(), 1); }
  void TearDown() override { unsetenv("FULLBAND_CACHE"); }
  fs::path OnlyEntry() const {
    std::vector<fs::path> entries;
    for (const auto& entry : fs::directory_iterator(cache_.path() / "weights"))
      entries.push_back(entry.path());
    EXPECT_EQ(entries.size(), 1u);
    return entries.front();
  }
  std::string HashOf(const Model& model, int shards) {
    TempFolder folder;
    WriteCheckpoint(model, folder.path(), shards);
    return WeightsSha256(*LoadModel(folder.path()));
  }
  TempFolder cache_;
};

TEST_F(WeightsHash, DoesNotDependOnTheFiles) {
  const auto model = RandomModel(TinyLatentConfig(), DType::kBF16);
  const std::string hash = WeightsSha256(*model);
  EXPECT_EQ(hash.size(), 64u);
  EXPECT_EQ(HashOf(*model, 1), hash);
  EXPECT_EQ(HashOf(*model, 2), hash);
}

TEST_F(WeightsHash, ChangesWithEveryTensorDtypeAndShape) {
  const auto model = RandomModel(TinyConfig(), DType::kBF16);
  std::set<std::string> hashes = {WeightsSha256(*model)};
  // bf16 and f16 views of the same bytes differ in nothing but the dtype.
  Model other = *model;
  for (const TensorSlot& slot : TensorSlots(other.config, &other.weights)) slot.tensor->dtype = DType::kF16;
  EXPECT_TRUE(hashes.insert(WeightsSha256(other)).second);
  for (size_t i = 0; i < TensorSlots(model->config, &other.weights).size(); ++i) {
    Model changed = *model;
    const Tensor& tensor = *TensorSlots(changed.config, &changed.weights)[i].tensor;
    const std::byte* data = tensor.data;
    std::vector<std::byte> bytes(data, data + static_cast<size_t>(tensor.size()) * 2);
    bytes.back() ^= std::byte{1};
    TensorSlots(changed.config, &changed.weights)[i].tensor->data = bytes.data();
    EXPECT_TRUE(hashes.insert(WeightsSha256(changed)).second) << i;
  }
}

TEST_F(WeightsHash, IsCachedAndTheCacheIsChecked) {
  TempFolder folder;
  const auto model = RandomModel(TinyConfig());
  WriteCheckpoint(*model, folder.path());
  const auto read = LoadModel(folder.path());
  const std::string hash = WeightsSha256(*read);
  const fs::path entry = OnlyEntry();
  EXPECT_EQ(WeightsSha256(*read), hash);
  // A corrupt entry is written anew; so is one that belongs to another key.
  for (const std::string& text :
       {std::string(), std::string("deadbeef"), std::string(64, '0') + " " + hash + "\n"}) {
    WriteText(entry, text);
    EXPECT_EQ(WeightsSha256(*read), hash);
    EXPECT_GT(fs::file_size(entry), 64u);
  }
  EXPECT_EQ(OnlyEntry(), entry);  // nothing half-written is left
}

TEST_F(WeightsHash, IsReadFromTheCache) {
  TempFolder folder;
  WriteCheckpoint(*RandomModel(TinyConfig(), DType::kF32, 1), folder.path());
  const auto read = LoadModel(folder.path());
  const std::string hash = WeightsSha256(*read);
  // The same files with other bytes in memory: only the cache can still give the first hash.
  Model changed = *read;
  const auto other = RandomModel(TinyConfig(), DType::kF32, 2);
  changed.weights = other->weights;
  EXPECT_EQ(WeightsSha256(changed), hash);
  // Other files are another entry.
  WriteCheckpoint(*other, folder.path());
  EXPECT_EQ(WeightsSha256(*LoadModel(folder.path())), WeightsSha256(*other));
}

TEST_F(WeightsHash, NeedsNoCache) {
  setenv("FULLBAND_CACHE", "/dev/null/nowhere", 1);
  const auto model = RandomModel(TinyConfig());
  EXPECT_EQ(HashOf(*model, 1), WeightsSha256(*model));
}

}  // namespace
}  // namespace fullband
