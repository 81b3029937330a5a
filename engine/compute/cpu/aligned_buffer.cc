#include "engine/compute/cpu/aligned_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "common/error.h"

namespace fullband {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kLarge = size_t{2} << 20;  // a large page

Error OutOfMemory(size_t size) {
  return Error("memory", fmt::format("{} MiB are not to be had", size >> 20),
               "use a smaller --batch or a smaller model");
}

// Zeroed memory that begins at a large page, so that all of it but the end can be large pages. `size` is a
// multiple of a page.
std::byte* MapLarge(size_t size) {
  void* mapped = mmap(nullptr, size + kLarge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw OutOfMemory(size);
  std::byte* data = static_cast<std::byte*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(data) % kLarge;
  if (before > 0) munmap(data, before);
  munmap(data + before + size, kLarge - before);
  madvise(data + before, size, MADV_HUGEPAGE);  // only a wish
  return data + before;
}

}  // namespace

void ByteBuffer::Release::operator()(std::byte* data) const {
  if (mapped > 0) {
    munmap(data, mapped);
  } else {
    std::free(data);
  }
}

ByteBuffer::ByteBuffer(size_t size) : size_(size) {
  if (size >= kLarge) {
    const size_t page = sysconf(_SC_PAGESIZE), mapped = (size + page - 1) / page * page;
    data_ = std::unique_ptr<std::byte[], Release>(MapLarge(mapped), Release{mapped});
  } else if (size > 0) {
    const size_t padded = (size + kAlignment - 1) / kAlignment * kAlignment;
    void* data = std::aligned_alloc(kAlignment, padded);
    if (data == nullptr) throw OutOfMemory(padded);
    std::memset(data, 0, padded);
    data_.reset(static_cast<std::byte*>(data));
  }
}

}  // namespace fullband
