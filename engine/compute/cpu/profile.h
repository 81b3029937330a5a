// Where a step's time goes, part by part, as the first thread sees it: all threads meet at the end of each
// part, so that its times add up to the step's. Time at those meetings belongs to the part that they end.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

#include "engine/compute/cpu/team.h"

namespace fullband {

enum class CpuPart {
  kOther,   // checks, room, copies of pages; kept states; whatever else is between the other parts
  kInputs,  // embeddings, fused or not
  kFusion,  // products and gates of the feedback, beside the head, too
  kFinalNorm,
  kQueryKeyValue,  // with the norm and the packing of its input, as kGateUp
  kRotate,         // rotation, and writing keys and values
  kAttention,
  kOutput,
  kGateUp,
  kGates,  // with the packing of what comes of them
  kDown,
  kHead,
  kAnswer,  // log-sum-exp, best tokens, sampling
};
inline constexpr size_t kCpuParts = static_cast<size_t>(CpuPart::kAnswer) + 1;

inline const char* CpuPartName(CpuPart part) {
  constexpr const char* kNames[kCpuParts] = {
      "other",   "inputs", "fusion", "final norm", "query/key/value", "rotate, write", "attention", "output",
      "gate/up", "gates",  "down",   "head",       "answer"};
  return kNames[static_cast<size_t>(part)];
}

// Not for several backends at once.
class CpuProfile {
 public:
  // Counts from nothing while on.
  void Start() { seconds_ = {}, on_ = true; }
  void Stop() { on_ = false; }
  double seconds(CpuPart part) const { return seconds_[static_cast<size_t>(part)]; }

  // What the backend calls: at a step's beginning and end, and where a part begins.
  void BeginStep() {
    part_ = CpuPart::kOther;
    since_ = Clock::now();
  }
  void EndStep() { Mark(CpuPart::kOther); }
  void Mark(CpuPart part) {
    if (!on_ || Team::Here().thread != 0) return;
    const Clock::time_point now = Clock::now();
    seconds_[static_cast<size_t>(part_)] += std::chrono::duration<double>(now - since_).count();
    part_ = part;
    since_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool on_ = false;
  CpuPart part_ = CpuPart::kOther;
  Clock::time_point since_;
  std::array<double, kCpuParts> seconds_ = {};
};

}  // namespace fullband
