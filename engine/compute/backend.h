// What a compute backend provides: it owns what is big (weights, key/value pages, states) and runs whole
// steps. It decides nothing: which sequence gets which page, slot or row is the scheduler's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/checkpoint/model.h"
#include "engine/compute/step.h"

namespace fullband {

// What keys and values are kept in: bfloat16 takes half the memory and is rounded to nearest even.
enum class KvDtype : uint8_t { kF32, kBF16 };

// "f32" or "bf16". The other way round throws a usage Error where there is no such kind.
const char* KvDtypeName(KvDtype dtype);
KvDtype KvDtypeNamed(const std::string& name);

struct BackendInfo {
  std::string device;    // "cpu"
  std::string target;    // dispatch target, e.g. "AVX2", "AVX3"
  std::string numerics;  // version of the arithmetic: raised whenever results may change
  int page_size = 0;     // positions a page
  KvDtype kv_dtype = KvDtype::kF32;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const BackendInfo& info() const = 0;
  virtual const ModelConfig& config() const = 0;

  // Makes room for pages 0 .. page_count - 1 and state slots 0 .. state_count - 1; keeps what they hold.
  // Throws Error where memory does not suffice.
  virtual void Reserve(int page_count, int state_count) = 0;

  // Bytes that one page and one state slot take, to plan memory with.
  virtual int64_t page_bytes() const = 0;
  virtual int64_t state_bytes() const = 0;

  // Runs a step. A row's result depends on its own sequence alone, bit for bit: not on the other rows of the
  // step, on how positions are cut into spans and steps, or on the number of threads.
  virtual void Run(const Step& step, StepResult* result) = 0;

  // The top-layer state [D] kept in a slot: for tests and diagnostics.
  virtual std::vector<float> ReadState(int slot) const = 0;
};

// How large steps get, to plan memory with.
struct StepBounds {
  int64_t rows = 0, fused_rows = 0, queries = 0;
  int64_t positions = 0;     // of the longest sequence
  int64_t fused_tokens = 0;  // different tokens of fused rows, over all steps
};

// Bytes that a backend will take.
struct BackendMemory {
  int64_t mapped = 0;     // the checkpoint's files, until it is made
  int64_t loading = 0;    // at most, while it is made: its own weights so far and the files' mapped ones
  int64_t weights = 0;    // in its own order; of the files' little is left in memory then
  int64_t page = 0;       // each, as Backend::page_bytes
  int64_t state = 0;      // each, as Backend::state_bytes
  int64_t workspace = 0;  // what steps are computed with
};

class CpuProfile;

struct CpuOptions {
  int threads = 0;     // 0: as many as the process may use
  std::string target;  // a Highway target to pin, e.g. "AVX2"; empty: the best this machine has
  KvDtype kv_dtype = KvDtype::kF32;
  CpuProfile* profile = nullptr;  // counts where steps' time goes (cpu/profile.h); outlives the backend
};

// Throws Error where the named target does not exist here.
std::unique_ptr<Backend> MakeCpuBackend(std::shared_ptr<const Model> model, const CpuOptions& options);

// What MakeCpuBackend's backend takes after steps of such sizes; nothing is packed or loaded for that.
BackendMemory PlanCpuMemory(const Model& model, const CpuOptions& options, const StepBounds& largest);
// Positions of its pages.
int CpuPageSize();

// Names that CpuOptions::target may take on this machine, best first.
std::vector<std::string> CpuTargets();

}  // namespace fullband
