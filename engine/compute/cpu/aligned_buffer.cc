#include "engine/compute/cpu/aligned_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

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
    void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw OutOfMemory(size);
    madvise(data, size, MADV_HUGEPAGE);  // only a wish
    data_ = std::unique_ptr<std::byte[], Release>(static_cast<std::byte*>(data), Release{size});
  } else if (size > 0) {
    const size_t padded = (size + kAlignment - 1) / kAlignment * kAlignment;
    void* data = std::aligned_alloc(kAlignment, padded);
    if (data == nullptr) throw OutOfMemory(padded);
    std::memset(data, 0, padded);
    data_.reset(static_cast<std::byte*>(data));
  }
}

}  // namespace fullband
