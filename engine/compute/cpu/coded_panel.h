// Panels of bfloat16 weights in 12 bits a weight, without loss.
//
// The upper byte of a bfloat16 number is its sign and most of its exponent. Trained weights of a panel crowd
// into a few binades, so that a handful of the 256 upper bytes make up nearly all of them: the panel has a
// table of sixteen, and a weight is its lower byte and the number of its upper byte in the table. The few
// weights whose upper byte is not in the table are strays: they are zero here and kept apart.
//
// Four inputs of a panel, 128 weights, make a group of 192 bytes: 64 lower bytes of the first two inputs, 64
// of the last two, and 64 bytes of two codes each, at the place of the lower byte that each belongs to: the
// first two inputs' in the lower half of the byte, the last two's in the upper half. 16 bytes are four
// outputs j and the four outputs j + 16 of two inputs, so that a byte shuffle and interleaving give, in
// vectors of any width, the words of two outputs that bfloat16 panels consist of (packed_matrix.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fullband {

inline constexpr int64_t kCodedGroup = 4;         // inputs
inline constexpr int64_t kCodedGroupBytes = 192;  // of these inputs' weights in a panel
inline constexpr int64_t kCodes = 16;             // upper bytes a panel can tell apart

// Bytes that a panel takes; `inputs` is a multiple of kCodedGroup.
constexpr int64_t CodedPanelBytes(int64_t inputs) { return inputs / kCodedGroup * kCodedGroupBytes; }

// One weight that its panel's code has no room for.
struct StrayWeight {
  int32_t input = 0;
  int16_t output = 0;  // within the panel
  uint16_t bf16 = 0;
};

// The upper bytes that a panel's code tells apart, and how many of its weights are left over.
struct PanelCode {
  uint8_t upper[kCodes] = {};
  int64_t strays = 0;
};

// The best code for the bfloat16 weights of a panel, in any order.
PanelCode ChooseCode(std::span<const uint16_t> weights);

// Writes the panel `weights` [32][inputs] in `code` to `coded` [CodedPanelBytes(inputs)], and appends its
// strays by ascending input.
void EncodePanel(const uint16_t* weights, int64_t inputs, const PanelCode& code, uint8_t* coded,
                 std::vector<StrayWeight>& strays);

}  // namespace fullband
