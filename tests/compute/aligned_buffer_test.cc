// Memory for vectors and matrices: zeroed, aligned, apart, and there as long as a buffer is.
#include "engine/compute/cpu/aligned_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace fullband {
namespace {

bool InOrder(const void* a, const void* b) {
  return reinterpret_cast<uintptr_t>(a) < reinterpret_cast<uintptr_t>(b);
}

bool Aligned(const void* data) { return reinterpret_cast<uintptr_t>(data) % 64 == 0; }

// Fills the buffer, which must be zero, with a number of its own.
void Claim(const AlignedBuffer<int32_t>& buffer, int32_t number) {
  ASSERT_TRUE(Aligned(buffer.data()));
  for (int64_t i = 0; i < buffer.size(); ++i) {
    ASSERT_EQ(buffer[i], 0);
    buffer[i] = number;
  }
}

bool Holds(const AlignedBuffer<int32_t>& buffer, int32_t number) {
  for (int64_t i = 0; i < buffer.size(); ++i)
    if (buffer[i] != number) return false;
  return true;
}

TEST(AlignedBuffer, IsZeroAndAligned) {
  for (const int64_t count : {0, 1, 15, 17, 1000, 600'000}) {
    const AlignedBuffer<int32_t> buffer(count);
    EXPECT_EQ(buffer.size(), count);
    Claim(buffer, 1);
  }
}

TEST(BufferBlock, HoldsBuffersThatAreMadeWhileItIsInUse) {
  const auto block = std::make_shared<BufferBlock>(1 << 20);
  std::vector<AlignedBuffer<int32_t>> buffers;
  {
    const BufferBlock::Use use(block);
    for (const int64_t count : {1, 17, 1000}) buffers.emplace_back(count);
  }
  EXPECT_EQ(block.use_count(), 4);  // each buffer keeps it
  buffers.emplace_back(1000);
  EXPECT_EQ(block.use_count(), 4);
  for (size_t i = 0; i < buffers.size(); ++i) Claim(buffers[i], static_cast<int32_t>(i + 1));
  for (size_t i = 0; i < buffers.size(); ++i)
    EXPECT_TRUE(Holds(buffers[i], static_cast<int32_t>(i + 1))) << i;
  EXPECT_TRUE(InOrder(buffers[0].data(), buffers[1].data()) && InOrder(buffers[1].data(), buffers[2].data()));
}

TEST(BufferBlock, LivesAsLongAsABufferDoes) {
  AlignedBuffer<int32_t> kept;
  std::weak_ptr<BufferBlock> seen;
  {
    const auto block = std::make_shared<BufferBlock>(3 << 20);
    seen = block;
    const BufferBlock::Use use(block);
    kept = AlignedBuffer<int32_t>(600'000);
  }
  ASSERT_FALSE(seen.expired());
  Claim(kept, 7);
  kept = {};
  EXPECT_TRUE(seen.expired());
}

TEST(BufferBlock, GivesWayWhereItIsFull) {
  const auto block = std::make_shared<BufferBlock>(4096);
  const BufferBlock::Use use(block);
  const AlignedBuffer<int32_t> first(1000), too_large(1000), last(16);
  EXPECT_EQ(block.use_count(), 4);  // here, in use, and for `first` and `last`
  Claim(first, 1);
  Claim(too_large, 2);
  Claim(last, 3);
  EXPECT_TRUE(Holds(first, 1) && Holds(too_large, 2) && Holds(last, 3));
  EXPECT_EQ(block->Take(64), nullptr);
}

TEST(BufferBlock, IsOfOneThreadsUseAndOfAllThreadsMemory) {
  constexpr int kThreads = 4, kEach = 100;
  const auto block = std::make_shared<BufferBlock>(kThreads * kEach * 256);
  const BufferBlock::Use use(block);
  std::vector<std::vector<AlignedBuffer<int32_t>>> buffers(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const AlignedBuffer<int32_t> own(1);  // not in use by this thread yet
      const BufferBlock::Use its(block);
      for (int i = 0; i < kEach; ++i) Claim(buffers[t].emplace_back(50), t * kEach + i + 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(block->Take(1), nullptr);  // all of it is taken, by those buffers alone
  for (int t = 0; t < kThreads; ++t)
    for (int i = 0; i < kEach; ++i) EXPECT_TRUE(Holds(buffers[t][i], t * kEach + i + 1)) << t << " " << i;
}

}  // namespace
}  // namespace fullband
