// The tensors of a checkpoint folder's .safetensors files, mapped into memory and checked.
// Format: an 8-byte little-endian header length, a JSON header, the tensors' bytes without gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/checkpoint/model.h"

namespace fullband {

// A tensor as the file has it. `data` is aligned to its element (copied out of the file where the file is
// not).
struct StoredTensor {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  const std::byte* data = nullptr;
  size_t bytes = 0;
  std::filesystem::path file;
};

struct Mapping;

struct TensorFiles {
  std::map<std::string, StoredTensor> tensors;  // by name, all files together
  std::shared_ptr<const Mapping> mapping;       // keeps the files mapped
};

// The files that hold a folder's weights: model.safetensors; else the shards that
// model.safetensors.index.json names, in name order; else the folder's only .safetensors file. Throws Error
// where there are none, or several without an index, or a shard is missing.
std::vector<std::filesystem::path> WeightFiles(const std::filesystem::path& folder);

// Maps the files and checks their structure. Throws Error naming file and tensor for: a truncated file, a
// header that is too long, not JSON, or not of the expected form, names stated twice, unknown dtypes, shapes
// that overflow or do not match the bytes, negative, overlapping or out-of-range offsets, bytes that belong
// to no tensor, a tensor in two shards, a tensor that the index and the shards disagree on. The values are
// not looked at.
TensorFiles MapTensorFiles(const std::filesystem::path& folder);

// Takes the pages that lie wholly within [data, data + bytes) of a mapped file out of the process's memory.
// They come back, as they were, when they are touched. Other memory is left alone.
void ReleasePages(const Mapping& mapping, const std::byte* data, size_t bytes);

}  // namespace fullband
