#include "engine/compute/cpu/kernels.h"

#include <mutex>

#include "common/error.h"
#include "common/names.h"

// Vector units without fused multiply-add, or whose vectors have no size known at compile time, are left out.
// Highway's portable code remains as the last resort.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/compute/cpu/kernels.cc"
#include "hwy/foreach_target.h"  // must come before the kernels
// clang-format off
#include "engine/compute/cpu/attention-inl.h"
#include "engine/compute/cpu/elementwise-inl.h"
#include "engine/compute/cpu/matmul-inl.h"
#include "engine/compute/cpu/pack-inl.h"
#include "engine/compute/cpu/probes-inl.h"
#include "engine/compute/cpu/weight_units-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace fullband {
namespace HWY_NAMESPACE {

const Kernels* Table() {
  static const Kernels kernels = {
      .target = hwy::TargetName(HWY_TARGET),
      .pack_items = PackItems,
      .pack = Pack,
      .multiply = Multiply,
      .attend = Attend,
      .attend_block = AttendBlock,
      .join_blocks = JoinBlocks,
      .rms_norm = RmsNorm,
      .norm_scale = NormScale,
      .rotate = Rotate,
      .sigmoid = SigmoidRow,
      .log_sum_exp = LogSumExp,
      .exp = ExpRow,
      .read_probe = ReadProbe,
      .triad_probe = TriadProbe,
      .multiply_add_probe = MultiplyAddProbe,
  };
  return &kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace fullband
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullband {

HWY_EXPORT(Table);

namespace {

// Highway's choice is global: it is made under a lock, read once, and undone.
const Kernels& KernelsOf(int64_t target) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  hwy::GetChosenTarget().Update(target);
  const Kernels* kernels = HWY_DYNAMIC_DISPATCH(Table)();
  hwy::GetChosenTarget().DeInit();
  return *kernels;
}

}  // namespace

std::vector<std::string> KernelTargets() {
  std::vector<std::string> names;
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) names.push_back(hwy::TargetName(target));
  return names;
}

const Kernels& KernelsFor(const std::string& target) {
  for (int64_t supported : hwy::SupportedAndGeneratedTargets()) {
    if (target.empty() || target == hwy::TargetName(supported)) return KernelsOf(supported);
  }
  throw UsageError("--target " + target, "this machine has no such target",
                   DidYouMean(target, KernelTargets()));
}

}  // namespace fullband
#endif  // HWY_ONCE
