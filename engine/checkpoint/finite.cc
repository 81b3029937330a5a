#include "engine/checkpoint/finite.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

namespace fullband {
namespace {

// A number is finite unless all bits of its exponent are set. Plain loops without an early exit, so that the
// compiler can use vectors.
template <typename Word, Word kExponent>
bool HasNonFinite(const std::byte* data, size_t count) {
  const Word* words = reinterpret_cast<const Word*>(data);
  Word found = 0;
  for (size_t i = 0; i < count; ++i) found |= static_cast<Word>((words[i] & kExponent) == kExponent);
  return found != 0;
}

bool HasNonFinite(DType dtype, const std::byte* data, size_t count) {
  switch (dtype) {
    case DType::kF32:
      return HasNonFinite<uint32_t, 0x7f800000u>(data, count);
    case DType::kF16:
      return HasNonFinite<uint16_t, 0x7c00>(data, count);
    case DType::kBF16:
      return HasNonFinite<uint16_t, 0x7f80>(data, count);
  }
  return true;
}

struct Piece {
  size_t tensor;
  const std::byte* data;
  size_t count;
};

std::vector<Piece> Cut(const std::vector<Tensor>& tensors) {
  constexpr size_t kPieceElements = size_t{1} << 20;
  std::vector<Piece> pieces;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const size_t total = static_cast<size_t>(tensors[i].size());
    for (size_t start = 0; start < total; start += kPieceElements)
      pieces.push_back({i, tensors[i].data + start * DTypeSize(tensors[i].dtype),
                        std::min(kPieceElements, total - start)});
  }
  return pieces;
}

}  // namespace

std::optional<size_t> FirstNonFinite(const std::vector<Tensor>& tensors) {
  const std::vector<Piece> pieces = Cut(tensors);
  std::atomic<size_t> next{0};
  std::atomic<size_t> first_bad{tensors.size()};
  const auto work = [&] {
    for (size_t i = next++; i < pieces.size(); i = next++) {
      const Piece& piece = pieces[i];
      if (piece.tensor >= first_bad || !HasNonFinite(tensors[piece.tensor].dtype, piece.data, piece.count))
        continue;
      size_t known = first_bad;
      while (piece.tensor < known && !first_bad.compare_exchange_weak(known, piece.tensor)) {
      }
    }
  };
  const size_t helpers = std::min<size_t>(std::max(1u, std::thread::hardware_concurrency()), pieces.size());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < helpers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (first_bad == tensors.size()) return std::nullopt;
  return first_bad.load();
}

}  // namespace fullband
