// Damaged weights: each row spoils one thing of a good checkpoint and is refused by file and tensor.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <limits>

#include "tests/checkpoint/expect_error.h"
#include "tests/support/checkpoint_files.h"
#include "tests/support/random_model.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using nlohmann::json;

constexpr char kQ[] = "model.layers.0.self_attn.q_proj.weight";
constexpr char kUp[] = "model.layers.1.mlp.up_proj.weight";
constexpr char kFile[] = "model.safetensors";

struct Files {
  std::filesystem::path folder;
  SafetensorsParts parts;
};

struct Case {
  const char* name;
  std::function<void(Files&)> spoil;  // leaves the folder as the loader will find it
  std::vector<std::string> expected;  // of the message
};

void Write(const Files& files) {
  WriteText(files.folder / kFile, SafetensorsBytes(files.parts.header.dump(), files.parts.data));
}

// A row that changes the header or the data and writes the file in good form.
std::function<void(Files&)> Parts(std::function<void(SafetensorsParts&)> change) {
  return [change](Files& files) {
    change(files.parts);
    Write(files);
  };
}

std::function<void(Files&)> Entry(const char* key, json value) {
  return Parts([=](SafetensorsParts& parts) { parts.header[kQ][key] = value; });
}

std::function<void(Files&)> Bytes(std::function<std::string(const Files&)> bytes) {
  return [bytes](Files& files) { WriteText(files.folder / kFile, bytes(files)); };
}

std::string LengthAnd(uint64_t length, const std::string& rest) {
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + rest;
}

template <typename Number>
std::function<void(Files&)> Plant(const char* tensor, Number number) {
  return Parts([=](SafetensorsParts& parts) {
    const size_t end = parts.header[tensor]["data_offsets"][1];
    std::memcpy(parts.data.data() + end - sizeof number, &number, sizeof number);
  });
}

// Rewrites the checkpoint in two shards, then changes what `change` is given: the index and the folder.
std::function<void(Files&)> Shards(std::function<void(json&, const std::filesystem::path&)> change) {
  return [change](Files& files) {
    WriteCheckpoint(*RandomModel(TinyLatentConfig()), files.folder, 2);
    const std::filesystem::path path = files.folder / "model.safetensors.index.json";
    std::ifstream in(path);
    json index = json::parse(in);
    change(index, files.folder);
    WriteText(path, index.dump());
  };
}

constexpr char kIndex[] = "model.safetensors.index.json";
constexpr char kShard1[] = "model-00001-of-00002.safetensors";
constexpr char kShard2[] = "model-00002-of-00002.safetensors";

const std::vector<Case>& Cases() {
  static const std::vector<Case> kCases = {
      // The file as a whole.
      {"empty_file", Bytes([](const Files&) { return ""; }), {kFile, "truncated"}},
      {"seven_bytes", Bytes([](const Files&) { return "1234567"; }), {kFile, "truncated"}},
      {"zero_header", Bytes([](const Files& f) { return LengthAnd(0, f.parts.data); }), {kFile, "header"}},
      {"header_beyond_file",
       Bytes([](const Files&) { return LengthAnd(5000, "{}"); }),
       {kFile, "truncated", "5000"}},
      {"huge_header", Bytes([](const Files&) { return LengthAnd(~uint64_t{0}, "{}"); }), {kFile, "header"}},
      {"header_not_json",
       Bytes([](const Files& f) { return SafetensorsBytes("{\"a\": ", f.parts.data); }),
       {kFile, "header", "JSON"}},
      {"header_not_utf8",
       Bytes([](const Files&) { return SafetensorsBytes("{\"\xff\": 1}", ""); }),
       {kFile, "header", "JSON"}},
      {"header_list",
       Bytes([](const Files& f) { return SafetensorsBytes("[1, 2]", f.parts.data); }),
       {kFile, "header", "object"}},
      {"deep_header",
       Bytes([](const Files&) { return SafetensorsBytes(std::string(200000, '['), ""); }),
       {kFile, "header", "JSON"}},
      {"key_twice",
       Bytes([](const Files& f) {
         std::string text = f.parts.header.dump();
         text.back() = ',';
         return SafetensorsBytes(text + '"' + kQ + "\":" + f.parts.header[kQ].dump() + "}", f.parts.data);
       }),
       {kFile, kQ, "twice"}},
      {"truncated_data",
       Bytes([](const Files& f) {
         return SafetensorsBytes(f.parts.header.dump(), f.parts.data.substr(0, f.parts.data.size() - 4));
       }),
       {kFile, "model.norm.weight", "truncated"}},
      {"bytes_behind",
       Parts([](SafetensorsParts& p) { p.data += "1234"; }),
       {kFile, "behind the last tensor"}},
      {"metadata_not_strings",
       Parts([](SafetensorsParts& p) {
         p.header["__metadata__"] = {{"a", 1}};
       }),
       {kFile, "__metadata__"}},
      {"a_folder",
       [](Files& f) { std::filesystem::create_directory(f.folder / kFile); },
       {kFile, "regular file"}},
      {"no_weights", [](Files&) {}, {kFile, "missing"}},
      // One entry of the header.
      {"entry_not_object", Parts([](SafetensorsParts& p) { p.header[kQ] = 3; }), {kFile, kQ}},
      {"no_dtype", Parts([](SafetensorsParts& p) { p.header[kQ].erase("dtype"); }), {kFile, kQ, "dtype"}},
      {"unknown_dtype", Entry("dtype", "F8_E4M3"), {kFile, kQ, "F8_E4M3"}},
      {"no_shape", Parts([](SafetensorsParts& p) { p.header[kQ].erase("shape"); }), {kFile, kQ, "shape"}},
      {"shape_of_words", Entry("shape", {"24", "24"}), {kFile, kQ, "shape"}},
      {"negative_shape", Entry("shape", {-24, -24}), {kFile, kQ, "shape", "negative"}},
      {"fractional_shape", Entry("shape", {24.0, 24.0}), {kFile, kQ, "shape"}},
      {"overflowing_shape", Entry("shape", {int64_t{1} << 40, int64_t{1} << 40}), {kFile, kQ, "overflows"}},
      {"wrapping_shape", Entry("shape", {int64_t{1} << 62, 16}), {kFile, kQ, "overflows"}},
      {"huge_extent", Entry("shape", {std::numeric_limits<uint64_t>::max(), 1}), {kFile, kQ, "huge"}},
      {"shape_not_bytes", Entry("shape", {24, 23}), {kFile, kQ, "2208 bytes"}},
      {"dtype_not_bytes", Entry("dtype", "F16"), {kFile, kQ, "bytes"}},
      {"offsets_missing",
       Parts([](SafetensorsParts& p) { p.header[kQ].erase("data_offsets"); }),
       {kFile, kQ, "data_offsets"}},
      {"one_offset", Entry("data_offsets", {0}), {kFile, kQ, "data_offsets"}},
      {"negative_offset", Entry("data_offsets", {-2304, 0}), {kFile, kQ, "negative"}},
      {"backward_offsets", Entry("data_offsets", {2304, 0}), {kFile, kQ, "backwards"}},
      {"offset_beyond_file", Entry("data_offsets", {1 << 30, (1 << 30) + 2304}), {kFile, kQ, "data_offsets"}},
      {"huge_offset",
       Entry("data_offsets",
             {std::numeric_limits<uint64_t>::max() - 2303, std::numeric_limits<uint64_t>::max()}),
       {kFile, kQ, "huge"}},
      {"overlap",
       Parts([](SafetensorsParts& p) {
         p.header[kUp]["data_offsets"] = p.header["model.layers.1.mlp.gate_proj.weight"]["data_offsets"];
       }),
       {kFile, "model.layers.1.mlp.", "overlap"}},
      {"gap",
       Parts([](SafetensorsParts& p) {
         p.data.insert(0, "12345678");
         for (json& entry : p.header)
           for (json& offset : entry["data_offsets"]) offset = offset.get<int64_t>() + 8;
       }),
       {kFile, "gap"}},
      // The tensors as a model's.
      {"missing_tensor",
       Parts([](SafetensorsParts& p) {
         p.header["model.norm.weigh"] = p.header["model.norm.weight"];
         p.header.erase("model.norm.weight");
       }),
       {kFile, "model.norm.weight", "missing"}},
      {"unknown_tensor",
       Parts([](SafetensorsParts& p) {
         p.header["model.layers.9.mlp.up_proj.weight"] = {
             {"dtype", "F32"}, {"shape", {0}}, {"data_offsets", {p.data.size(), p.data.size()}}};
       }),
       {kFile, "model.layers.9.mlp.up_proj.weight", "LlamaForCausalLM"}},
      {"unasked_bias",
       Parts([](SafetensorsParts& p) {
         p.header["model.layers.0.self_attn.q_proj.bias"] = {
             {"dtype", "F32"}, {"shape", {1}}, {"data_offsets", {p.data.size(), p.data.size() + 4}}};
         p.data += std::string(4, '\0');
       }),
       {kFile, "model.layers.0.self_attn.q_proj.bias"}},
      {"transposed",
       Parts([](SafetensorsParts& p) {
         p.header[kUp]["shape"] = {24, 40};
       }),
       {kFile, kUp, "[24, 40]", "[40, 24]"}},
      {"flat", Parts([](SafetensorsParts& p) { p.header[kUp]["shape"] = {960}; }), {kFile, kUp, "[960]"}},
      {"nan", Plant(kUp, std::numeric_limits<float>::quiet_NaN()), {kFile, kUp, "nan", "row 39, column 23"}},
      {"infinity",
       Plant("model.norm.weight", -std::numeric_limits<float>::infinity()),
       {kFile, "model.norm.weight", "inf", "row 23"}},
      {"latent_missing",
       Parts([](SafetensorsParts& p) {
         p.header["model.x"] = p.header["latent_feedback.token_gate.weight"];
         p.header.erase("latent_feedback.token_gate.weight");
       }),
       {kFile, "latent_feedback.token_gate.weight", "missing", "latent_feedback"}},
      // Shards.
      {"index_without_map",
       Shards([](json& index, auto&) { index.erase("weight_map"); }),
       {kIndex, "weight_map"}},
      {"index_escapes",
       Shards([](json& index, auto&) { index["weight_map"][kQ] = "../other.safetensors"; }),
       {kIndex, kQ, "../other.safetensors"}},
      {"index_number", Shards([](json& index, auto&) { index["weight_map"][kQ] = 1; }), {kIndex, kQ}},
      {"missing_shard",
       Shards([](json&, auto& folder) { std::filesystem::remove(folder / kShard2); }),
       {kShard2, "missing"}},
      {"index_names_more",
       Shards([](json& index, auto&) { index["weight_map"]["model.more"] = kShard1; }),
       {kIndex, "model.more", kShard1}},
      {"index_names_less",
       Shards([](json& index, auto&) { index["weight_map"].erase(kQ); }),
       {"-of-00002", kQ, "index"}},
      {"index_wrong_shard",
       Shards([](json& index, auto&) {
         index["weight_map"][kQ] = index["weight_map"][kQ] == kShard1 ? kShard2 : kShard1;
       }),
       {kIndex, kQ, "the index says"}},
      {"in_two_shards",
       Shards([](json&, auto& folder) {
         std::filesystem::copy_file(folder / kShard1, folder / kShard2,
                                    std::filesystem::copy_options::overwrite_existing);
       }),
       {kShard2, "is also in", kShard1}},
      {"shards_without_index",
       [](Files& f) {
         WriteCheckpoint(*RandomModel(TinyLatentConfig()), f.folder, 2);
         std::filesystem::remove(f.folder / kIndex);
       },
       {kIndex, "missing", "2 .safetensors"}},
  };
  return kCases;
}

class BrokenWeights : public testing::TestWithParam<Case> {};

TEST_P(BrokenWeights, IsRefusedByName) {
  TempFolder folder;
  const auto model = RandomModel(TinyLatentConfig());
  WriteText(folder.path() / "config.json", ConfigJson(model->config).dump());
  Files files{folder.path(), AllTensors(*model)};
  GetParam().spoil(files);
  ExpectRefused(folder.path(), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Table, BrokenWeights, testing::ValuesIn(Cases()),
                         [](const auto& info) { return std::string(info.param.name); });

// What the rows start from is good: a refusal is due to what the row changed.
TEST(BrokenWeightsBase, IsAccepted) {
  TempFolder folder;
  const auto model = RandomModel(TinyLatentConfig());
  WriteText(folder.path() / "config.json", ConfigJson(model->config).dump());
  Write({folder.path(), AllTensors(*model)});
  EXPECT_NO_THROW(LoadModel(folder.path()));
  Files files{folder.path(), AllTensors(*model)};
  std::filesystem::remove(folder.path() / kFile);
  Shards([](json&, auto&) {})(files);
  EXPECT_NO_THROW(LoadModel(folder.path()));
}

TEST(NonFinite, IsFoundInEveryDType) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    for (const uint16_t bits :
         {uint16_t{0xffff}, dtype == DType::kF16 ? uint16_t{0x7c00} : uint16_t{0x7f80}}) {
      TempFolder folder;
      const auto model = RandomModel(TinyLatentConfig(), dtype);
      WriteText(folder.path() / "config.json", ConfigJson(model->config).dump());
      Files files{folder.path(), AllTensors(*model)};
      Plant(kUp, bits)(files);
      ExpectRefused(folder.path(), {kFile, kUp});
    }
  }
}

}  // namespace
}  // namespace fullband
