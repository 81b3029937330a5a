// Zeroed memory for vectors and matrices.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace fullband {

// One mapping that many buffers are cut from: all of it can be large pages, which a buffer of its own has
// only in so far as it fills them. The system supplies its memory when it is first touched. Thread-safe.
class BufferBlock {
 public:
  // Throws Error where the system refuses.
  explicit BufferBlock(size_t size);
  ~BufferBlock();
  BufferBlock(const BufferBlock&) = delete;
  BufferBlock& operator=(const BufferBlock&) = delete;

  // Zero bytes at a 64-byte boundary; null where fewer are left. They are not taken back.
  std::byte* Take(size_t size);

  // While it lives, buffers that its thread makes are cut from the block as long as there is room, and keep
  // the block alive.
  class Use {
   public:
    explicit Use(std::shared_ptr<BufferBlock> block);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    std::shared_ptr<BufferBlock> before_;
  };

 private:
  std::byte* data_;
  size_t size_;
  std::atomic<size_t> taken_ = 0;
};

// Zero bytes at a 64-byte boundary. Large buffers are mapped, so that the system supplies their memory when
// it is first touched, and in large pages where it can. Throws Error where the system refuses.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  explicit ByteBuffer(size_t size);
  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Release {
    size_t mapped = 0;  // bytes; 0 where the memory is from the heap or a block
    std::shared_ptr<BufferBlock> block;
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte[], Release> data_{nullptr, Release{}};
  size_t size_ = 0;
};

template <class T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(int64_t count) : bytes_(count * sizeof(T)) {}
  T* data() const { return reinterpret_cast<T*>(bytes_.data()); }
  int64_t size() const { return bytes_.size() / sizeof(T); }
  T& operator[](int64_t i) const { return data()[i]; }

  // Room for `count` elements; what the buffer held is lost where it must grow.
  void Grow(int64_t count) {
    if (count > size()) *this = AlignedBuffer(count);
  }

 private:
  ByteBuffer bytes_;
};

}  // namespace fullband
