#include "engine/compute/cpu/coded_panel.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "engine/compute/cpu/packed_matrix.h"

namespace fullband {
namespace {

static_assert(kPanel == 32 && kHalfPanel == 16, "the order within a group is made for this");

// How often each upper byte occurs. Several counters, since equal bytes often follow each other.
std::array<int64_t, 256> CountUpperBytes(std::span<const uint16_t> weights) {
  std::array<std::array<uint32_t, 256>, 4> counts{};
  size_t i = 0;
  for (; i + 4 <= weights.size(); i += 4) {
    for (size_t c = 0; c < 4; ++c) ++counts[c][weights[i + c] >> 8];
  }
  for (; i < weights.size(); ++i) ++counts[0][weights[i] >> 8];
  std::array<int64_t, 256> sums{};
  for (size_t upper = 0; upper < sums.size(); ++upper) {
    for (const auto& some : counts) sums[upper] += some[upper];
  }
  return sums;
}

}  // namespace

PanelCode ChooseCode(std::span<const uint16_t> weights) {
  const std::array<int64_t, 256> counts = CountUpperBytes(weights);
  std::array<uint8_t, 256> order;
  std::iota(order.begin(), order.end(), uint8_t{0});
  std::stable_sort(order.begin(), order.end(), [&](uint8_t a, uint8_t b) { return counts[a] > counts[b]; });
  PanelCode code;
  std::copy_n(order.begin(), kCodes, code.upper);
  // Strays are zero in the code, whose upper byte must then be in the table.
  const bool all = counts[order[kCodes]] == 0;
  if (!all && std::find(code.upper, code.upper + kCodes, 0) == code.upper + kCodes)
    code.upper[kCodes - 1] = 0;
  code.strays = static_cast<int64_t>(weights.size());
  for (const uint8_t upper : code.upper) code.strays -= counts[upper];
  return code;
}

void EncodePanel(const uint16_t* weights, int64_t inputs, const PanelCode& code, uint8_t* coded,
                 std::vector<StrayWeight>& strays) {
  constexpr uint8_t kStray = 0xff;
  std::array<uint8_t, 256> codes;
  codes.fill(kStray);
  uint8_t zero = 0;
  for (uint8_t c = 0; c < kCodes; ++c) {
    codes[code.upper[c]] = c;
    if (code.upper[c] == 0) zero = c;
  }
  for (int64_t k = 0; k < inputs; ++k) {
    uint8_t* group = coded + k / kCodedGroup * kCodedGroupBytes;
    const int64_t pair = k % kCodedGroup / 2, second = k % 2;
    uint8_t* lower = group + pair * 64 + second * 8;
    uint8_t* upper = group + 128 + second * 8;
    for (int64_t output = 0; output < kPanel; ++output) {
      const int64_t j = output % kHalfPanel, at = j / 4 * 16 + j % 4 * 2 + output / kHalfPanel;
      const uint16_t weight = weights[output * inputs + k];
      uint8_t found = codes[weight >> 8];
      lower[at] = static_cast<uint8_t>(weight);
      if (found == kStray) [[unlikely]] {
        strays.push_back({static_cast<int32_t>(k), static_cast<int16_t>(output), weight});
        found = zero;
        lower[at] = 0;
      }
      upper[at] = static_cast<uint8_t>(pair == 0 ? found : upper[at] | found << 4);
    }
  }
}

}  // namespace fullband
