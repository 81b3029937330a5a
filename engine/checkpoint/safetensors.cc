#include "engine/checkpoint/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/error.h"
#include "engine/checkpoint/json_file.h"

namespace fullband {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little,
              "weights are used in place, in the files' byte order");

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // as the format's reference implementation has it
constexpr char kIndexName[] = "model.safetensors.index.json";
constexpr char kFetchAgain[] = "write or fetch the file again";

Error Fault(const fs::path& file, const std::string& why, const std::string& remedy = kFetchAgain) {
  return Error(file.string(), why, remedy);
}

Error TensorFault(const fs::path& file, const std::string& tensor, const std::string& why,
                  const std::string& remedy = kFetchAgain) {
  return Error(file.string() + ": " + Printable(tensor), why, remedy);
}

// A file in memory, read-only.
class MappedFile {
 public:
  explicit MappedFile(const fs::path& path) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (descriptor < 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
      const int reason = descriptor < 0 ? errno : 0;
      if (descriptor >= 0) close(descriptor);
      throw Fault(path,
                  reason ? fmt::format("cannot be read: {}", std::strerror(reason)) : "is not a regular file",
                  "check that the file exists and is readable");
    }
    size_ = static_cast<size_t>(status.st_size);
    if (size_ > 0) {
      void* address = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
      const int reason = errno;
      if (address != MAP_FAILED) data_ = static_cast<const std::byte*>(address);
      close(descriptor);
      if (!data_) throw Fault(path, fmt::format("cannot be mapped: {}", std::strerror(reason)), "");
    } else {
      close(descriptor);
    }
  }
  ~MappedFile() {
    if (data_) munmap(const_cast<std::byte*>(data_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace

// Everything that StoredTensor::data points into.
struct Mapping {
  std::vector<std::unique_ptr<MappedFile>> files;
  std::vector<std::unique_ptr<std::byte[]>> copies;  // of tensors that lie unaligned in their file
};

namespace {

DType ReadDType(const fs::path& file, const std::string& name, const json& entry) {
  const auto found = entry.find("dtype");
  if (found == entry.end() || !found->is_string()) throw TensorFault(file, name, "has no dtype");
  const std::string& dtype = found->get_ref<const std::string&>();
  if (dtype == "F32") return DType::kF32;
  if (dtype == "F16") return DType::kF16;
  if (dtype == "BF16") return DType::kBF16;
  throw TensorFault(file, name, fmt::format("has the dtype {}, which is not read", Printable(dtype)),
                    "store it as F32, F16 or BF16");
}

// The numbers of entry[key]: at most `kMaxDimensions`, none negative.
std::vector<int64_t> ReadNumbers(const fs::path& file, const std::string& name, const json& entry,
                                 const char* key) {
  constexpr size_t kMaxDimensions = 8;
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array() || found->size() > kMaxDimensions)
    throw TensorFault(file, name, fmt::format("has no valid {}", key));
  std::vector<int64_t> numbers;
  for (const json& value : *found) {
    if (!value.is_number_integer())
      throw TensorFault(file, name, fmt::format("{} is not a list of integers", key));
    const bool too_large = value.is_number_unsigned() &&
                           value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (too_large)
      throw TensorFault(file, name, fmt::format("{} holds the huge number {}", key, value.dump()));
    const int64_t number = value.get<int64_t>();
    if (number < 0)
      throw TensorFault(file, name, fmt::format("{} holds the negative number {}", key, number));
    numbers.push_back(number);
  }
  return numbers;
}

size_t BytesOfShape(const fs::path& file, const std::string& name, const StoredTensor& tensor) {
  int64_t bytes = static_cast<int64_t>(DTypeSize(tensor.dtype));
  for (const int64_t extent : tensor.shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      throw TensorFault(file, name, fmt::format("the shape [{}] overflows", fmt::join(tensor.shape, ", ")));
  return static_cast<size_t>(bytes);
}

// Where a tensor's bytes lie behind the header.
struct Extent {
  size_t begin, end;
  const std::string* name;
};

StoredTensor ReadEntry(const fs::path& file, const std::string& name, const json& entry, size_t data_bytes,
                       Extent* extent) {
  if (!entry.is_object()) throw TensorFault(file, name, "its header entry is not an object");
  StoredTensor tensor;
  tensor.dtype = ReadDType(file, name, entry);
  tensor.shape = ReadNumbers(file, name, entry, "shape");
  const std::vector<int64_t> offsets = ReadNumbers(file, name, entry, "data_offsets");
  if (offsets.size() != 2) throw TensorFault(file, name, "data_offsets is not a pair");
  *extent = {static_cast<size_t>(offsets[0]), static_cast<size_t>(offsets[1]), &name};
  if (extent->begin > extent->end)
    throw TensorFault(file, name,
                      fmt::format("data_offsets run backwards: [{}, {}]", offsets[0], offsets[1]));
  if (extent->end > data_bytes)
    throw TensorFault(file, name,
                      fmt::format("data_offsets end at byte {}, the file has {}: truncated or wrong",
                                  extent->end, data_bytes));
  tensor.bytes = BytesOfShape(file, name, tensor);
  if (tensor.bytes != extent->end - extent->begin)
    throw TensorFault(file, name,
                      fmt::format("the shape [{}] takes {} bytes, data_offsets give {}",
                                  fmt::join(tensor.shape, ", "), tensor.bytes, extent->end - extent->begin));
  tensor.file = file;
  return tensor;
}

// Tensors must cover the data exactly: an overlap or a gap shows that offsets are wrong.
void CheckCoverage(const fs::path& file, std::vector<Extent> extents, size_t data_bytes) {
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  size_t covered = 0;
  for (const Extent& extent : extents) {
    if (extent.begin < covered)
      throw TensorFault(file, *extent.name,
                        fmt::format("data_offsets overlap another tensor at byte {}", extent.begin));
    if (extent.begin > covered)
      throw TensorFault(
          file, *extent.name,
          fmt::format("data_offsets leave a gap: bytes {} to {} belong to no tensor", covered, extent.begin));
    covered = extent.end;
  }
  if (covered != data_bytes)
    throw Fault(file,
                fmt::format("{} bytes behind the last tensor belong to no tensor", data_bytes - covered));
}

std::string_view HeaderText(const fs::path& file, const MappedFile& mapped) {
  if (mapped.size() < kLengthBytes) throw Fault(file, fmt::format("is truncated: {} bytes", mapped.size()));
  uint64_t length = 0;
  std::memcpy(&length, mapped.data(), kLengthBytes);
  if (length > kMaxHeaderBytes)
    throw Fault(file, fmt::format("states a header of {} bytes: not safetensors", length));
  if (length > mapped.size() - kLengthBytes)
    throw Fault(file,
                fmt::format("is truncated: the header has {} bytes, the file {}", length, mapped.size()));
  if (length < 2) throw Fault(file, "has an empty header");
  return {reinterpret_cast<const char*>(mapped.data()) + kLengthBytes, static_cast<size_t>(length)};
}

void CheckMetadata(const fs::path& file, const json& metadata) {
  const bool strings =
      metadata.is_object() &&
      std::all_of(metadata.begin(), metadata.end(), [](const json& value) { return value.is_string(); });
  if (!strings) throw TensorFault(file, "__metadata__", "is not an object of strings");
}

// Sets tensor->data, copying where the file does not align the tensor to its element.
void Place(const std::byte* data, StoredTensor* tensor, Mapping* mapping) {
  tensor->data = data;
  if (reinterpret_cast<uintptr_t>(data) % DTypeSize(tensor->dtype) == 0) return;
  mapping->copies.push_back(std::make_unique<std::byte[]>(tensor->bytes));
  std::memcpy(mapping->copies.back().get(), data, tensor->bytes);
  tensor->data = mapping->copies.back().get();
}

void AddFile(const fs::path& file, TensorFiles* all, Mapping* mapping) {
  mapping->files.push_back(std::make_unique<MappedFile>(file));
  const MappedFile& mapped = *mapping->files.back();
  const std::string_view text = HeaderText(file, mapped);
  const json header = ParseJsonObject(text, file.string() + ": header");
  const size_t data_start = kLengthBytes + text.size();
  const size_t data_bytes = mapped.size() - data_start;
  std::vector<Extent> extents;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      CheckMetadata(file, entry);
      continue;
    }
    // items() hands out a temporary name; the map's key outlives it.
    const auto [place, is_new] = all->tensors.try_emplace(name);
    if (!is_new)
      throw TensorFault(file, name, fmt::format("is also in {}", place->second.file.filename().string()),
                        "keep it in one shard");
    Extent extent{};
    place->second = ReadEntry(file, place->first, entry, data_bytes, &extent);
    Place(mapped.data() + data_start + extent.begin, &place->second, mapping);
    extents.push_back(extent);
  }
  CheckCoverage(file, std::move(extents), data_bytes);
}

// Tensor name -> shard name, as the index states it.
std::map<std::string, std::string> ReadIndex(const fs::path& index) {
  const json content = ReadJsonFile(index);
  const auto found = content.find("weight_map");
  if (found == content.end() || !found->is_object() || found->empty())
    throw TensorFault(index, "weight_map", "is missing or not an object");
  std::map<std::string, std::string> shards;
  for (const auto& [name, shard] : found->items()) {
    if (!shard.is_string()) throw TensorFault(index, name, "its shard is not a string");
    const std::string& file = shard.get_ref<const std::string&>();
    if (file.empty() || fs::path(file).filename() != file || file == "." || file == "..")
      throw TensorFault(index, name,
                        fmt::format("its shard {} is not a file of this folder", Printable(file)));
    shards[name] = file;
  }
  return shards;
}

void CheckAgainstIndex(const fs::path& index, const TensorFiles& all) {
  const std::map<std::string, std::string> shards = ReadIndex(index);
  for (const auto& [name, shard] : shards) {
    const auto found = all.tensors.find(name);
    if (found == all.tensors.end())
      throw TensorFault(index, name, fmt::format("is not in {}, where the index has it", shard));
    if (found->second.file.filename() != shard)
      throw TensorFault(
          index, name,
          fmt::format("is in {}, the index says {}", found->second.file.filename().string(), shard));
  }
  for (const auto& [name, tensor] : all.tensors)
    if (!shards.contains(name))
      throw TensorFault(tensor.file, name, fmt::format("is not listed in {}", kIndexName),
                        "write the index again");
}

bool UsesIndex(const fs::path& folder) {
  return !fs::exists(folder / "model.safetensors") && fs::exists(folder / kIndexName);
}

}  // namespace

std::vector<fs::path> WeightFiles(const fs::path& folder) {
  std::vector<fs::path> files;
  if (UsesIndex(folder)) {
    std::map<std::string, std::string> tensor_of_shard;
    for (const auto& [name, shard] : ReadIndex(folder / kIndexName)) tensor_of_shard.emplace(shard, name);
    for (const auto& [shard, name] : tensor_of_shard) {
      if (!fs::exists(folder / shard))
        throw TensorFault(folder / shard, name,
                          fmt::format("the shard is missing, but {} names it", kIndexName),
                          "fetch the missing file");
      files.push_back(folder / shard);
    }
    return files;
  }
  if (fs::exists(folder / "model.safetensors")) return {folder / "model.safetensors"};
  std::error_code unreadable;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, unreadable))
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  if (files.empty())
    throw Fault(folder / "model.safetensors", "is missing", "convert the weights to safetensors first");
  if (files.size() > 1)
    throw Fault(folder / kIndexName,
                fmt::format("is missing, and the folder has {} .safetensors files", files.size()),
                "fetch the index");
  return files;
}

TensorFiles MapTensorFiles(const fs::path& folder) {
  TensorFiles all;
  auto mapping = std::make_shared<Mapping>();
  for (const fs::path& file : WeightFiles(folder)) AddFile(file, &all, mapping.get());
  if (UsesIndex(folder)) CheckAgainstIndex(folder / kIndexName, all);
  all.mapping = std::move(mapping);
  return all;
}

void ReleasePages(const Mapping& mapping, const std::byte* data, size_t bytes) {
  for (const auto& file : mapping.files) {
    if (data < file->data() || data + bytes > file->data() + file->size()) continue;
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t skipped = -reinterpret_cast<uintptr_t>(data) % page;
    if (skipped + page > bytes) return;
    std::byte* first = const_cast<std::byte*>(data) + skipped;
    madvise(first, (bytes - skipped) / page * page, MADV_DONTNEED);  // private and never written: the file's
    return;
  }
}

}  // namespace fullband
