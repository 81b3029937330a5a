#include "engine/compute/cpu/aligned_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "common/error.h"

namespace fullband {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kLarge = size_t{2} << 20;  // a large page

Error OutOfMemory(size_t size) {
  return Error("memory", fmt::format("{} MiB are not to be had", size >> 20),
               "use a smaller --batch or a smaller model");
}

size_t UpTo(size_t unit, size_t size) { return (size + unit - 1) / unit * unit; }

size_t WholePages(size_t size) { return UpTo(sysconf(_SC_PAGESIZE), size); }

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

thread_local std::shared_ptr<BufferBlock> block_in_use;

}  // namespace

BufferBlock::BufferBlock(size_t size) : data_(MapLarge(WholePages(size))), size_(WholePages(size)) {}

BufferBlock::~BufferBlock() { munmap(data_, size_); }

std::byte* BufferBlock::Take(size_t size) {
  const size_t padded = UpTo(kAlignment, size);
  size_t begin = taken_;
  do {
    if (padded > size_ - begin) return nullptr;
  } while (!taken_.compare_exchange_weak(begin, begin + padded));
  return data_ + begin;
}

BufferBlock::Use::Use(std::shared_ptr<BufferBlock> block)
    : before_(std::exchange(block_in_use, std::move(block))) {}

BufferBlock::Use::~Use() { block_in_use = std::move(before_); }

void ByteBuffer::Release::operator()(std::byte* data) const {
  if (block != nullptr) return;
  if (mapped > 0) {
    munmap(data, mapped);
  } else {
    std::free(data);
  }
}

ByteBuffer::ByteBuffer(size_t size) : size_(size) {
  if (size == 0) return;
  if (block_in_use != nullptr) {
    std::byte* part = block_in_use->Take(size);
    if (part != nullptr) {
      data_ = std::unique_ptr<std::byte[], Release>(part, Release{0, block_in_use});
      return;
    }
  }
  if (size >= kLarge) {
    const size_t mapped = WholePages(size);
    data_ = std::unique_ptr<std::byte[], Release>(MapLarge(mapped), Release{mapped, nullptr});
  } else {
    const size_t padded = UpTo(kAlignment, size);
    void* data = std::aligned_alloc(kAlignment, padded);
    if (data == nullptr) throw OutOfMemory(padded);
    std::memset(data, 0, padded);
    data_.reset(static_cast<std::byte*>(data));
  }
}

}  // namespace fullband
