// Zeroed memory for vectors and matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace fullband {

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
    size_t mapped;  // bytes; 0 where the memory is from the heap
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte[], Release> data_{nullptr, Release{0}};
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
