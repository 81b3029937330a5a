#include "engine/compute/backend.h"

#include "common/error.h"
#include "common/names.h"

namespace fullband {

const char* KvDtypeName(KvDtype dtype) { return dtype == KvDtype::kBF16 ? "bf16" : "f32"; }

KvDtype KvDtypeNamed(const std::string& name) {
  for (KvDtype dtype : {KvDtype::kF32, KvDtype::kBF16})
    if (name == KvDtypeName(dtype)) return dtype;
  throw UsageError("--kv-dtype " + name, "there is no such kind of number",
                   DidYouMean(name, {"f32", "bf16"}));
}

}  // namespace fullband
