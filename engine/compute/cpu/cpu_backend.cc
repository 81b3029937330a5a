#include "engine/compute/cpu/cpu_backend.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "engine/compute/check_step.h"
#include "engine/compute/cpu/cpu_info.h"
#include "engine/compute/cpu/team.h"
#include "engine/compute/sampling.h"

namespace fullband {
namespace {

// Raised whenever a change to the arithmetic may change a bit of any result.
constexpr const char* kNumerics = "cpu-3";

// Gates that are kept may take this much.
constexpr int64_t kGateBytes = int64_t{64} << 20;

// Queries whose logits are held at once.
constexpr int64_t kQueryBlock = 48;

// Panels of coded weights that are widened for many rows, which read them from the second-level cache.
constexpr size_t kWidenedBytes = 512 << 10;

int CountThreads(int wanted) {
  if (wanted < 0) throw UsageError("--threads", fmt::format("{} is negative", wanted));
  return wanted > 0 ? wanted : omp_get_max_threads();
}

}  // namespace

BackendInfo CpuInfo(const CpuOptions& options) {
  return {.device = "cpu",
          .target = KernelsFor(options.target).target,
          .numerics = kNumerics,
          .page_size = CpuPageSize(),
          .kv_dtype = options.kv_dtype};
}

CpuBackend::CpuBackend(std::shared_ptr<const Model> model, const CpuOptions& options)
    : model_(std::move(model)),
      config_(model_->config),
      kernels_(KernelsFor(options.target)),
      info_(CpuInfo(options)),
      team_(CountThreads(options.threads)),
      profile_(options.profile),
      width_(Padded(config_.hidden_size)),
      weights_(PackWeights(*model_, team_.threads())),
      rope_(config_.rope, config_.head_dim),
      pages_(config_, options.kv_dtype),
      attention_(config_, kernels_, team_.threads()),
      gates_(config_.vocab_size, width_, weights_.token_gate.panels > 0 ? kGateBytes : 0) {}

void CpuBackend::Reserve(int page_count, int state_count) {
  pages_.Reserve(page_count);
  const int64_t more = state_count - static_cast<int64_t>(states_.size());
  if (more <= 0) return;
  const auto add_rows = [&](auto take) {
    AlignedBuffer<float> block(more * width_);
    for (int64_t i = 0; i < more; ++i) take(block.data() + i * width_);
    state_blocks_.push_back(std::move(block));
  };
  if (weights_.state_proj.panels > 0) add_rows([&](float* row) { feedback_.push_back({.product = row}); });
  add_rows([&](float* row) { states_.push_back(row); });
}

std::vector<float> CpuBackend::ReadState(int slot) const {
  if (slot < 0 || slot >= static_cast<int>(states_.size())) {
    throw Error(fmt::format("state slot {}", slot), "it does not exist", "this is a fault of the program");
  }
  return std::vector<float>(states_[slot], states_[slot] + config_.hidden_size);
}

void CpuBackend::Run(const Step& step, StepResult* result) {
  if (profile_ != nullptr) profile_->BeginStep();
  CheckStep(step, config_, {pages_.count(), kPageSize, static_cast<int>(states_.size())});
  Prepare(step);
  const int64_t rows = step.rows.size();
  if (rows > 0 || !step.copies.empty()) {
    team_.Run([&] {
      ShareItems(step.copies.size(), [&](int64_t i) { pages_.Copy(step.copies[i]); });
      if (rows > 0) RunStack(step);
    });
  }
  result->state_rms.assign(work_.rms.begin(), work_.rms.begin() + rows);
  KeepGates();
  KeepStates(step);
  Answer(step, result);
  if (profile_ != nullptr) profile_->EndStep();
}

// ------------------------------------------------------------------------------------------------
// preparation

void CpuBackend::Prepare(const Step& step) {
  const int64_t rows = step.rows.size();
  work_.Resize(config_, team_.threads(),
               {.rows = rows, .queries = static_cast<int64_t>(step.queries.size())});
  work_.rms.resize(rows);
  PlaceRows(step);
  attention_.Prepare(
      step.spans, pages_, [this](int32_t row) { return work_.qkv.row(row); },
      [this](int32_t row) { return work_.mixed.row(row); });
  PlanFeedback(step);
}

// The buffers' padding is the packed weights': each part's outputs are padded by themselves.
void CpuBackend::Workspace::Resize(const ModelConfig& config, int threads, const StepBounds& step) {
  const int64_t width = Padded(config.hidden_size);
  const int64_t heads_width = int64_t{config.heads} * config.head_dim;
  const int64_t kv_width = int64_t{config.kv_heads} * config.head_dim;
  const int64_t asked = std::min(step.queries, kQueryBlock);
  x.Resize(step.rows, width);
  normed.Resize(step.rows, width);
  qkv.Resize(step.rows, Padded(heads_width) + 2 * Padded(kv_width));
  mixed.Resize(step.rows, Padded(heads_width));
  gate_up.Resize(step.rows, 2 * Padded(config.intermediate_size));
  for (Rows* r : {&states, &state_products, &tokens, &gates}) r->Resize(step.fused_rows, width);
  query_states.Resize(asked, width);
  query_products.Resize(asked, width);
  logits.Resize(asked, Padded(config.vocab_size));
  maxima.Resize(asked, (config.vocab_size + kLogitBlock - 1) / kLogitBlock);
  scratch.Resize(threads, ValueStride(config.head_dim));
  const int64_t widest =
      std::max({int64_t{config.hidden_size}, heads_width, int64_t{config.intermediate_size}});
  packed.Grow(std::max(step.rows, asked) * widest);
  own.Resize(threads, Padded(widest));
  widened.Resize(threads, widest * kPanel * sizeof(float) <= kWidenedBytes ? widest * kPanel : 0);
  scales.Grow(step.rows);
}

int64_t CpuBackend::Workspace::bytes() const {
  int64_t bytes = (packed.size() + scales.size()) * static_cast<int64_t>(sizeof(float));
  for (const Rows* r : {&x, &normed, &qkv, &mixed, &gate_up, &states, &state_products, &tokens, &gates,
                        &query_states, &query_products, &logits, &maxima, &scratch, &own, &widened})
    bytes += r->bytes();
  return bytes;
}

int64_t CpuBackend::WorkspaceBytes(const ModelConfig& config, const CpuOptions& options,
                                   const StepBounds& largest) {
  Workspace work;  // large buffers take no memory before they are used
  const int threads = CountThreads(options.threads);
  work.Resize(config, threads, largest);
  int64_t bytes = work.bytes() + RopeTable::Bytes(config.head_dim, largest.positions) +
                  StepAttention::Bytes(config, threads);
  if (config.fusion == Fusion::kGlu)
    bytes += GateCache::Bytes(Padded(config.hidden_size), kGateBytes, largest.fused_tokens);
  return bytes;
}

void CpuBackend::PlaceRows(const Step& step) {
  work_.places.clear();
  int end = 0;
  for (const Span& span : step.spans) {
    for (int i = 0; i < span.row_count; ++i) {
      const int position = span.position + i;
      work_.places.push_back({position, pages_.page(span.pages[position / kPageSize])});
    }
    end = std::max(end, span.position + span.row_count);
  }
  rope_.Cover(end);
}

// ------------------------------------------------------------------------------------------------ the stack
// f

void CpuBackend::RunStack(const Step& step) {
  const int64_t rows = step.rows.size();
  MakeInputs(step);
  for (int layer = 0; layer < config_.layers; ++layer) RunLayer(layer, rows);
  Mark(CpuPart::kFinalNorm);
  FinalNorm(rows);
  Mark(CpuPart::kOther);
}

void CpuBackend::RunLayer(int layer, int64_t rows) {
  const CpuLayer& w = weights_.layers[layer];
  Mark(CpuPart::kQueryKeyValue);
  MultiplyNormed(w.input_norm, w.query_key_value, rows, work_.qkv);
  Mark(CpuPart::kRotate);
  RotateAndStore(layer, rows);
  Mark(CpuPart::kAttention);
  attention_.Run(layer, pages_);
  Mark(CpuPart::kOutput);
  Multiply(w.output, work_.mixed, rows, work_.x, /*add=*/true);

  Mark(CpuPart::kGateUp);
  MultiplyNormed(w.post_attention_norm, w.gate_up, rows, work_.gate_up);
  Mark(CpuPart::kGates);
  const float* gated = Pack({.x = work_.gate_up.row(0),
                             .stride = work_.gate_up.stride(),
                             .rows = rows,
                             .inputs = w.down.inputs,
                             .up = work_.gate_up.row(0) + w.gate_up.offsets[1]});
  Mark(CpuPart::kDown);
  MultiplyPacked(w.down, gated, rows, work_.x, /*add=*/true);
}

void CpuBackend::FinalNorm(int64_t rows) {
  const float eps = static_cast<float>(config_.rms_norm_eps);
  ShareItems(rows, [&](int64_t i) {
    work_.rms[i] = kernels_.rms_norm(work_.x.row(i), weights_.final_norm.data(), config_.hidden_size, eps,
                                     work_.normed.row(i));
  });
}

// One head's q/k norm, through scratch memory that is padded as the kernel wants it.
void CpuBackend::NormHead(const AlignedBuffer<float>& weight, float* head) const {
  float* padded = work_.scratch.row(Team::Here().thread);
  std::fill_n(padded, ValueStride(config_.head_dim), 0.0f);
  std::copy_n(head, config_.head_dim, padded);
  kernels_.rms_norm(padded, weight.data(), config_.head_dim, static_cast<float>(config_.rms_norm_eps),
                    padded);
  std::copy_n(padded, config_.head_dim, head);
}

// Norms and rotates queries and keys, and writes keys and values to the pages. Attention begins only when all
// rows have done so: rows of a span see each other there.
void CpuBackend::RotateAndStore(int layer, int64_t rows) {
  const CpuLayer& w = weights_.layers[layer];
  const float scale = 1.0f / std::sqrt(static_cast<float>(config_.head_dim));
  const int64_t half = config_.head_dim / 2;
  ShareItems(rows, [&](int64_t i) {
    const Place& place = work_.places[i];
    const float *cosines = rope_.cosines(place.position), *sines = rope_.sines(place.position);
    float* query = work_.qkv.row(i);
    for (int h = 0; h < config_.heads; ++h, query += config_.head_dim) {
      if (config_.qk_norm) NormHead(w.query_norm, query);
      kernels_.rotate(cosines, sines, half, scale, query);
    }
    float* key = work_.qkv.row(i) + w.query_key_value.offsets[1];
    const float* value = work_.qkv.row(i) + w.query_key_value.offsets[2];
    for (int h = 0; h < config_.kv_heads; ++h, key += config_.head_dim, value += config_.head_dim) {
      if (config_.qk_norm) NormHead(w.key_norm, key);
      kernels_.rotate(cosines, sines, half, 1.0f, key);
      pages_.Write(place.page, layer, h, place.position % kPageSize, key, value);
    }
  });
}

// A product's input as the kernels want it. Every thread makes that of a single row for itself, which takes
// less time than waiting for another.
const float* CpuBackend::Pack(const ProductInput& input) {
  const int64_t items = kernels_.pack_items(input.rows, input.inputs);
  if (input.rows == 1) {
    float* own = work_.own.row(Team::Here().thread);
    kernels_.pack(input, 0, items, own);
    return own;
  }
  float* packed = work_.packed.data();
  ShareRanges(items, [&](int64_t begin, int64_t end) { kernels_.pack(input, begin, end, packed); });
  return packed;
}

void CpuBackend::MultiplyPacked(const PackedMatrix& weights, const float* x, int64_t rows, const Rows& out,
                                bool add) {
  const Product product = {
      .weights = &weights,
      .x = x,
      .rows = rows,
      .out = out.row(0),
      .stride = out.stride(),
      .add = add,
      .widened = work_.widened.width() > 0 ? work_.widened.row(Team::Here().thread) : nullptr};
  ShareRanges(weights.panels, [&](int64_t begin, int64_t end) { kernels_.multiply(product, begin, end); });
}

void CpuBackend::Multiply(const PackedMatrix& weights, const Rows& in, int64_t rows, const Rows& out,
                          bool add) {
  const float* x = Pack({.x = in.row(0), .stride = in.stride(), .rows = rows, .inputs = weights.inputs});
  MultiplyPacked(weights, x, rows, out, add);
}

// The product of x's RMSNorm, which is made while x is packed.
void CpuBackend::MultiplyNormed(const AlignedBuffer<float>& norm, const PackedMatrix& weights, int64_t rows,
                                const Rows& out) {
  const float eps = static_cast<float>(config_.rms_norm_eps);
  float own_scale;  // as in Pack
  float* scales = rows == 1 ? &own_scale : work_.scales.data();
  const auto scale = [&](int64_t i) {
    scales[i] = kernels_.norm_scale(work_.x.row(i), config_.hidden_size, eps);
  };
  if (rows == 1) {
    scale(0);
  } else {
    ShareItems(rows, scale);
  }
  const float* x = Pack({.x = work_.x.row(0),
                         .stride = work_.x.stride(),
                         .rows = rows,
                         .inputs = weights.inputs,
                         .scales = scales,
                         .weight = norm.data()});
  MultiplyPacked(weights, x, rows, out);
}

// ------------------------------------------------------------------------------------------------ results

void CpuBackend::KeepStates(const Step& step) {
  for (int64_t i = 0; i < std::ssize(step.rows); ++i) {
    const int32_t slot = step.rows[i].keep_state;
    if (slot == kNoSlot) continue;
    std::copy_n(work_.normed.row(i), config_.hidden_size, states_[slot]);
    if (!feedback_.empty()) feedback_[slot].known = false, feedback_[slot].keeper = i;
  }
}

// The top-layer state [D] that a query is about.
const float* CpuBackend::AskedState(const Query& query) const {
  return query.state == kNoSlot ? work_.normed.row(query.row) : states_[query.state];
}

void CpuBackend::Answer(const Step& step, StepResult* result) {
  const int64_t queries = step.queries.size();
  result->queries.resize(queries);
  for (int64_t first = 0; first < queries; first += kQueryBlock) {
    const int64_t count = std::min(kQueryBlock, queries - first);
    team_.Run([&] {
      Mark(CpuPart::kHead);
      ShareItems(count, [&](int64_t i) {
        std::copy_n(AskedState(step.queries[first + i]), width_, work_.query_states.row(i));
      });
      const float* packed = Pack(
          {.x = work_.query_states.row(0), .stride = width_, .rows = count, .inputs = config_.hidden_size});
      MultiplyPacked(weights_.head, packed, count, work_.logits);
      Mark(CpuPart::kFusion);
      ProjectStates(step, first, count, packed);
      Mark(CpuPart::kAnswer);
      ShareItems(count, [&](int64_t i) {
        const std::span<const float> logits(work_.logits.row(i), config_.vocab_size);
        const std::span<float> maxima(work_.maxima.row(i), work_.maxima.width());
        const double log_sum = kernels_.log_sum_exp(logits.data(), logits.size(), maxima.data());
        result->queries[first + i] = AnswerQuery(step.queries[first + i], logits, log_sum, maxima);
      });
    });
    KeepProducts(step, first, count);
  }
}

std::unique_ptr<Backend> MakeCpuBackend(std::shared_ptr<const Model> model, const CpuOptions& options) {
  return std::make_unique<CpuBackend>(std::move(model), options);
}

BackendMemory PlanCpuMemory(const Model& model, const CpuOptions& options, const StepBounds& largest) {
  const PackingBytes packing = BytesOfPacking(model.weights, CountThreads(options.threads));
  const int64_t row = Padded(model.config.hidden_size) * static_cast<int64_t>(sizeof(float));
  return {.mapped = packing.stored,
          .loading = packing.peak,
          .weights = packing.packed(),
          .page = Pages(model.config, options.kv_dtype).page_bytes(),
          .state = (model.weights.state_proj ? 2 : 1) * row,  // with its W^U h
          .workspace = CpuBackend::WorkspaceBytes(model.config, options, largest)};
}

int CpuPageSize() { return kPageSize; }

std::vector<std::string> CpuTargets() { return KernelTargets(); }

}  // namespace fullband
