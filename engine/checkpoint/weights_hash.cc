// The identity of a model's weights, and its cache.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "common/hash.h"
#include "common/paths.h"
#include "engine/checkpoint/layout.h"
#include "engine/checkpoint/model.h"
#include "engine/checkpoint/safetensors.h"

namespace fullband {
namespace {

namespace fs = std::filesystem;

struct NamedTensor {
  std::string
      heading;  // name, dtype and shape, ended by a newline, so that no two models give the same bytes
  Tensor tensor;
};

std::vector<NamedTensor> NamedTensors(const Model& model) {
  Weights places = model.weights;
  std::vector<NamedTensor> tensors;
  for (const TensorSlot& slot : TensorSlots(model.config, &places))
    tensors.push_back(
        {fmt::format("{} {} {}\n", slot.name, DTypeName(slot.tensor->dtype), fmt::join(slot.shape, "x")),
         *slot.tensor});
  return tensors;
}

std::string HashTensors(const Model& model, const std::vector<NamedTensor>& tensors) {
  Sha256 hash;
  for (const NamedTensor& named : tensors) {
    hash.Update(named.heading);
    hash.Update(named.tensor.data, static_cast<size_t>(named.tensor.size()) * DTypeSize(named.tensor.dtype));
    if (model.release) model.release(named.tensor);
  }
  return hash.HexDigest();
}

// Changes whenever a file of the weights may have; empty where the model has no files.
std::string CacheKey(const Model& model, const std::vector<NamedTensor>& tensors) {
  if (model.folder.empty() || !model.mapping) return "";
  nlohmann::json key = {{"version", 1}, {"files", nlohmann::json::array()}};
  std::string headings;
  for (const NamedTensor& named : tensors) headings += named.heading;
  key["tensors"] = Sha256Hex(headings);
  for (const fs::path& file : WeightFiles(model.folder)) {
    struct stat status {};
    if (stat(file.c_str(), &status) != 0) return "";
    // The change time and the inode catch what restores a modification time.
    key["files"].push_back({fs::absolute(file).lexically_normal().string(), status.st_size, status.st_ino,
                            status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                            status.st_ctim.tv_nsec});
  }
  return Sha256HexOfJson(key);
}

// An entry proves itself: "<digest> <SHA-256 of key and digest>\n".
std::string EntryText(const std::string& key, const std::string& digest) {
  return digest + " " + Sha256Hex(key + digest) + "\n";
}

std::string ReadEntry(const fs::path& file, const std::string& key) {
  constexpr size_t kDigestDigits = 64;
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  const std::string digest = text.str().substr(0, kDigestDigits);
  return text.str() == EntryText(key, digest) ? digest : "";
}

// Written apart and renamed, so that a reader never sees half an entry. A cache that cannot be written is no
// fault.
void WriteEntry(const fs::path& file, const std::string& text) {
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  const fs::path part = file.string() + fmt::format(".{}.part", getpid());
  std::ofstream out(part, std::ios::binary);
  out << text;
  out.close();
  if (out)
    fs::rename(part, file, failed);
  else
    fs::remove(part, failed);
}

}  // namespace

std::string WeightsSha256(const Model& model) {
  const std::vector<NamedTensor> tensors = NamedTensors(model);
  const std::string key = CacheKey(model, tensors);
  if (key.empty()) return HashTensors(model, tensors);
  const fs::path entry = CacheFolder() / "weights" / key;
  if (std::string digest = ReadEntry(entry, key); !digest.empty()) return digest;
  const std::string digest = HashTensors(model, tensors);
  WriteEntry(entry, EntryText(key, digest));
  return digest;
}

}  // namespace fullband
